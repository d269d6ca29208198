//! The name of a tool for the model: `<server>___<tool>`, in the characters and the length that all vendors accept.

use std::collections::HashSet;
use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The maximum length that every vendor accepts.
const MAX_NAME: usize = 64;
/// The digits of the hash that keeps changed names unique.
const HASH_DIGITS: usize = 8;

/// Returns a name that is not in `taken`, and inserts it.
pub(super) fn model_name(server: &str, tool: &str, taken: &mut HashSet<String>) -> String {
    let raw = format!("{server}___{tool}");
    let is_plain = raw.len() <= MAX_NAME && raw.chars().all(is_taken_by_vendors);
    let name = if is_plain && !taken.contains(&raw) { raw } else { hashed(&raw, server) };
    taken.insert(name.clone());
    name
}

/// Returns whether a name for the model may be that of a tool of a server, without knowing its tools.
pub(super) fn may_be_of(name: &str, server: &str) -> bool {
    let mut start = plain(&format!("{server}___"));
    start.truncate(MAX_NAME - HASH_DIGITS - 1);
    name.len() > start.len() && name.starts_with(&start)
}

/// Replaces what vendors do not accept.
fn plain(raw: &str) -> String {
    raw.chars().map(|c| if is_taken_by_vendors(c) { c } else { '_' }).collect()
}

fn hashed(raw: &str, server: &str) -> String {
    let mut hasher = Sha256::new();
    // the boundary between server and tool is part of the identity
    hasher.update((server.len() as u64).to_le_bytes());
    hasher.update(raw);
    let mut name = plain(raw);
    name.truncate(MAX_NAME - HASH_DIGITS - 1);
    name.push('_');
    for byte in hasher.finalize().iter().take(HASH_DIGITS / 2) {
        // writing to a string cannot fail
        write!(name, "{byte:02x}").ok();
    }
    name
}

fn is_taken_by_vendors(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_names_are_unchanged_and_others_are_unique() {
        let mut taken = HashSet::new();
        assert_eq!(model_name("git", "log-all", &mut taken), "git___log-all");
        let dotted = model_name("my server", "fs.read", &mut taken);
        assert!(dotted.starts_with("my_server___fs_read_"), "{dotted}");
        assert_ne!(dotted, model_name("my server", "fs/read", &mut taken));
        let first = model_name("a", "b___c", &mut taken);
        assert_ne!(first, model_name("a___b", "c", &mut taken));
    }

    proptest! {
        #[test]
        fn every_name_is_fit_for_every_vendor(server in ".{0,80}", tool in ".{0,80}") {
            let name = model_name(&server, &tool, &mut HashSet::new());
            prop_assert!(name.len() <= MAX_NAME && name.chars().all(is_taken_by_vendors), "{}", name);
        }
    }
}
