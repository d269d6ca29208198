//! Places where reading discloses a secret, or writing makes a program run something later. They always need permission.

use std::ffi::OsStr;
use std::path::{Component, Path};

use super::credentials::holds_credentials;

/// Why a place is sensitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sensitive {
    /// Keys and passwords.
    Credentials,
    /// Read by a shell when it starts.
    ShellStartup,
    /// Hooks and settings of version control, which can run programs.
    VersionControl,
    /// The data of a repository: objects, refs, the index.
    Repository,
    /// Read and run by a CI service, an editor, a desktop or a service manager.
    RunsLater,
    /// Settings and sessions of musher or another agent.
    AgentSettings,
}

/// What shells read from the home directory when they start.
pub const SHELL_STARTUP: [&str; 19] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".config/fish",
    ".config/zsh",
    ".bash_aliases",
    ".bash_completion",
    ".inputrc",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
];
/// Git settings for all repositories of a user.
const GIT_SETTINGS: [&str; 2] = [".gitconfig", ".config/git"];
/// Relative to the home directory: files that a desktop, a service manager, an editor or a build tool runs, and directories of programs.
const RUN_FROM_HOME: [&str; 30] = [
    ".config/systemd",
    ".local/share/systemd",
    ".config/autostart",
    ".local/share/applications",
    ".local/share/dbus-1",
    ".config/environment.d",
    ".pam_environment",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".Xresources",
    ".config/i3",
    ".config/sway",
    ".config/hypr",
    ".local/bin",
    "bin",
    ".cargo/bin",
    ".cargo/config",
    ".cargo/config.toml",
    ".tmux.conf",
    ".config/tmux",
    ".vim",
    ".vimrc",
    ".config/nvim",
    ".emacs",
    ".emacs.d",
    ".gdbinit",
    ".config/direnv",
    "Library/LaunchAgents",
];
/// In any directory: files, and directories of files, that run on a push, or when a directory is opened or entered.
pub const RUN_FROM_WORKSPACE: [&str; 27] = [
    ".github/workflows",
    ".github/actions",
    ".gitlab-ci.yml",
    ".circleci",
    ".buildkite",
    ".woodpecker",
    ".woodpecker.yml",
    ".drone.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "Jenkinsfile",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".husky",
    ".envrc",
    ".mcp.json",
    ".cursor",
    ".gemini",
    ".windsurf",
    ".roo",
    ".pre-commit-config.yaml",
    ".exrc",
    ".nvim.lua",
    ".dir-locals.el",
];
const AGENTS: [&str; 4] = [".musher", ".factory", ".claude", ".codex"];

impl Sensitive {
    /// Classifies a real path, for a user with this home directory and settings in these other directories.
    pub fn of(path: &Path, home: &Path, settings: &[&Path]) -> Option<Self> {
        let below_home = |places: &[&str]| places.iter().any(|place| path.starts_with(home.join(place)));
        if settings.iter().any(|folder| path.starts_with(folder)) || below_home(&AGENTS) {
            return Some(Self::AgentSettings);
        }
        if holds_credentials(path, home) {
            return Some(Self::Credentials);
        }
        if below_home(&SHELL_STARTUP)
            || path.starts_with("/etc/profile.d")
            || path == Path::new("/etc/profile")
        {
            return Some(Self::ShellStartup);
        }
        if below_home(&GIT_SETTINGS) {
            return Some(Self::VersionControl);
        }
        if let Some(found) = version_control(path) {
            return Some(found);
        }
        let names: Vec<&OsStr> = path.components().map(Component::as_os_str).collect();
        if names.iter().any(|name| AGENTS.iter().any(|agent| is_named(name, agent))) {
            return Some(Self::AgentSettings);
        }
        let runs = RUN_FROM_WORKSPACE.iter().any(|place| has_run(&names, place))
            || path.extension().is_some_and(|ending| ending == "desktop" || ending == "code-workspace");
        (runs || below_home(&RUN_FROM_HOME)).then_some(Self::RunsLater)
    }
}

/// Returns whether two names are equal on a case-insensitive file system.
fn is_named(name: &OsStr, other: &str) -> bool {
    name.eq_ignore_ascii_case(other)
}

/// Returns whether a path contains these components, one after the other.
fn has_run(names: &[&OsStr], place: &str) -> bool {
    let wanted: Vec<&str> = place.split('/').collect();
    names
        .windows(wanted.len())
        .any(|run| run.iter().zip(&wanted).all(|(name, wanted)| is_named(name, wanted)))
}

/// Classifies a path below `.git`, or `.git` itself. Nested directories of this name may have settings and hooks too.
fn version_control(path: &Path) -> Option<Sensitive> {
    const SETTINGS: [&str; 8] =
        ["hooks", "config", "config.worktree", "info", "modules", "worktrees", "commondir", "hgrc"];
    let names: Vec<&OsStr> = path.components().map(Component::as_os_str).collect();
    let is_repository = |name: &&OsStr| [".git", ".hg", ".svn"].iter().any(|own| is_named(name, own));
    let inside = &names[names.iter().position(is_repository)? + 1..];
    // `.git` itself may be a file that names the location of the repository
    let is_itself = inside.is_empty() || inside.last().is_some_and(is_repository);
    let is_setting = inside.iter().any(|name| SETTINGS.iter().any(|setting| is_named(name, setting)));
    Some(if is_itself || is_setting { Sensitive::VersionControl } else { Sensitive::Repository })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensitive_places_have_their_protection() {
        let cases = [
            ("/home/u/.ssh/config", Some(Sensitive::Credentials)),
            ("/home/u/.sshx/config", None),
            ("/repo/.env", Some(Sensitive::Credentials)),
            ("/repo/.env.local", Some(Sensitive::Credentials)),
            ("/repo/.env.example", None),
            ("/repo/certs/server.pem", Some(Sensitive::Credentials)),
            ("/repo/deploy.key", Some(Sensitive::Credentials)),
            ("/home/u/.pgpass", Some(Sensitive::Credentials)),
            ("/home/u/.bash_history", Some(Sensitive::Credentials)),
            ("/home/u/.claude/.credentials.json", Some(Sensitive::AgentSettings)),
            ("/home/u/.local/share/keyrings/login.keyring", Some(Sensitive::Credentials)),
            ("/home/other/.ssh/config", Some(Sensitive::Credentials)),
            ("/root/.aws/credentials", Some(Sensitive::Credentials)),
            ("/etc/ssh/ssh_host_rsa_key", Some(Sensitive::Credentials)),
            ("/etc/ssh/ssh_config", None),
            ("/repo/src/key.rs", None),
            ("/repo/.mcp.json", Some(Sensitive::RunsLater)),
            ("/repo/keys/id_ed25519", Some(Sensitive::Credentials)),
            ("/home/u/.bashrc", Some(Sensitive::ShellStartup)),
            ("/repo/.bashrc", None),
            ("/repo/.git/hooks/pre-commit", Some(Sensitive::VersionControl)),
            ("/repo/.git/config", Some(Sensitive::VersionControl)),
            ("/repo/.GIT/Config", Some(Sensitive::VersionControl)),
            ("/repo/x/.git/commondir", Some(Sensitive::VersionControl)),
            ("/repo/x/.git", Some(Sensitive::VersionControl)),
            ("/repo/.git/objects/aa", Some(Sensitive::Repository)),
            ("/repo/.git/refs/heads/main", Some(Sensitive::Repository)),
            ("/repo/.git/index", Some(Sensitive::Repository)),
            ("/home/u/.gitconfig", Some(Sensitive::VersionControl)),
            ("/home/u/.config/git/config", Some(Sensitive::VersionControl)),
            ("/home/u/.config/systemd/user/x.service", Some(Sensitive::RunsLater)),
            ("/home/u/.config/autostart/x.desktop", Some(Sensitive::RunsLater)),
            ("/repo/.github/workflows/ci.yml", Some(Sensitive::RunsLater)),
            ("/repo/.github/dependabot.yml", None),
            ("/repo/.vscode/tasks.json", Some(Sensitive::RunsLater)),
            ("/repo/sub/.envrc", Some(Sensitive::RunsLater)),
            ("/repo/.gitignore", None),
            ("/repo/.factory/settings.json", Some(Sensitive::AgentSettings)),
            ("/home/u/.musher/mcp.json", Some(Sensitive::AgentSettings)),
            ("/elsewhere/settings.json", Some(Sensitive::AgentSettings)),
            ("/repo/src/main.rs", None),
        ];
        for (path, expected) in cases {
            let found = Sensitive::of(Path::new(path), Path::new("/home/u"), &[Path::new("/elsewhere")]);
            assert_eq!(found, expected, "{path}");
        }
    }
}
