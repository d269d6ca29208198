//! What the user has allowed for the rest of a session, no more than was shown: commands with a prefix, or files of directories.
//!
//! The agent still judges every call, and asks; the client answers a request that the grants cover. A request that cannot be fully
//! understood, or that describes something else than its calls, is never covered; neither is one for which the agent itself offers no
//! "always", nor a command of a higher impact than the one that was allowed.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use musher_wire::{PermissionDetails, ToolConfirmationOutcome as Outcome};

use super::commands::split;
use super::{PermissionRequest, SimpleCommand};

/// The maximum number of grants of a session.
const MAX_GRANTS: usize = 256;
/// The maximum number of commands or directories of one grant: a user reads no longer list.
const MAX_SCOPES: usize = 4;
/// Programs whose first argument says what they do. Of all others only the exact command is granted: `rm x` must not cover `rm x -rf ~`.
const WITH_SUBCOMMAND: [&str; 16] = [
    "bazel", "bun", "cargo", "deno", "docker", "dotnet", "gh", "git", "go", "kubectl", "mvn", "npm", "pip",
    "pnpm", "uv", "yarn",
];
/// Subcommands that run another program, which is the argument after them.
const RUNNERS: [&str; 4] = ["dlx", "exec", "run", "x"];
/// Programs whose runners run anything: `docker exec container sh`.
const OF_CONTAINERS: [&str; 2] = ["docker", "kubectl"];
/// Programs that run code or commands of their arguments.
const INTERPRETERS: [&str; 34] = [
    "awk", "bash", "bun", "busybox", "dash", "deno", "doas", "env", "eval", "exec", "find", "fish", "gawk",
    "ksh", "make", "mawk", "nice", "node", "nohup", "npx", "perl", "php", "python", "python3", "ruby", "sed",
    "setsid", "sh", "ssh", "su", "sudo", "timeout", "xargs", "zsh",
];
/// Directories whose files configure programs that run later.
const NOT_GRANTED: [&str; 15] = [
    ".aws", ".claude", ".codex", ".factory", ".git", ".github", ".gnupg", ".hg", ".idea", ".jj", ".kube",
    ".musher", ".ssh", ".svn", ".vscode",
];

/// A permission for later calls of a session, which the user gives with the decision on one call.
///
/// ```
/// use musher::{Decision, PermissionRequest, SessionGrant, SessionGrants};
///
/// fn decide(grants: &mut SessionGrants, request: &PermissionRequest, ask: impl Fn(&str) -> bool) -> Decision {
///     if grants.cover(request) {
///         return Decision::allow_once();
///     }
///     match SessionGrant::suggested(request) {
///         Some(grant) if ask(&grant.label()) => {
///             grants.add(grant);
///             Decision::allow_once()
///         }
///         _ => Decision::deny(),
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionGrant(Vec<Scope>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Scope {
    /// Commands that begin with these words, or are exactly these, up to an impact.
    Command { words: Vec<String>, is_exact: bool, impact: Impact },
    /// Changes of files in this directory and below, but not of hidden ones.
    Directory(PathBuf),
}

/// The impact that the agent declares for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Impact {
    Low,
    Medium,
    High,
}

/// The grants of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionGrants(Vec<SessionGrant>);

impl SessionGrants {
    /// Adds a grant. At most 256 are kept; later ones have no effect.
    pub fn add(&mut self, grant: SessionGrant) {
        if self.0.len() < MAX_GRANTS && !self.0.contains(&grant) {
            self.0.push(grant);
        }
    }

    /// Returns whether the grants cover everything that is requested. Looks at the file system, because links lead elsewhere.
    pub fn cover(&self, request: &PermissionRequest) -> bool {
        if self.0.is_empty() || !may_grant(request) {
            return false;
        }
        if let Some(files) = files(request) {
            return files.iter().all(|file| self.0.iter().any(|grant| grant.has_file(file)));
        }
        let Some(commands) = commands(request) else { return false };
        let is_granted = |(command, impact): &(SimpleCommand, Impact)| {
            self.0.iter().any(|grant| grant.has_command(command, *impact))
        };
        commands.iter().all(is_granted)
    }
}

impl SessionGrant {
    /// Returns the grant to offer with a request about commands or files, if one is possible. It has each of them, up to four.
    ///
    /// A line of several commands gets none if a shell or an interpreter is among them: it would run what another command writes.
    pub fn suggested(request: &PermissionRequest) -> Option<Self> {
        if !may_grant(request) {
            return None;
        }
        let mut scopes = Vec::new();
        if let Some(files) = files(request) {
            for file in &files {
                let scope = Scope::Directory(real_folder(file)?);
                if !scope.has_file(file) {
                    return None;
                }
                scopes.push(scope);
            }
        } else {
            let commands = commands(request)?;
            let is_alone = commands.len() == 1;
            for (command, impact) in &commands {
                if !is_alone && INTERPRETERS.contains(&command.program()) {
                    return None;
                }
                let (words, is_exact) = prefix(command);
                scopes.push(Scope::Command { words, is_exact, impact: *impact });
            }
        }
        let mut grant = Self(Vec::new());
        for scope in scopes {
            if !grant.0.contains(&scope) {
                grant.0.push(scope);
            }
        }
        (1..=MAX_SCOPES).contains(&grant.0.len()).then_some(grant)
    }

    /// Returns the words for the user: "Yes, and always allow …".
    pub fn label(&self) -> String {
        format!("Yes, and always allow {} in this session", self.scope())
    }

    /// Returns what is allowed: "commands that start with `cargo test`".
    pub fn scope(&self) -> String {
        let mut kinds: Vec<(&str, Vec<String>)> = Vec::new();
        for scope in &self.0 {
            let (kind, what) = match scope {
                Scope::Command { words, is_exact: true, .. } => ("exactly", words.join(" ")),
                Scope::Command { words, .. } => ("commands that start with", words.join(" ")),
                Scope::Directory(folder) => ("changes of files in", folder.display().to_string()),
            };
            let what = format!("`{what}`");
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, all)) => all.push(what),
                None => kinds.push((kind, vec![what])),
            }
        }
        let kinds = kinds.into_iter().map(|(kind, all)| format!("{kind} {}", all.join(" or ")));
        kinds.collect::<Vec<_>>().join(", and ")
    }

    /// Returns whether the grant is about files, not about commands.
    pub fn is_directory(&self) -> bool {
        self.0.iter().any(|scope| matches!(scope, Scope::Directory(_)))
    }

    fn has_command(&self, command: &SimpleCommand, asked: Impact) -> bool {
        self.0.iter().any(|scope| scope.has_command(command, asked))
    }

    fn has_file(&self, file: &Path) -> bool {
        self.0.iter().any(|scope| scope.has_file(file))
    }
}

impl Scope {
    fn has_command(&self, command: &SimpleCommand, asked: Impact) -> bool {
        let Self::Command { words, is_exact, impact } = self else { return false };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        asked <= *impact
            && command.starts_with(&words)
            && (!is_exact || command.args().len() + 1 == words.len())
    }

    fn has_file(&self, file: &Path) -> bool {
        let Self::Directory(folder) = self else { return false };
        // a link leads elsewhere
        let is_link = fs_err::symlink_metadata(file).is_ok_and(|found| found.file_type().is_symlink());
        let (Some(real), Some(name)) = (real_folder(file), file.file_name()) else { return false };
        let Ok(below) = real.strip_prefix(folder) else { return false };
        let is_hidden = |part: &OsStr| part.as_encoded_bytes().starts_with(b".");
        !is_link && !is_hidden(name) && !below.iter().any(is_hidden)
    }
}

/// Returns whether the agent lets a user allow later calls, and describes the call itself.
fn may_grant(request: &PermissionRequest) -> bool {
    request.offers(&Outcome::ProceedAlways) && request.mismatches().is_empty()
}

/// Returns the directory where a file really is, if changes in it may be granted.
fn real_folder(file: &Path) -> Option<PathBuf> {
    let is_plain = file.is_absolute() && !file.components().any(|part| part == Component::ParentDir);
    let folder = fs_err::canonicalize(file.parent().filter(|_| is_plain)?).ok()?;
    let is_granted = !folder.iter().any(|part| NOT_GRANTED.iter().any(|name| part == *name));
    is_granted.then_some(folder)
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

/// Returns the commands with the impact of their call, if the request is about nothing else and all are understood.
fn commands(request: &PermissionRequest) -> Option<Vec<(SimpleCommand, Impact)>> {
    let mut commands = Vec::new();
    for call in &request.tool_uses {
        let PermissionDetails::Exec(exec) = &call.details else { return None };
        let impact = match exec.impact_level.as_ref()?.as_str() {
            "low" => Impact::Low,
            "medium" => Impact::Medium,
            "high" => Impact::High,
            _ => return None,
        };
        commands.extend(split(&exec.full_command)?.into_iter().map(|command| (command, impact)));
    }
    (!commands.is_empty()).then_some(commands)
}

/// Returns the words that later commands have to begin with, and whether they have to be all.
fn prefix(command: &SimpleCommand) -> (Vec<String>, bool) {
    let words: Vec<String> =
        std::iter::once(command.program().to_owned()).chain(command.args().iter().cloned()).collect();
    let count = prefix_length(&words);
    (words.iter().take(count.unwrap_or(words.len())).cloned().collect(), count.is_none())
}

fn prefix_length(words: &[String]) -> Option<usize> {
    let is_word = |word: &str| word.starts_with(|c: char| c.is_ascii_alphanumeric());
    let (program, subcommand) = (words.first()?, words.get(1)?);
    if !WITH_SUBCOMMAND.contains(&program.as_str()) || !is_word(subcommand) {
        return None;
    }
    if !RUNNERS.contains(&subcommand.as_str()) {
        return Some(2);
    }
    // `go run x` and `npm run x` run that one; `uv run python` would run anything
    let run = words.get(2).filter(|run| is_word(run) && !OF_CONTAINERS.contains(&program.as_str()))?;
    (!INTERPRETERS.contains(&run.as_str())).then_some(3)
}

#[cfg(test)]
mod tests;
