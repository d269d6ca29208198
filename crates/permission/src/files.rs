//! Judges paths: inside the workspace, outside, or a place that always needs permission.

use std::path::{Path, PathBuf};

use crate::secrets::{self, Reach, Recursion};
use crate::{FileKind, Resolved, Risk, Sensitive, Workspace};

use super::Policy;

/// The risk of an effect, and the reason if it always needs permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) risk: Risk,
    pub(super) always_ask: Option<String>,
}

impl Finding {
    pub(super) const NOTHING: Self = Self::of(Risk::None);

    pub(super) const fn of(risk: Risk) -> Self {
        Self { risk, always_ask: None }
    }

    pub(super) fn ask(reason: impl Into<String>) -> Self {
        Self { risk: Risk::High, always_ask: Some(reason.into()) }
    }

    /// Combines two findings: the higher risk and the first reason.
    #[must_use]
    pub(super) fn and(self, other: Self) -> Self {
        Self { risk: self.risk.max(other.risk), always_ask: self.always_ask.or(other.always_ask) }
    }

    /// Raises the risk to at least `risk`.
    #[must_use]
    pub(super) fn at_least(self, risk: Risk) -> Self {
        Self { risk: self.risk.max(risk), ..self }
    }
}

/// Returns the effect of writing, replacing or removing a file.
pub(super) fn write(policy: &Policy, workspace: &Workspace, path: &Path) -> (Finding, Option<PathBuf>) {
    let Ok(resolved) = workspace.resolve(path) else {
        // the tool reports the problem; if the path becomes valid in the meantime, its target was never shown to the user
        return (Finding::of(Risk::High), None);
    };
    (write_resolved(policy, workspace, &resolved), Some(resolved.path))
}

fn write_resolved(policy: &Policy, workspace: &Workspace, resolved: &Resolved) -> Finding {
    let path = resolved.path.display();
    if policy.protected_files.contains(&resolved.path) {
        return Finding::ask(format!("`{path}` is run by a hook or an MCP server."));
    }
    match sensitive(&policy.home, &policy.settings_folders, &resolved.path) {
        Some(Sensitive::Credentials) => return Finding::ask(format!("`{path}` holds credentials.")),
        Some(Sensitive::ShellStartup) => {
            return Finding::ask(format!("`{path}` is run by shells when they start."));
        }
        Some(Sensitive::VersionControl) => {
            return Finding::ask(format!("`{path}` can make version control run programs."));
        }
        Some(Sensitive::Repository | Sensitive::RunsLater) => return Finding::of(Risk::High),
        Some(_) => return Finding::ask(format!("`{path}` belongs to the settings of agents.")),
        None if is_hidden_in_home(policy, workspace, &resolved.path) => return Finding::of(Risk::High),
        None => {}
    }
    // a repository may be in a directory of any name
    if resolved.path.ancestors().skip(1).any(looks_like_repository) {
        return Finding::of(Risk::High);
    }
    match resolved.kind {
        FileKind::Special if is_harmless_device(&resolved.path) => Finding::NOTHING,
        FileKind::Special => Finding::ask(format!("`{path}` is a device, a pipe or a socket.")),
        // a write in place also changes the file's other names
        _ if resolved.is_inside && !resolved.is_hard_linked => Finding::of(Risk::Low),
        _ => Finding::of(Risk::High),
    }
}

/// Returns the effect of removing or moving a directory with all its content.
pub(super) fn remove_folder(workspace: &Workspace, path: &Path) -> Finding {
    let Ok(resolved) = workspace.resolve(path) else { return Finding::of(Risk::High) };
    let holds_repository = looks_like_repository(&resolved.path)
        || [".git", ".hg", ".svn"].iter().any(|name| resolved.path.join(name).symlink_metadata().is_ok());
    Finding::of(if holds_repository { Risk::High } else { Risk::None })
}

/// Returns whether git would treat a directory as a repository: a bare one, or the data of a worktree.
fn looks_like_repository(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("objects") || has("commondir"))
}

/// How much of a path is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Extent<'a> {
    /// The file.
    File,
    /// The file, or everything below the directory, by a tool that leaves out secrets.
    WithoutSecrets,
    /// The file, or what a program reads below the directory.
    Below(&'a Recursion),
}

/// Returns the effect of reading a path, or what is below it.
pub(super) fn read(policy: &Policy, workspace: &Workspace, path: &Path, extent: Extent<'_>) -> Finding {
    let Ok(resolved) = workspace.resolve(path) else { return Finding::NOTHING };
    let shown = resolved.path.display();
    if policy.secret_files().holds(&resolved.path) {
        return Finding::ask(format!("`{shown}` may hold credentials."));
    }
    if matches!(extent, Extent::File) || resolved.kind != FileKind::Folder {
        return Finding::NOTHING;
    }
    let has_home = !policy.home.as_os_str().is_empty() && policy.home.starts_with(&resolved.path);
    if has_home && !workspace.holds(&resolved.path) {
        return Finding::ask(format!("Credentials are below `{shown}`."));
    }
    let Extent::Below(recursion) = extent else { return Finding::NOTHING };
    match secrets::below(&resolved.path, recursion, &policy.secret_files()) {
        Reach::Nothing => Finding::NOTHING,
        Reach::Secret(path) => {
            Finding::ask(format!("It also reads `{}`, which may hold credentials.", path.display()))
        }
        Reach::Unknown => Finding::of(Risk::Medium),
    }
}

/// Returns the effect of naming a path to a program of unknown behaviour, which may read or write it.
pub(super) fn named(policy: &Policy, workspace: &Workspace, path: &Path) -> Finding {
    let found = read(policy, workspace, path, Extent::File);
    if found.always_ask.is_some() {
        return found;
    }
    let (found, _) = write(policy, workspace, path);
    Finding { risk: Risk::None, always_ask: found.always_ask }
}

/// Returns whether reading a real path may disclose a secret.
pub(crate) fn is_secret(home: &Path, settings_folders: &[PathBuf], path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_process = path.starts_with("/proc") && ["environ", "mem", "auxv"].contains(&name);
    match sensitive(home, settings_folders, path) {
        Some(Sensitive::Credentials) => true,
        // these directories hold keys of models and servers, next to files that an agent must read
        Some(Sensitive::AgentSettings) => {
            let is_users =
                path.starts_with(home) || settings_folders.iter().any(|folder| path.starts_with(folder));
            let is_json =
                Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
            let lower = name.to_ascii_lowercase();
            let is_login = ["auth", "credential", "oauth", "token", "secret", ".credential"]
                .iter()
                .any(|start| lower.starts_with(start));
            is_users && (is_json || is_login)
        }
        _ => is_process,
    }
}

fn sensitive(home: &Path, settings_folders: &[PathBuf], path: &Path) -> Option<Sensitive> {
    let settings: Vec<&Path> = settings_folders.iter().map(PathBuf::as_path).collect();
    // without a home directory, nothing is below it
    let home = if home.as_os_str().is_empty() { Path::new("/nowhere") } else { home };
    Sensitive::of(path, home, &settings)
}

/// Returns whether a path is, or is below, a hidden entry of the home directory: programs keep their settings there, and run some of them.
/// A workspace inside such an entry is the user's own choice.
fn is_hidden_in_home(policy: &Policy, workspace: &Workspace, path: &Path) -> bool {
    if policy.home.as_os_str().is_empty() {
        return false;
    }
    let Some(first) = path.strip_prefix(&policy.home).ok().and_then(|below| below.components().next()) else {
        return false;
    };
    let entry = policy.home.join(first);
    first.as_os_str().to_string_lossy().starts_with('.')
        && !workspace.roots().any(|root| root.starts_with(&entry))
}

fn is_harmless_device(path: &Path) -> bool {
    ["/dev/null", "/dev/zero", "/dev/full"].iter().any(|device| path == Path::new(device))
}
