//! Places where a read tells a secret or a write runs something later, so that consent is always asked for.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Why a place needs more care than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sensitive {
    /// Keys and passwords.
    Credentials,
    /// Read by a shell when it starts.
    ShellStartup,
    /// Hooks and settings of version control, which can run programs.
    VersionControl,
    /// Our own settings and sessions, or those of another agent.
    AgentSettings,
}

/// Below the home folder.
const CREDENTIALS: [&str; 14] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".docker/config.json",
    ".config/gh",
    ".config/gcloud",
    ".cargo/credentials.toml",
    ".password-store",
];
const SHELL_STARTUP: [&str; 10] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".config/fish",
];
const AGENTS: [&str; 3] = [".musher", ".factory", ".claude"];

impl Sensitive {
    /// What a real path is, for a user with this home folder and settings in these other folders.
    pub fn of(path: &Path, home: &Path, settings: &[&Path]) -> Option<Self> {
        let below_home = |places: &[&str]| places.iter().any(|place| path.starts_with(home.join(place)));
        if settings.iter().any(|folder| path.starts_with(folder)) || below_home(&AGENTS) {
            return Some(Self::AgentSettings);
        }
        if below_home(&CREDENTIALS) || is_environment_file(path) || is_private_key(path) {
            return Some(Self::Credentials);
        }
        if below_home(&SHELL_STARTUP)
            || path.starts_with("/etc/profile.d")
            || path == Path::new("/etc/profile")
        {
            return Some(Self::ShellStartup);
        }
        if is_version_control(path) {
            return Some(Self::VersionControl);
        }
        let names = path.components().map(Component::as_os_str);
        names.into_iter().any(|name| AGENTS.iter().any(|agent| name == *agent)).then_some(Self::AgentSettings)
    }
}

fn is_environment_file(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_example = [".example", ".sample", ".template"].iter().any(|ending| name.ends_with(ending));
    (name == ".env" || name.starts_with(".env.")) && !is_example
}

fn is_private_key(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"].contains(&name)
}

/// Everything in a repository's own folder that is not plain data.
fn is_version_control(path: &Path) -> bool {
    let names: Vec<&OsStr> = path.components().map(Component::as_os_str).collect();
    let Some(at) = names.iter().position(|name| *name == ".git" || *name == ".hg" || *name == ".svn") else {
        return false;
    };
    match names.get(at + 1).and_then(|name| name.to_str()) {
        // `.git` itself: a file that says where the repository is
        None => true,
        Some(name) => {
            ["hooks", "config", "config.worktree", "info", "modules", "worktrees", "hgrc"].contains(&name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_the_care_they_need() {
        let cases = [
            ("/home/u/.ssh/config", Some(Sensitive::Credentials)),
            ("/home/u/.sshx/config", None),
            ("/repo/.env", Some(Sensitive::Credentials)),
            ("/repo/.env.local", Some(Sensitive::Credentials)),
            ("/repo/.env.example", None),
            ("/repo/keys/id_ed25519", Some(Sensitive::Credentials)),
            ("/home/u/.bashrc", Some(Sensitive::ShellStartup)),
            ("/repo/.bashrc", None),
            ("/repo/.git/hooks/pre-commit", Some(Sensitive::VersionControl)),
            ("/repo/.git/config", Some(Sensitive::VersionControl)),
            ("/repo/.git/objects/aa", None),
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
