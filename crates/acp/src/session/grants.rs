//! What the user has allowed for good in this session, no more than was shown: commands with a prefix, or files of a folder.
//!
//! The agent still judges every call, and asks; a request that one of these grants covers is answered without the user. A request for which
//! the agent itself offers no "always" is never covered, and neither is a command with a higher impact than the one that was allowed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use musher::wire::{PermissionDetails, ToolConfirmationOutcome as Outcome};
use musher::{PermissionRequest, SimpleCommand};

/// The id of the option that grants.
pub(super) const OPTION: &str = "always_like_this";
/// The maximum number of grants of a session.
const MAX_GRANTS: usize = 256;

/// Something the user may allow for good.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Grant {
    /// Commands that begin with these words, or are exactly these, up to an impact.
    Command { words: Vec<String>, is_exact: bool, impact: u8 },
    /// Changes of files in this folder and below, but not of hidden ones.
    Folder(PathBuf),
}

/// The grants of a session. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Grants(Arc<Mutex<Vec<Grant>>>);

impl Grants {
    /// Returns whether the grants cover everything that is requested.
    pub(super) fn cover(&self, request: &PermissionRequest) -> bool {
        let grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if grants.is_empty() || !request.offers(&Outcome::ProceedAlways) {
            return false;
        }
        if let Some(files) = files(request) {
            return files.iter().all(|file| grants.iter().any(|grant| grant.has_file(file)));
        }
        let Some((commands, impact)) = commands(request) else { return false };
        commands.iter().all(|command| grants.iter().any(|grant| grant.has_command(command, impact)))
    }

    /// Adds a grant.
    pub(super) fn add(&self, grant: Grant) {
        let mut grants = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if grants.len() < MAX_GRANTS && !grants.contains(&grant) {
            grants.push(grant);
        }
    }
}

impl Grant {
    /// Returns the grant to offer for a request about one command or one file.
    pub(super) fn of(request: &PermissionRequest) -> Option<Self> {
        if !request.offers(&Outcome::ProceedAlways) {
            return None;
        }
        if let Some(files) = files(request) {
            let [file] = files.as_slice() else { return None };
            let folder = real_folder(file)?;
            let grant = Self::Folder(folder);
            return grant.has_file(file).then_some(grant);
        }
        let (commands, impact) = commands(request)?;
        let [command] = commands.as_slice() else { return None };
        let (words, is_exact) = prefix(command);
        Some(Self::Command { words, is_exact, impact })
    }

    /// Says exactly what is allowed.
    pub(super) fn label(&self) -> String {
        match self {
            Self::Command { words, is_exact: true, .. } => {
                format!("Yes, and always allow exactly `{}` in this session", words.join(" "))
            }
            Self::Command { words, .. } => {
                format!(
                    "Yes, and always allow commands that start with `{}` in this session",
                    words.join(" ")
                )
            }
            Self::Folder(folder) => {
                format!("Yes, and always allow changes of files in `{}` in this session", folder.display())
            }
        }
    }

    fn has_command(&self, command: &SimpleCommand, asked: u8) -> bool {
        let Self::Command { words, is_exact, impact } = self else { return false };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        asked <= *impact
            && command.starts_with(&words)
            && (!is_exact || command.args().len() + 1 == words.len())
    }

    fn has_file(&self, file: &Path) -> bool {
        let Self::Folder(folder) = self else { return false };
        // a link leads elsewhere
        let is_link = fs_err::symlink_metadata(file).is_ok_and(|found| found.file_type().is_symlink());
        let (Some(real), Some(name)) = (real_folder(file), file.file_name()) else { return false };
        let Ok(below) = real.strip_prefix(folder) else { return false };
        let is_hidden = |part: &std::ffi::OsStr| part.as_encoded_bytes().starts_with(b".");
        !is_link && !is_hidden(name) && !below.iter().any(is_hidden)
    }
}

fn real_folder(file: &Path) -> Option<PathBuf> {
    file.parent().filter(|_| file.is_absolute()).and_then(|folder| fs_err::canonicalize(folder).ok())
}

/// Returns the files that would be changed, if the request is about nothing else.
fn files(request: &PermissionRequest) -> Option<Vec<PathBuf>> {
    let file = |details: &PermissionDetails| match details {
        PermissionDetails::Edit(edit) => Some(PathBuf::from(&edit.file_path)),
        PermissionDetails::Create(create) => Some(PathBuf::from(&create.file_path)),
        _ => None,
    };
    let files: Option<Vec<_>> = request.tool_uses.iter().map(|call| file(&call.details)).collect();
    files.filter(|files| !files.is_empty())
}

/// Returns the commands, if the request is about nothing else and all are understood, and the highest impact of them.
fn commands(request: &PermissionRequest) -> Option<(Vec<SimpleCommand>, u8)> {
    let mut highest = 0;
    for call in &request.tool_uses {
        let PermissionDetails::Exec(exec) = &call.details else { return None };
        let impact = match exec.impact_level.as_ref()?.as_str() {
            "low" => 1,
            "medium" => 2,
            "high" => 3,
            _ => return None,
        };
        highest = highest.max(impact);
    }
    Some((request.commands()?, highest))
}

/// Returns the words that later commands have to begin with, and whether they have to be all. A program with options only is allowed as
/// it is: `python3 -c` would allow everything.
fn prefix(command: &SimpleCommand) -> (Vec<String>, bool) {
    let all = || std::iter::once(command.program().to_owned()).chain(command.args().iter().cloned());
    let is_word = |word: &String| !word.starts_with('-');
    match command.args() {
        [run, script, ..] if matches!(run.as_str(), "run" | "exec" | "x") && is_word(script) => {
            (all().take(3).collect(), false)
        }
        [run, ..] if matches!(run.as_str(), "run" | "exec" | "x") => (all().collect(), true),
        [first, ..] if is_word(first) => (all().take(2).collect(), false),
        _ => (all().collect(), true),
    }
}

#[cfg(test)]
mod tests {
    use musher::wire::{PermissionOption, PermissionToolUse};
    use serde_json::{Value, json};

    use super::*;

    fn request(details: &[Value], always: bool) -> PermissionRequest {
        let uses = details.iter().map(|details| -> PermissionToolUse {
            let call = json!({"type": "tool_use", "id": "1", "name": "x", "input": {}});
            serde_json::from_value(
                json!({"toolUse": call, "confirmationType": details["type"], "details": details}),
            )
            .unwrap()
        });
        let outcomes = [Outcome::ProceedOnce].into_iter().chain(always.then_some(Outcome::ProceedAlways));
        let options = outcomes.map(|outcome| PermissionOption::new("x", outcome));
        PermissionRequest::new(uses.collect(), options.collect())
    }

    fn exec(line: &str, impact: &str) -> Value {
        json!({"type": "exec", "fullCommand": line, "impactLevel": impact})
    }

    fn edit(file: &Path) -> Value {
        json!({"type": "edit", "filePath": file})
    }

    #[test]
    fn grant_covers_its_prefix_up_to_its_impact_and_nothing_else() {
        let grants = Grants::default();
        let test = request(&[exec("cargo test --lib", "medium")], true);
        assert!(!grants.cover(&test));
        let grant = Grant::of(&test).unwrap();
        assert_eq!(
            grant.label(),
            "Yes, and always allow commands that start with `cargo test` in this session"
        );
        grants.add(grant);
        let covers = |line: &str, impact: &str, always| grants.cover(&request(&[exec(line, impact)], always));
        for line in ["cargo test", "cargo test a && cargo test b"] {
            assert!(covers(line, "medium", true) && covers(line, "low", true), "{line}");
        }
        assert!(!covers("cargo test", "high", true), "a higher impact");
        assert!(!covers("cargo test", "medium", false), "the agent wants to be asked each time");
        for line in [
            "cargo tests",
            "cargo",
            "cargo run",
            "cargo test && rm x",
            "cargo test $(rm x)",
            "cargo test > x",
            "rm x",
        ] {
            assert!(!covers(line, "medium", true), "{line}");
        }
        let mixed = request(&[exec("cargo test", "low"), json!({"type": "mcp_tool", "toolName": "a"})], true);
        assert!(!grants.cover(&mixed));
        assert_eq!(Grant::of(&request(&[exec("cargo test", "medium")], false)), None);
        assert_eq!(Grant::of(&request(&[exec("a; b", "low")], true)), None);
    }

    #[test]
    fn interpreters_and_runners_are_not_allowed_as_a_whole() {
        let label = |line: &str| Grant::of(&request(&[exec(line, "medium")], true)).unwrap().label();
        assert!(label("python3 -c 'print(1)'").contains("exactly `python3 -c print(1)`"));
        assert!(label("make").contains("exactly `make`"));
        assert!(label("npm run build -- --x").contains("start with `npm run build`"));
        assert!(label("npm run").contains("exactly `npm run`"));
    }

    #[test]
    fn folder_covers_files_below_it_but_no_links_and_nothing_hidden() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for folder in ["src/deep", "src/.git", "other"] {
            fs_err::create_dir_all(root.join(folder)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("other"), root.join("src/link")).unwrap();
        std::os::unix::fs::symlink(root.join("other/file"), root.join("src/file")).unwrap();
        let grants = Grants::default();
        grants.add(Grant::of(&request(&[edit(&root.join("src/a.rs"))], true)).unwrap());
        let covers = |file: &str| grants.cover(&request(&[edit(&root.join(file))], true));
        assert!(covers("src/new.rs") && covers("src/deep/b.rs"));
        for file in [
            "other/a",
            "src/../other/a",
            "src/link/a",
            "src/file",
            "src/.git/config",
            "src/.env",
            "src/none/a",
        ] {
            assert!(!covers(file), "{file}");
        }
        assert_eq!(Grant::of(&request(&[edit(Path::new("relative"))], true)), None);
        assert_eq!(Grant::of(&request(&[edit(&root.join("src/.env"))], true)), None);
    }
}
