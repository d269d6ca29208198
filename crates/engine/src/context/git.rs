//! The state of a git repository: branch, commit, origin, and operations in progress.
//!
//! Does not list changed files: that takes a walk over the whole tree, which `worktree` leaves to git.

use std::io::Read;
use std::path::{Path, PathBuf};

/// The repository on a hosting service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Its owner.
    pub owner: Option<String>,
    /// Its name.
    pub name: String,
}

/// A git repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Git {
    /// The branch; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// The abbreviated commit; `None` if there is none yet.
    pub commit: Option<String>,
    /// An operation in progress, such as `merge`.
    pub operation: Option<&'static str>,
    /// The repository of the remote `origin`.
    pub remote: Option<Repository>,
}

const MAX_FILE_BYTES: u64 = 1 << 20;
const OPERATIONS: [(&str, &str); 6] = [
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
];

impl Git {
    /// Reads the `.git` of a folder. Returns `None` if the folder is not the root of a repository.
    pub fn read(root: &Path) -> Option<Self> {
        let own = own_folder(root)?;
        let head = text(&own.join("HEAD"))?;
        // a linked worktree has its own HEAD and shares the rest
        let shared = text(&own.join("commondir")).map(|path| own.join(path.trim_end()));
        let shared = shared.as_deref().unwrap_or(&own);
        let (branch, commit) = match head.trim_end().strip_prefix("ref: ") {
            Some(name) => {
                let branch = name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
                (Some(branch), commit_of(shared, name))
            }
            None => (None, Some(head.trim_end().to_owned())),
        };
        let operation = OPERATIONS.into_iter().find(|(file, _)| own.join(file).exists());
        Some(Self {
            branch: branch.map(|branch| plain(&branch)),
            commit: commit.filter(|commit| is_hash(commit)).map(|commit| commit[..10].to_owned()),
            operation: operation.map(|(_, name)| name),
            remote: text(&shared.join("config")).and_then(|config| remote(&config)),
        })
    }

    /// Returns a summary in one line, for users and models.
    pub fn summary(&self) -> String {
        let branch =
            self.branch.as_deref().map_or("no branch".to_owned(), |branch| format!("branch {branch}"));
        let commit =
            self.commit.as_deref().map_or("no commit yet".to_owned(), |commit| format!("commit {commit}"));
        let operation =
            self.operation.map(|operation| format!(", {operation} in progress")).unwrap_or_default();
        format!("git, {branch}, {commit}{operation}")
    }
}

fn own_folder(root: &Path) -> Option<PathBuf> {
    let path = root.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    let link = text(&path)?;
    Some(root.join(link.strip_prefix("gitdir: ")?.trim_end()))
}

fn commit_of(shared: &Path, name: &str) -> Option<String> {
    if Path::new(name).components().any(|part| part == std::path::Component::ParentDir) {
        return None;
    }
    if let Some(commit) = text(&shared.join(name)) {
        return Some(commit.trim_end().to_owned());
    }
    let packed = text(&shared.join("packed-refs"))?;
    packed.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
}

/// Returns the URL of `origin` in a git configuration file.
fn remote(config: &str) -> Option<Repository> {
    let section = config.split_once("[remote \"origin\"]")?.1;
    let section = section.split("\n[").next()?;
    let url =
        section.lines().find_map(|line| line.trim().strip_prefix("url")?.trim_start().strip_prefix('='))?;
    repository(url.trim())
}

/// Returns owner and name, the last two parts of a URL. Drops the rest of the URL: it may contain a password.
fn repository(url: &str) -> Option<Repository> {
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?.1,
        None => url.rsplit_once(':').map_or(url, |(_, path)| path),
    };
    let path = path.trim_end_matches('/');
    let mut parts = path.trim_end_matches(".git").rsplit('/');
    let name = parts.next().filter(|name| !name.is_empty())?;
    let owner = parts.next().filter(|owner| !owner.is_empty() && url.contains(['@', ':']));
    Some(Repository { owner: owner.map(plain), name: plain(name) })
}

fn is_hash(text: &str) -> bool {
    text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Removes characters that are unsafe in prompts and on terminals.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

fn text(path: &Path) -> Option<String> {
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    fs_err::File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn repository_is_read_with_loose_and_packed_refs() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        assert_eq!(Git::read(folder.path()), None);
        write(".git/HEAD", "ref: refs/heads/feature/x\n");
        let git = Git::read(folder.path()).unwrap();
        assert_eq!(git.summary(), "git, branch feature/x, no commit yet");
        write(".git/packed-refs", &format!("# pack\n{HASH} refs/heads/feature/x\n"));
        write(".git/MERGE_HEAD", HASH);
        write(
            ".git/config",
            "[core]\n[remote \"origin\"]\n\turl = https://u:pass@host/me/proj.git\n[branch \"x\"]\n\turl = no\n",
        );
        let git = Git::read(folder.path()).unwrap();
        assert_eq!(git.summary(), "git, branch feature/x, commit 0123456789, merge in progress");
        assert_eq!(git.remote, Some(Repository { owner: Some("me".to_owned()), name: "proj".to_owned() }));

        write(".git/worktrees/w/HEAD", &format!("{HASH}\n"));
        write(".git/worktrees/w/commondir", "../..\n");
        let own = folder.path().join(".git/worktrees/w");
        write("other/.git", &format!("gitdir: {}\n", own.display()));
        let git = Git::read(&folder.path().join("other")).unwrap();
        assert_eq!(git.summary(), "git, no branch, commit 0123456789");
        assert!(git.remote.is_some());
    }

    #[test]
    fn owner_and_name_come_from_remote_urls() {
        let cases = [
            ("git@github.com:me/proj.git", Some("me"), "proj"),
            ("https://github.com/me/proj/", Some("me"), "proj"),
            ("ssh://git@host:22/group/sub/proj.git", Some("sub"), "proj"),
            ("/srv/git/proj.git", None, "proj"),
            ("../proj", None, "proj"),
        ];
        for (url, owner, name) in cases {
            let expected = Repository { owner: owner.map(str::to_owned), name: name.to_owned() };
            assert_eq!(repository(url), Some(expected), "{url}");
        }
        assert_eq!(repository("https://host"), None);
    }
}
