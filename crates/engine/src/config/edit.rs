//! Changes a JSON file of ours: read, changed, written beside it, and put in its place. What the change does not touch stays.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::file::is_absent;
use super::parse::parse;

/// Changes a file that holds one JSON object, whole or not at all. A file that is not there is made, readable for its owner only.
///
/// A file that cannot be understood is left alone: that is an error, for whatever is in it would be lost. So would comments; a file
/// that has them is left alone, too.
pub fn edit_json(path: &Path, change: impl FnOnce(&mut Map<String, Value>)) -> io::Result<()> {
    try_edit_json(path, |map| {
        change(map);
        Ok(())
    })
}

/// The same for a change that may refuse: then the file stays as it is.
pub(crate) fn try_edit_json(
    path: &Path,
    change: impl FnOnce(&mut Map<String, Value>) -> io::Result<()>,
) -> io::Result<()> {
    let old = match fs_err::read(path) {
        Ok(bytes) => bytes,
        Err(error) if is_absent(&error) => Vec::new(),
        Err(error) => return Err(error),
    };
    let refused = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let mut map = parse(&old).map_err(|problem| refused(format!("`{}`: {problem}", path.display())))?;
    let has_comments = !old.is_empty() && serde_json::from_slice::<Value>(&old).is_err();
    if has_comments && !map.is_empty() {
        return Err(refused(format!("`{}` has comments, which a change would lose", path.display())));
    }
    change(&mut map)?;
    let mut text = serde_json::to_vec_pretty(&map)?;
    text.push(b'\n');
    replace(path, &text)
}

fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    // a link is followed: who keeps the file elsewhere wants it changed there
    let path = &fs_err::canonicalize(path).unwrap_or_else(|_new| path.to_owned());
    let folder = path.parent().ok_or_else(|| io::Error::other("there is no folder for the file"))?;
    if !folder.is_dir() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let temporary = folder.join(format!(".musher-{}.tmp", Uuid::new_v4()));
    let written = (|| {
        let mut options = fs_err::OpenOptions::new();
        options.write(true).create_new(true);
        options.options_mut().mode(0o600);
        let mut file = options.open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        if let Ok(old) = fs_err::metadata(path) {
            fs_err::set_permissions(&temporary, old.permissions())?;
        }
        fs_err::rename(&temporary, path)?;
        fs_err::File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        // it may not have come to exist
        fs_err::remove_file(&temporary).ok();
    }
    written
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_not_changed_stays_and_nothing_is_left_beside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/mcp.json");
        edit_json(&path, |map| {
            map.insert("a".to_owned(), 1.into());
        })
        .unwrap();
        edit_json(&path, |map| {
            map.insert("b".to_owned(), 2.into());
        })
        .unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs_err::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn unknown_keys_survive_a_change_and_a_refused_change_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let text = "{\n  \"comandBlocklist\": [\n    \"curl\"\n  ],\n  \"zz\": {\n    \"y\": null\n  },\n  \"a\": 1\n}\n";
        fs_err::write(&path, text).unwrap();
        edit_json(&path, |map| map["a"] = 2.into()).unwrap();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), text.replace("\"a\": 1", "\"a\": 2"));
        try_edit_json(&path, |map| {
            map.clear();
            Err(io::Error::other("no"))
        })
        .unwrap_err();
        assert_eq!(fs_err::read_to_string(&path).unwrap(), text.replace("\"a\": 1", "\"a\": 2"));
    }

    #[test]
    fn a_file_that_cannot_be_understood_or_has_comments_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        for text in ["{\"a\": ", "[1]", "{\"a\": 1 // mine\n}"] {
            fs_err::write(&path, text).unwrap();
            edit_json(&path, Map::clear).unwrap_err();
            assert_eq!(fs_err::read_to_string(&path).unwrap(), text);
        }
    }
}
