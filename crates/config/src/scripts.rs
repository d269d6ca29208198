//! The files that commands of settings run: scripts of hooks and of MCP servers.
//!
//! Trust in a repository's settings covers them, and writing them always needs permission: a changed script of a hook runs without asking.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Variables that name the root of the repository in commands of hooks.
const ROOT_VARIABLES: [&str; 3] = ["FACTORY_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "MUSHER_PROJECT_DIR"];
/// The maximum number of words that are looked up.
const MAX_WORDS: usize = 1000;

/// Returns the existing files that the commands in a value name, by their real paths, sorted.
///
/// A word of a command counts as a file if there is one with this name, at the root or in one of the other directories.
pub(super) fn named_in(value: &Value, folders: &[&Path]) -> Vec<PathBuf> {
    let mut texts = Vec::new();
    collect(value, &mut texts);
    let mut found: Vec<PathBuf> = texts
        .iter()
        .flat_map(|text| words(text))
        .take(MAX_WORDS)
        .flat_map(|word| folders.iter().filter_map(move |folder| file(folder, &word)))
        .collect();
    found.sort();
    found.dedup();
    found
}

/// Collects every `command`, and the words of every `args`.
fn collect<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match (key.as_str(), value) {
                    ("command", Value::String(text)) => texts.push(text),
                    ("args", Value::Array(words)) => texts.extend(words.iter().filter_map(Value::as_str)),
                    _ => collect(value, texts),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, texts)),
        _ => {}
    }
}

/// Returns the words of a command that may name files, without quotes and without the variable for the root.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut text = text.replace(['"', '\''], "");
    for variable in ROOT_VARIABLES {
        text = text.replace(&format!("${{{variable}}}"), ".").replace(&format!("${variable}"), ".");
    }
    let ends = |character: char| character.is_whitespace() || ";|&()<>=`".contains(character);
    let words: Vec<String> = text.split(ends).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    words.into_iter()
}

fn file(folder: &Path, word: &str) -> Option<PathBuf> {
    let path = folder.join(word);
    // a program of the system does not belong to the repository, and its updates must not withdraw the trust
    let real = fs_err::canonicalize(&path).ok()?;
    let root = fs_err::canonicalize(folder).ok()?;
    (real.starts_with(root) && real.is_file()).then_some(real)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scripts_are_found_in_commands_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        fs_err::create_dir(root.join("hooks")).unwrap();
        for name in ["hooks/a.sh", "b.py", "c.mjs", "unused.sh"] {
            fs_err::write(root.join(name), "x").unwrap();
        }
        let settings = json!({
            "PreToolUse": [{"hooks": [
                {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/hooks/a.sh --flag"},
                {"type": "command", "command": "cd . && python3 ./b.py|tee /etc/hostname"},
            ]}],
            "mcpServers": {"x": {"command": "node", "args": ["c.mjs", "--port=1"]}},
            "note": "unused.sh",
        });
        let expected: Vec<PathBuf> = ["b.py", "c.mjs", "hooks/a.sh"].map(|name| root.join(name)).into();
        assert_eq!(named_in(&settings, &[&root]), expected);
    }
}
