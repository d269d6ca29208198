//! The second wall: what commands may change and connect to, enforced by the kernel in case that the permission rules are wrong.
//!
//! - [`SandboxSettings`] is what settings and flags say.
//! - [`CommandAccess`] is what the permission rules have found about a command.
//! - [`Sandboxes`] makes the sandbox of a command from both. `musher-process` applies it between fork and exec.
//!
//! Never widens what the permission rules allow: a command that needs permission is asked about, with and without a sandbox.

mod access;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use musher_tools::{Layers, Network, Sandbox, Workspace};

pub(crate) use access::{CommandAccess, again_request, git_request};

use crate::config::{Problem, SandboxMode, SandboxNetwork, SandboxSettings, Severity};
use crate::permission::{Autonomy, Mode, Policy};

/// Files below a writable directory that run programs, or that programs outside of the sandbox trust. Kept read-only.
const PROTECTED: &[&str] = &[
    ".git",
    ".musher",
    ".factory",
    ".claude",
    ".codex",
    ".vscode",
    ".idea",
    ".zed",
    ".github",
    ".gitlab-ci.yml",
    ".circleci",
    ".envrc",
];

/// The same for a workspace that is or contains the user's home, besides what shells read when they start.
const PROTECTED_IN_HOME: &[&str] = &[
    ".config",
    ".local/bin",
    ".local/share/applications",
    ".local/share/systemd",
    ".ssh",
    ".gnupg",
    ".gitconfig",
    ".aws",
    ".kube",
    ".docker",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".xinitrc",
    ".xsession",
    ".xprofile",
    "bin",
];

/// Files of a repository that stay read-only if git itself may write to it: they name programs that git runs.
const PROTECTED_FROM_GIT: &[&str] = &["hooks", "config", "config.worktree", "info", "modules"];

/// The sandboxes of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sandboxes {
    settings: SandboxSettings,
    /// What to use; `None` is all that this machine has.
    layers: Option<Layers>,
    /// The directories in which commands may write, by their real paths.
    writable: Vec<PathBuf>,
    /// What stays read-only in them.
    protected: Vec<PathBuf>,
    /// The data of the repository.
    git: Option<PathBuf>,
}

impl Sandboxes {
    /// Creates the sandboxes of a session that works in this workspace. `root` is the root of its repository.
    pub(crate) fn new(
        settings: SandboxSettings,
        layers: Option<Layers>,
        workspace: &Workspace,
        policy: &Policy,
        root: &Path,
    ) -> Self {
        let real = |path: &Path| fs_err::canonicalize(path).ok();
        let writable: Vec<PathBuf> = workspace
            .roots()
            .map(Path::to_owned)
            .chain(settings.writable.iter().map(|path| expanded(path, &policy.home)))
            .filter_map(|path| real(&path))
            .collect();
        let of_folders = writable.iter().flat_map(|folder| PROTECTED.iter().map(|name| folder.join(name)));
        let of_home = PROTECTED_IN_HOME
            .iter()
            .chain(&musher_permission::SHELL_STARTUP)
            .map(|name| policy.home.join(name));
        let git = real(&root.join(".git"));
        let protected = of_folders
            .chain(of_home)
            .chain(policy.settings_folders.iter().cloned())
            .chain(settings.protected.iter().map(|path| expanded(path, &policy.home)))
            .chain(git.clone())
            .filter_map(|path| real(&path))
            .filter(|path| {
                let is_below = writable.iter().any(|folder| path.starts_with(folder) && path != folder);
                // what the user has made writable inside of it stays writable
                is_below && !writable.iter().any(|folder| folder.starts_with(path))
            })
            .collect();
        Self { settings, layers, writable, protected, git }
    }

    /// The layers to use. Tries what this machine has when it is first called, which takes some milliseconds.
    fn layers(&self) -> Layers {
        self.layers.unwrap_or_else(Layers::available)
    }

    /// Returns the sandbox of a command; `None` if it may change everything that its user may, or if this machine has no sandbox.
    pub(crate) fn of_command(&self, access: CommandAccess, policy: &Policy) -> Option<Sandbox> {
        if policy.mode == Mode::Spec || access == CommandAccess::ReadOnly {
            return self.available(Sandbox::read_only());
        }
        if access == CommandAccess::Approved {
            return None;
        }
        let sandbox = match self.mode(policy) {
            SandboxMode::Off => return None,
            SandboxMode::ReadOnly => Sandbox::read_only(),
            SandboxMode::WorkspaceWrite => self.workspace(access == CommandAccess::Git),
        };
        self.available(sandbox.network(network(self.network(policy))))
    }

    /// Returns the sandbox of hooks and MCP servers, which only have one if settings or flags say so: users choose these programs.
    pub(crate) fn of_program(&self, scratch: &Path) -> Option<Sandbox> {
        let sandbox = match self.settings.mode? {
            SandboxMode::Off => return None,
            SandboxMode::ReadOnly => Sandbox::writable([scratch]),
            SandboxMode::WorkspaceWrite => {
                Sandbox::writable(self.writable.iter().map(PathBuf::as_path).chain([scratch]))
                    .protect(&self.protected)
            }
        };
        self.available(sandbox.network(network(self.settings.network.unwrap_or(SandboxNetwork::On))))
    }

    /// Returns the sandbox of programs that musher itself runs to look at a repository.
    pub(crate) fn of_look(&self) -> Option<Sandbox> {
        self.available(Sandbox::read_only())
    }

    /// Whether git needs permission for each write to the repository, because the sandbox would deny it.
    pub(crate) fn protects_git(&self, policy: &Policy) -> bool {
        self.git.is_some()
            && policy.mode == Mode::Auto
            && self.mode(policy) != SandboxMode::Off
            && self.layers().protects_paths()
    }

    fn workspace(&self, is_git: bool) -> Sandbox {
        let Some(git) = self.git.as_ref().filter(|_| is_git) else {
            return Sandbox::writable(&self.writable).protect(&self.protected);
        };
        let protected = self.protected.iter().filter(|path| *path != git).cloned();
        let in_git = PROTECTED_FROM_GIT.iter().map(|name| git.join(name));
        Sandbox::writable(self.writable.iter().chain([git])).protect(protected.chain(in_git))
    }

    fn available(&self, sandbox: Sandbox) -> Option<Sandbox> {
        let layers = self.layers();
        let is_any = layers.restricts_writes() || layers.restricts_network();
        is_any.then(|| sandbox.layers(layers))
    }

    /// Returns the mode for commands that run without asking and change something.
    pub(crate) fn mode(&self, policy: &Policy) -> SandboxMode {
        let by_level = || match policy.level() {
            _ if policy.skip_all => SandboxMode::Off,
            Autonomy::High => SandboxMode::Off,
            Autonomy::Off | Autonomy::Low | Autonomy::Medium => SandboxMode::WorkspaceWrite,
        };
        self.settings.mode.unwrap_or_else(by_level)
    }

    fn network(&self, policy: &Policy) -> SandboxNetwork {
        let by_level = match policy.level() {
            _ if policy.skip_all => SandboxNetwork::On,
            Autonomy::Off | Autonomy::Low => SandboxNetwork::Off,
            Autonomy::Medium | Autonomy::High => SandboxNetwork::On,
        };
        self.settings.network.unwrap_or(by_level)
    }

    /// Returns what the settings ask for and this machine cannot enforce, or an error if the settings demand that it can.
    pub(crate) fn check(&self) -> Result<Option<Problem>, String> {
        check(&self.settings, self.layers)
    }
}

/// Returns what settings ask for and these layers cannot enforce, or an error if the settings demand that they can. Without layers, tries
/// what this machine has, unless nothing is asked for.
pub(crate) fn check(settings: &SandboxSettings, layers: Option<Layers>) -> Result<Option<Problem>, String> {
    if settings.mode.is_none() && !settings.is_required {
        return Ok(None);
    }
    let shortfalls = shortfalls(settings, layers.unwrap_or_else(Layers::available)).join("; ");
    if shortfalls.is_empty() {
        return Ok(None);
    }
    if settings.is_required {
        return Err(format!("cannot enforce the required sandbox on this machine: {shortfalls}"));
    }
    tracing::warn!(%shortfalls, "the sandbox is not complete");
    let problem = Problem::new("sandbox", format!("not complete on this machine: {shortfalls}"));
    Ok(Some(Problem { severity: Severity::Warning, ..problem }))
}

/// Returns what settings ask for and these layers cannot enforce, in words for the user.
fn shortfalls(settings: &SandboxSettings, layers: Layers) -> Vec<&'static str> {
    let mode = settings.mode.unwrap_or(if settings.is_required {
        SandboxMode::WorkspaceWrite
    } else {
        SandboxMode::Off
    });
    let mut shortfalls = Vec::new();
    if mode == SandboxMode::Off {
        return shortfalls;
    }
    if !layers.restricts_writes() {
        shortfalls.push("where commands write is not restricted");
    } else if mode == SandboxMode::WorkspaceWrite && !layers.protects_paths() {
        shortfalls.push(
            "`.git`, settings and other protected files in the workspace can be changed by programs that a command starts",
        );
    }
    match settings.network {
        Some(SandboxNetwork::Off | SandboxNetwork::Local) if !layers.restricts_network() => {
            shortfalls.push("network connections of commands are not restricted");
        }
        Some(SandboxNetwork::Local) if !layers.protects_paths() => {
            shortfalls.push("commands have no network at all instead of a local one");
        }
        _ => {}
    }
    shortfalls
}

fn network(network: SandboxNetwork) -> Network {
    match network {
        SandboxNetwork::On => Network::On,
        SandboxNetwork::Local => Network::Local,
        SandboxNetwork::Off => Network::Off,
    }
}

/// Replaces a leading `~`.
fn expanded(path: &Path, home: &Path) -> PathBuf {
    path.strip_prefix("~").map_or_else(|_other| path.to_owned(), |rest| home.join(rest))
}
