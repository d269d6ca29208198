//! Hides keys from the programs that the agent runs: they run as the same user, and could read this process in `/proc`.
//!
//! The environment is copied before, and everything of this program that needs a key reads the copy. Programs that need one, such as
//! another agent, are started by commands that do not erase it.

use std::ffi::OsString;
use std::sync::OnceLock;

/// The environment of this process, as it was before [`erase_keys`].
static COPY: OnceLock<Vec<(OsString, OsString)>> = OnceLock::new();

/// Returns the environment that this process was started with.
pub(crate) fn variables() -> &'static [(OsString, OsString)] {
    COPY.get_or_init(|| std::env::vars_os().collect())
}

/// Returns the value of a variable of the environment that this process was started with.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    match COPY.get() {
        Some(copy) => copy.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()),
        None => std::env::var_os(name),
    }
}

/// Keeps other processes of the user from reading the memory and the environment of this one.
#[cfg(target_os = "linux")]
pub(crate) fn protect_memory() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::debug!(%error, "commands may read the memory of this process");
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn protect_memory() {}

/// Overwrites the values of variables that look like credentials, where `/proc/PID/environ` shows them also to root. Those are at least
/// the variables that commands do not get.
///
/// For commands whose agent is the engine of this process: another agent inherits the environment, and needs its keys.
#[cfg(target_os = "linux")]
pub(crate) fn erase_keys() {
    use std::ffi::{CStr, OsStr, c_char};
    use std::os::unix::ffi::OsStrExt as _;

    #[expect(unsafe_code, reason = "the standard library does not give access to it")]
    unsafe extern "C" {
        static environ: *const *mut c_char;
    }
    variables();
    // SAFETY: the list ends with a null pointer, and each entry is a string that ends with a zero byte. Only bytes before that zero are
    // written, so entries stay strings. Nothing else uses the environment now: no other thread runs that reads or writes it.
    #[expect(unsafe_code, reason = "no safe call reaches the memory that the kernel shows")]
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            let text = *entry;
            let length = CStr::from_ptr(text).to_bytes().len();
            let bytes = std::slice::from_raw_parts_mut(text.cast::<u8>(), length);
            if let Some(at) = bytes.iter().position(|byte| *byte == b'=')
                && is_credential(OsStr::from_bytes(&bytes[..at]), OsStr::from_bytes(&bytes[at + 1..]))
            {
                bytes[at + 1..].fill(b'*');
            }
            entry = entry.add(1);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn erase_keys() {}

/// Wider than the list of what commands do not get: also names that only contain such a word, as in `OPENAI_KEY2`.
#[cfg(target_os = "linux")]
fn is_credential(name: &std::ffi::OsStr, value: &std::ffi::OsStr) -> bool {
    const PARTS: [&str; 5] = ["APIKEY", "API_KEY", "TOKEN", "SECRET", "PASSWORD"];
    let upper = name.to_string_lossy().to_ascii_uppercase();
    PARTS.iter().any(|part| upper.contains(part)) || musher_engine::looks_like_credential(name, value)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, dumpable_behavior};

    use super::*;

    #[test]
    fn memory_of_the_engine_is_protected_from_other_processes() {
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::Dumpable);
        protect_memory();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }

    #[test]
    fn all_that_commands_do_not_get_is_erased() {
        for (name, value, expected) in [
            ("ANTHROPIC_API_KEY", "x", true),
            ("NPM_TOKEN", "x", true),
            ("MYAPIKEY2", "x", true),
            ("SENTRY_DSN", "x", true),
            ("GH_PAT", "x", true),
            ("SESSION_JWT", "x", true),
            ("DATABASE_URL", "x", true),
            ("AWS_SECRET_ACCESS_KEY", "x", true),
            ("CACHE_URL", "redis://u:p@h", true),
            ("CACHE_URL", "redis://h", false),
            ("PWD", "/work", false),
            ("PATH", "/bin", false),
            ("SSH_AUTH_SOCK", "/s", false),
        ] {
            assert_eq!(is_credential(name.as_ref(), value.as_ref()), expected, "{name}={value}");
        }
    }
}
