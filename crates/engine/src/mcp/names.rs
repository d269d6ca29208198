//! The name the model knows a tool by: `<server>___<tool>`, in the few characters and the length that all vendors take.

use std::collections::HashSet;
use std::fmt::Write;

use sha2::{Digest, Sha256};

/// What every vendor takes.
const LONGEST: usize = 64;
/// Digits of the hash that keeps changed names apart.
const DIGITS: usize = 8;

/// A name that is not in `taken`, and is from now on.
pub(super) fn model_name(server: &str, tool: &str, taken: &mut HashSet<String>) -> String {
    let raw = format!("{server}___{tool}");
    let is_plain = raw.len() <= LONGEST && raw.chars().all(is_taken_by_vendors);
    let name = if is_plain && !taken.contains(&raw) { raw } else { hashed(&raw, server) };
    taken.insert(name.clone());
    name
}

fn hashed(raw: &str, server: &str) -> String {
    let mut hasher = Sha256::new();
    // where the server's name ends makes a difference
    hasher.update((server.len() as u64).to_le_bytes());
    hasher.update(raw);
    let mut name: String = raw.chars().map(|c| if is_taken_by_vendors(c) { c } else { '_' }).collect();
    name.truncate(LONGEST - DIGITS - 1);
    name.push('_');
    for byte in hasher.finalize().iter().take(DIGITS / 2) {
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
    fn plain_names_stay_as_they_are_and_others_are_told_apart() {
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
            prop_assert!(name.len() <= LONGEST && name.chars().all(is_taken_by_vendors), "{}", name);
        }
    }
}
