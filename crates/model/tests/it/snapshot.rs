//! Compares a text with a file. After an intended change, run the tests with `UPDATE_SNAPSHOTS=1` and review the diff.

use std::path::Path;

pub(crate) fn assert_snapshot(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        #[expect(clippy::disallowed_methods, reason = "a test writes its own expectation")]
        std::fs::write(&path, actual).unwrap();
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "a test reads its own expectation")]
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(actual, expected, "{} differs", path.display());
}
