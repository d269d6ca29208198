//! Shell patterns: which files may they stand for? Matches generously: a set of characters stands for any character.

use std::path::{Path, PathBuf};

/// The maximum number of directory entries that one expansion looks at.
const MAX_ENTRIES: usize = 20_000;

/// Returns every file that a pattern may stand for in a directory; `None` if there are too many.
pub(crate) fn expand(folder: &Path, pattern: &str) -> Option<Vec<PathBuf>> {
    let start = if pattern.starts_with('/') { PathBuf::from("/") } else { folder.to_owned() };
    let mut found = vec![start];
    let mut left = MAX_ENTRIES;
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        if !part.contains(['*', '?', '[']) {
            for path in &mut found {
                path.push(part);
            }
            continue;
        }
        let mut next = Vec::new();
        for folder in &found {
            // what cannot be listed has no matches
            let Ok(entries) = fs_err::read_dir(folder) else { continue };
            for entry in entries.flatten() {
                left = left.checked_sub(1)?;
                let name = entry.file_name();
                if matches(part, &name.to_string_lossy()) {
                    next.push(folder.join(name));
                }
            }
            if matches(part, "..") {
                next.push(folder.join(".."));
            }
        }
        found = next;
    }
    found.retain(|path| path.symlink_metadata().is_ok());
    Some(found)
}

/// Returns whether a pattern may match a name. A leading dot must be matched by a dot.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    (!name.starts_with('.') || pattern.starts_with('.')) && matches_any(pattern, name)
}

/// Returns the same for programs that treat a leading dot as any other character.
pub(crate) fn matches_any(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pieces(pattern);
    let name: Vec<char> = name.chars().collect();
    // `reached[n]`: the pattern so far matches the first n characters
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for piece in pattern {
        if piece == '*' {
            for at in 1..reached.len() {
                reached[at] |= reached[at - 1];
            }
            continue;
        }
        for at in (1..reached.len()).rev() {
            reached[at] = reached[at - 1] && (piece == '?' || piece == name[at - 1]);
        }
        reached[0] = false;
    }
    reached.last().copied().unwrap_or(false)
}

/// Returns whether a pattern prescribes no letter of the name: it stands for all files, or for all hidden ones.
pub(crate) fn matches_without_letters(pattern: &str) -> bool {
    pieces(pattern).iter().all(|piece| matches!(piece, '*' | '?' | '.'))
}

/// Returns the pattern with `?` for every set of characters, and `*` for what may or may not be one.
fn pieces(pattern: &str) -> Vec<char> {
    let characters: Vec<char> = pattern.chars().collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        at += 1;
        if character != '[' {
            pieces.push(character);
            continue;
        }
        // the first character of a set never closes it
        match characters.iter().skip(at + 1).position(|&end| end == ']') {
            Some(length) if !characters[at..at + 1 + length].contains(&'[') => {
                pieces.push('?');
                at += length + 2;
            }
            _ => {
                pieces.push('*');
                break;
            }
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_at_least_what_the_shell_matches() {
        for (pattern, name) in [
            ("*", "a"),
            (".e*", ".env"),
            ("?b[c-e]", "abd"),
            ("*.p[e]m", "k.pem"),
            ("[!a]", "b"),
            ("[a", "[a"),
            (".[a-z]*", ".env"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("*", ".env"), ("[.]env", ".env"), ("a*", "ba"), ("??", "a"), ("*.rs", "a.txt")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn expansion_finds_files_in_nested_directories() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(folder.path().join("a/b")).unwrap();
        fs_err::write(folder.path().join("a/b/.env"), "").unwrap();
        fs_err::write(folder.path().join("a/b/c"), "").unwrap();
        let found = |pattern: &str| expand(folder.path(), pattern).unwrap().len();
        assert_eq!((found("*/*/.e*"), found("*/*/*"), found("a/?/.env"), found("x*")), (1, 1, 1, 0));
    }
}
