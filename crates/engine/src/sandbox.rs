//! The second wall: what commands may change and connect to, enforced by the kernel in case that the permission rules are wrong.
//!
//! - [`SandboxSettings`] is what settings and flags say.
//! - [`CommandAccess`] is what the permission rules have found about a command.
//! - [`Sandboxes`] makes the sandbox of a command from both. `musher-process` applies it between fork and exec.
//!
//! Never widens what the permission rules allow: a command that needs permission is asked about, with and without a sandbox.

mod access;
mod repositories;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use musher_tools::{Layers, Network, Sandbox, Workspace};

pub(crate) use access::{CommandAccess, again_request, git_request};

use crate::config::{Problem, SandboxMode, SandboxNetwork, SandboxSettings, Severity};
use crate::permission::{Autonomy, Mode, Policy};

/// Files below a writable directory that run programs, or that programs outside of the sandbox trust, besides
/// [`RUN_FROM_WORKSPACE`](musher_permission::RUN_FROM_WORKSPACE) and the data of repositories. Kept read-only.
const PROTECTED: &[&str] = &[".git", ".musher", ".factory", ".claude", ".codex", ".github"];

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
    /// What stays read-only in them, if it exists.
    names: Vec<PathBuf>,
    /// The root of the repository.
    root: PathBuf,
    /// The data of repositories that are nested in the writable directories. Searched when a command first may write.
    nested: OnceLock<Vec<PathBuf>>,
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
        let writable: Vec<PathBuf> = workspace
            .roots()
            .map(Path::to_owned)
            .chain(settings.writable.iter().map(|path| expanded(path, &policy.home)))
            .filter_map(|path| real(&path))
            .collect();
        let everywhere = || PROTECTED.iter().chain(&musher_permission::RUN_FROM_WORKSPACE);
        let of_folders = writable.iter().flat_map(|folder| everywhere().map(|name| folder.join(name)));
        let of_home = PROTECTED_IN_HOME
            .iter()
            .chain(&musher_permission::SHELL_STARTUP)
            .map(|name| policy.home.join(name));
        let names = of_folders
            .chain(of_home)
            .chain(policy.settings_folders.iter().cloned())
            .chain(settings.protected.iter().map(|path| expanded(path, &policy.home)))
            .chain([root.join(".git")])
            .collect();
        Self { settings, layers, writable, names, root: root.to_owned(), nested: OnceLock::new() }
    }

    /// Returns what stays read-only in the writable directories. Looks at files.
    fn protected(&self) -> Vec<PathBuf> {
        let nested = self.nested.get_or_init(|| repositories::nested(&self.writable));
        let is_protected = |path: &PathBuf| {
            let is_below = self.writable.iter().any(|folder| path.starts_with(folder) && path != folder);
            // what the user has made writable inside of it stays writable
            is_below && !self.writable.iter().any(|folder| folder.starts_with(path))
        };
        let mut protected: Vec<PathBuf> = self
            .names
            .iter()
            .filter_map(|path| real(path))
            .chain(nested.iter().cloned())
            .filter(is_protected)
            .collect();
        protected.sort();
        protected.dedup();
        protected
    }

    /// Returns the layers to use. Tries what this machine has when it is first called, which takes some milliseconds.
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
                    .protect(self.protected())
            }
        };
        self.available(sandbox.network(network(self.settings.network.unwrap_or(SandboxNetwork::On))))
    }

    /// Returns the sandbox of programs that musher itself runs to look at a repository.
    pub(crate) fn of_look(&self) -> Option<Sandbox> {
        self.available(Sandbox::read_only())
    }

    /// Returns whether git needs permission for each write to the repository, because the sandbox would deny it.
    pub(crate) fn protects_git(&self, policy: &Policy) -> bool {
        policy.mode == Mode::Auto
            && self.mode(policy) != SandboxMode::Off
            && self.layers().protects_paths()
            && real(&self.root.join(".git")).is_some()
    }

    fn workspace(&self, is_git: bool) -> Sandbox {
        let protected = self.protected();
        if !is_git {
            return Sandbox::writable(&self.writable).protect(protected);
        }
        // git may write to the data of each repository that it can be run in, except to what names programs
        let own = real(&self.root.join(".git"));
        let gits = protected.iter().filter(|path| path.ends_with(".git")).chain(&own);
        let data: Vec<PathBuf> = gits.flat_map(|git| repositories::data(git)).collect();
        let in_git = data.iter().flat_map(|git| PROTECTED_FROM_GIT.iter().map(|name| git.join(name)));
        let in_git: Vec<PathBuf> = in_git.collect();
        // a file `.git` only says where the data is
        let rest = protected.into_iter().filter(|path| !data.contains(path));
        Sandbox::writable(self.writable.iter().chain(&data)).protect(rest.chain(in_git))
    }

    fn available(&self, sandbox: Sandbox) -> Option<Sandbox> {
        let layers = self.layers();
        let is_any = layers.restricts_writes() || layers.restricts_network();
        is_any.then(|| sandbox.layers(layers))
    }

    /// Returns the mode for commands that run without asking and change something.
    pub(crate) fn mode(&self, policy: &Policy) -> SandboxMode {
        mode(&self.settings, level(policy))
    }

    fn network(&self, policy: &Policy) -> SandboxNetwork {
        network_of(&self.settings, level(policy))
    }

    /// Returns an error if the settings demand a sandbox that this machine does not have.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !self.settings.is_required {
            return Ok(());
        }
        check(&self.settings, Autonomy::Off, Some(self.layers())).map(drop)
    }

    /// Returns what this machine cannot enforce of what the settings and the autonomy level promise.
    pub(crate) fn notice(&self, policy: &Policy) -> Option<Problem> {
        check(&self.settings, level(policy), Some(self.layers())).ok().flatten()
    }
}

/// Returns the autonomy level that decides about the sandbox.
fn level(policy: &Policy) -> Autonomy {
    if policy.skip_all { Autonomy::High } else { policy.level() }
}

fn mode(settings: &SandboxSettings, level: Autonomy) -> SandboxMode {
    settings.mode.unwrap_or(match level {
        Autonomy::High => SandboxMode::Off,
        Autonomy::Off | Autonomy::Low | Autonomy::Medium => SandboxMode::WorkspaceWrite,
    })
}

fn network_of(settings: &SandboxSettings, level: Autonomy) -> SandboxNetwork {
    settings.network.unwrap_or(match level {
        Autonomy::Off | Autonomy::Low => SandboxNetwork::Off,
        Autonomy::Medium | Autonomy::High => SandboxNetwork::On,
    })
}

/// Returns what settings and the autonomy level promise and these layers cannot enforce, or an error if the settings demand that they can.
/// Without layers, tries what this machine has, unless the settings turn the sandbox off.
pub(crate) fn check(
    settings: &SandboxSettings,
    level: Autonomy,
    layers: Option<Layers>,
) -> Result<Option<Problem>, String> {
    if settings.mode == Some(SandboxMode::Off) {
        return Ok(None);
    }
    let shortfalls = shortfalls(settings, level, layers.unwrap_or_else(Layers::available)).join("; ");
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

/// Returns what settings and the autonomy level promise and these layers cannot enforce, in words for the user.
fn shortfalls(settings: &SandboxSettings, level: Autonomy, layers: Layers) -> Vec<&'static str> {
    // with `required`, also a session that starts at a high level must be able to continue at a lower one
    let level = if settings.is_required { level.min(Autonomy::Medium) } else { level };
    let mut shortfalls = Vec::new();
    if !layers.restricts_writes() {
        // also at a high level: read-only commands and spec mode rely on it
        shortfalls.push("where commands write is not restricted");
    } else if !layers.restricts_truncation() {
        shortfalls.push("commands can empty files everywhere");
    }
    let mode = mode(settings, level);
    if mode == SandboxMode::WorkspaceWrite && layers.restricts_writes() && !layers.protects_paths() {
        shortfalls.push(
            "`.git`, settings and other protected files in the workspace can be changed by programs that a command starts",
        );
    }
    if mode == SandboxMode::Off {
        return shortfalls;
    }
    match network_of(settings, level) {
        SandboxNetwork::Off | SandboxNetwork::Local if !layers.restricts_network() => {
            shortfalls.push("network connections of commands are not restricted");
        }
        SandboxNetwork::Local if !layers.protects_paths() => {
            shortfalls.push("commands have no network at all instead of a local one");
        }
        _ => {}
    }
    shortfalls
}

fn real(path: &Path) -> Option<PathBuf> {
    fs_err::canonicalize(path).ok()
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
