//! Judges paths: inside the workspace, outside, or a place that always needs permission.

use std::path::{Path, PathBuf};

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
    (write_resolved(policy, &resolved), Some(resolved.path))
}

fn write_resolved(policy: &Policy, resolved: &Resolved) -> Finding {
    let path = resolved.path.display();
    match sensitive(policy, &resolved.path) {
        Some(Sensitive::Credentials) => return Finding::ask(format!("`{path}` holds credentials.")),
        Some(Sensitive::ShellStartup) => {
            return Finding::ask(format!("`{path}` is run by shells when they start."));
        }
        Some(Sensitive::VersionControl) => {
            return Finding::ask(format!("`{path}` can make version control run programs."));
        }
        Some(Sensitive::Repository | Sensitive::RunsLater) => return Finding::of(Risk::High),
        Some(_) => return Finding::ask(format!("`{path}` belongs to the settings of agents.")),
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

/// Whether git would treat a directory as a repository: a bare one, or the data of a worktree.
fn looks_like_repository(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("objects") || has("commondir"))
}

/// Returns the effect of reading a path, or everything below it.
pub(super) fn read(policy: &Policy, workspace: &Workspace, path: &Path, is_recursive: bool) -> Finding {
    let Ok(resolved) = workspace.resolve(path) else { return Finding::NOTHING };
    let shown = resolved.path.display();
    if is_secret(policy, &resolved.path) {
        return Finding::ask(format!("`{shown}` may hold credentials."));
    }
    let has_home = !policy.home.as_os_str().is_empty() && policy.home.starts_with(&resolved.path);
    if is_recursive && has_home {
        return Finding::ask(format!("Credentials are below `{shown}`."));
    }
    Finding::NOTHING
}

/// Whether reading a real path may disclose a secret.
fn is_secret(policy: &Policy, path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_process = path.starts_with("/proc") && ["environ", "mem", "auxv"].contains(&name);
    let is_system =
        ["/etc/shadow", "/etc/gshadow", "/etc/sudoers"].iter().any(|place| path == Path::new(place));
    match sensitive(policy, path) {
        Some(Sensitive::Credentials) => true,
        // these directories hold keys of models and servers, next to files that an agent must read
        Some(Sensitive::AgentSettings) => {
            let is_users = path.starts_with(&policy.home)
                || policy.settings_folders.iter().any(|folder| path.starts_with(folder));
            is_users
                && Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
        }
        _ => is_process || is_system,
    }
}

fn sensitive(policy: &Policy, path: &Path) -> Option<Sensitive> {
    let settings: Vec<&Path> = policy.settings_folders.iter().map(PathBuf::as_path).collect();
    // without a home directory, nothing is below it
    let home = if policy.home.as_os_str().is_empty() { Path::new("/nowhere") } else { &policy.home };
    Sensitive::of(path, home, &settings)
}

fn is_harmless_device(path: &Path) -> bool {
    ["/dev/null", "/dev/zero", "/dev/full"].iter().any(|device| path == Path::new(device))
}
