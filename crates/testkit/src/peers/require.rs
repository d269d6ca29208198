//! Handles a peer that is not in the cache: the test fails in CI, and is skipped with a message elsewhere.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write as _};

use anyhow::{Result, bail};

use super::newest::{NEWEST_VARIABLE, remembered};
use super::{Installed, Peer, cache_dir, find};

/// The hint to show when a peer is missing.
pub const MISSING_HINT: &str = "run `cargo xtask peers` once to fetch it";

/// Returns the installed peer, or `None` after a message on standard error.
///
/// In CI (`CI` is set) a missing peer is an error: skipped tests prove nothing. Tests use [`require_peer!`](crate::require_peer), which
/// returns early on `None`.
pub fn require(peer: &Peer) -> Result<Option<Installed>> {
    let cache = cache_dir()?;
    let wants_newest = env::var_os(NEWEST_VARIABLE).is_some_and(|value| !value.is_empty());
    let peer = &if wants_newest { remembered(peer, &cache)? } else { *peer };
    if let Some(installed) = find(peer, &cache) {
        return Ok(Some(installed));
    }
    let missing = format!("{peer} is not in {}: {MISSING_HINT}", cache.display());
    if is_ci(env::var_os("CI")) {
        bail!(missing);
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("this test");
    // written to the real stderr, because the test harness captures the output of passing tests
    io::stderr().write_all(format!("\n*** SKIPPED: {test}: {missing}\n\n").as_bytes())?;
    Ok(None)
}

/// Returns the [`Installed`] peer, or skips the test with a message; for tests that return `anyhow::Result<()>`.
///
/// ```no_run
/// # fn main() -> anyhow::Result<()> {
/// let droid = testkit::require_peer!(testkit::peers::DROID);
/// assert!(droid.entry().exists());
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! require_peer {
    ($peer:expr) => {
        match $crate::peers::require(&$peer)? {
            Some(installed) => installed,
            None => return Ok(()),
        }
    };
}

/// Checks the variable that all common CI services set.
fn is_ci(value: Option<OsString>) -> bool {
    value.is_some_and(|value| !(value.is_empty() || value == "false" || value == "0"))
}

#[cfg(test)]
mod tests {
    use super::is_ci;

    #[test]
    fn ci_is_detected_by_its_variable() {
        for (value, expected) in [("true", true), ("1", true), ("false", false), ("0", false), ("", false)] {
            assert_eq!(is_ci(Some(value.into())), expected, "CI={value}");
        }
        assert!(!is_ci(None));
    }
}
