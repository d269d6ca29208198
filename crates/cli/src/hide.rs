//! Hides keys from the programs that the agent runs: they run as the same user, and could read this process in `/proc`.
//!
//! The engine copies the environment before. Programs that need a key, such as another agent, get it from that copy or are started by
//! commands that do not call this.

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

/// Overwrites the values of variables that look like keys, where `/proc/PID/environ` shows them also to root.
///
/// Call it once the environment is copied, and before other threads start.
#[cfg(target_os = "linux")]
pub(crate) fn erase_keys() {
    use std::ffi::{CStr, c_char};

    #[expect(unsafe_code, reason = "the standard library does not give access to it")]
    unsafe extern "C" {
        static environ: *const *mut c_char;
    }
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
                && looks_like_key(&bytes[..at])
            {
                bytes[at + 1..].fill(b'*');
            }
            entry = entry.add(1);
        }
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn erase_keys() {}

#[cfg(target_os = "linux")]
fn looks_like_key(name: &[u8]) -> bool {
    const WORDS: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "DATABASE_URL"];
    let name = String::from_utf8_lossy(name).to_ascii_uppercase();
    WORDS.iter().any(|word| name.contains(word))
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
}
