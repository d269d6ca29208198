//! Standard terms that readers search for, and the files that must answer: each has the term in its name or in its header.

use std::path::Path;

use anyhow::Result;
use fs_err as fs;

/// A term, and where its subject is implemented.
const TERMS: &[(&str, &[&str])] = &[
    (
        "resume",
        &[
            "crates/engine/src/session/open.rs",
            "crates/sdk/src/session/builder.rs",
            "crates/store/src/open.rs",
        ],
    ),
    ("timeout", &["crates/http/src/client.rs", "crates/rpc/src/peer.rs", "crates/wire/src/method.rs"]),
    ("deny", &["crates/permission/src/decide.rs", "crates/permission/src/rules.rs"]),
    ("archive", &["crates/cli/src/commands/sessions/change.rs", "crates/store/src/settings_file.rs"]),
    ("compaction", &["crates/acp/src/convert/compaction.rs", "crates/engine/src/session/compact.rs"]),
    ("autonomy", &["crates/cli/src/args/level.rs", "crates/permission/src/policy.rs"]),
    ("retry", &["crates/model/src/retry.rs", "crates/model/src/retry_after.rs"]),
    (
        "back-pressure",
        &["crates/rpc/src/queue.rs", "crates/rpc/src/peer/inbox.rs", "crates/sdk/src/turn/queue.rs"],
    ),
    ("notification", &["crates/server/src/convert/to_wire/notification.rs", "crates/wire/src/notify/mod.rs"]),
];

/// Returns one line for each file that a search for its term would not find.
pub(crate) fn problems() -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (term, files) in TERMS {
        for file in *files {
            if !is_found(term, Path::new(file), &fs::read_to_string(file)?) {
                found.push(format!("{file}: a search for `{term}` must lead here: write it in the header"));
            }
        }
    }
    Ok(found)
}

fn is_found(term: &str, file: &Path, text: &str) -> bool {
    let is_in_name = file.file_stem().is_some_and(|name| *name == *term);
    let mut header = text.lines().take_while(|line| line.starts_with("//!"));
    is_in_name || header.any(|line| line.to_lowercase().contains(term))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn term_is_found_in_name_and_header_only() {
        assert!(is_found("retry", Path::new("src/retry.rs"), "//! When to send again."));
        assert!(is_found("deny", Path::new("a.rs"), "//! One.\n//!\n//! Deny lists.\n\nuse x;"));
        assert!(!is_found("deny", Path::new("a.rs"), "//! One.\n\n// deny lists"));
    }
}
