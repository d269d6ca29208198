//! The changes of a session's working directory, by git: what is changed, and the decisions of the user about it.
//!
//! To show changes, git runs no external diff, no text conversion and no file system monitor that the repository names, only its filters,
//! without which content cannot be compared. A commit runs the hooks of the repository, as a commit in a terminal does.

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use musher_process::{Command, Streams};
use musher_wire::{Extra, Json, RpcError};
use serde_json::json;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::daemon::{error, params};

/// How long git may take.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Maximum size of a diff.
const MAX_OUTPUT: u64 = 4 * 1024 * 1024;
/// Files that git does not know are shown up to this number and size.
const MAX_NEW_FILES: usize = 200;
const MAX_NEW_FILE: u64 = 256 * 1024;

/// The calls that run git.
const KNOWN: [&str; 3] = ["console.get_changes", "console.decide_change", "console.commit"];

pub(crate) fn is_known(method: &str) -> bool {
    KNOWN.contains(&method)
}

/// Answers a call about the changes in a directory.
pub(crate) async fn handle(cwd: PathBuf, method: &str, fields: &Extra) -> Result<Json, RpcError> {
    match method {
        "console.get_changes" => changes(&cwd).await,
        "console.decide_change" => {
            let (decision, patch) = (params::text(fields, "decision")?, params::text(fields, "patch")?);
            let arguments: &[&str] = match decision.as_str() {
                "accept" => &["--cached"],
                "withdraw" => &["--cached", "--reverse"],
                "revert" => &["--reverse"],
                _ => return Err(error::invalid_value("decision", "unknown decision")),
            };
            let arguments = [&["apply", "--whitespace=nowarn"], arguments, &["-"]].concat();
            // below the top, git would silently skip files outside of the directory
            let top = top(&cwd).await?.ok_or_else(|| error::internal("not a git repository"))?;
            git(&top, &arguments, Some(patch)).await?.succeeded()?;
            changes(&cwd).await
        }
        "console.commit" => {
            let message = params::text(fields, "message")?;
            git(&cwd, &["commit", "--quiet", "--file=-"], Some(message)).await?.succeeded()?;
            let made = git(&cwd, &["rev-parse", "--short", "HEAD"], None).await?.succeeded()?;
            Ok(Json::from(json!({"commit": made.trim()})))
        }
        _ => Err(error::unknown_method(method)),
    }
}

/// Returns the top directory of the repository, if there is one.
async fn top(cwd: &Path) -> Result<Option<PathBuf>, RpcError> {
    let top = git(cwd, &["rev-parse", "--show-toplevel"], None).await?.succeeded().ok();
    Ok(top.map(|top| PathBuf::from(top.trim_end_matches('\n'))))
}

/// Returns what is not accepted, what is, and new files.
async fn changes(cwd: &Path) -> Result<Json, RpcError> {
    let Some(top) = top(cwd).await? else {
        return Ok(Json::from(json!({"isRepository": false})));
    };
    // the prefixes are said, because settings of the user change them
    let diff = [
        "diff",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--find-renames",
        "--binary",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    ];
    let open = git(&top, &diff, None).await?;
    let accepted = git(&top, &[&diff[..], &["--cached"]].concat(), None).await?;
    let new = git(&top, &["ls-files", "--others", "--exclude-standard", "-z"], None).await?;
    let is_truncated = open.is_truncated || accepted.is_truncated;
    let (mut open, accepted, new) = (open.succeeded()?, accepted.succeeded()?, new.succeeded()?);
    let names: Vec<String> = new.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let unknown = names.len().saturating_sub(MAX_NEW_FILES);
    let read = spawn_blocking(move || {
        let patches = names.iter().take(MAX_NEW_FILES).filter_map(|name| new_file(&top, name));
        patches.collect::<String>()
    });
    open.push_str(&read.await.unwrap_or_default());
    Ok(Json::from(json!({
        "isRepository": true, "open": open, "accepted": accepted, "isTruncated": is_truncated, "moreNewFiles": unknown,
    })))
}

/// Returns a file that git does not know, as a patch that creates it.
fn new_file(top: &Path, name: &str) -> Option<String> {
    let path = top.join(name);
    let metadata = fs_err::symlink_metadata(&path).ok()?;
    let (before, name) = (quoted(&format!("a/{name}")), quoted(&format!("b/{name}")));
    let head = format!("diff --git {before} {name}\nnew file mode 100644\n");
    if !metadata.is_file() {
        return None;
    }
    let content = (metadata.len() <= MAX_NEW_FILE).then(|| fs_err::read_to_string(&path).ok()).flatten();
    let Some(content) = content.filter(|content| !content.contains('\0')) else {
        return Some(format!("{head}Binary files /dev/null and {name} differ\n"));
    };
    if content.is_empty() {
        return Some(head);
    }
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let mut patch = format!("{head}--- /dev/null\n+++ {name}\n@@ -0,0 +1,{} @@\n", lines.len());
    for line in &lines {
        patch.push('+');
        patch.push_str(line);
    }
    if !content.ends_with('\n') {
        patch.push_str("\n\\ No newline at end of file\n");
    }
    Some(patch)
}

/// Returns a path as git writes it: in quotes and with escapes, if it has to be.
fn quoted(path: &str) -> String {
    if !path.contains(|it: char| it.is_ascii_control() || it == '"' || it == '\\') {
        return path.to_owned();
    }
    let mut text = String::from('"');
    for it in path.chars() {
        match it {
            '"' | '\\' => text.extend(['\\', it]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            it if it.is_ascii_control() => write!(text, "\\{:03o}", u32::from(it)).unwrap_or_default(),
            it => text.push(it),
        }
    }
    text.push('"');
    text
}

/// What git has said.
pub(crate) struct Ran {
    is_success: bool,
    stdout: String,
    stderr: String,
    is_truncated: bool,
}

impl Ran {
    /// Returns what git has printed, if it was successful.
    pub(crate) fn succeeded(self) -> Result<String, RpcError> {
        if self.is_success || self.is_truncated {
            return Ok(self.stdout);
        }
        let text = if self.stderr.trim().is_empty() { self.stdout } else { self.stderr };
        Err(error::internal(format!("git failed: {}", text.trim())))
    }
}

/// Runs git, for other parts of the daemon.
pub(crate) async fn run(cwd: &Path, arguments: &[&str], input: Option<String>) -> Result<Ran, RpcError> {
    git(cwd, arguments, input).await
}

async fn git(cwd: &Path, arguments: &[&str], input: Option<String>) -> Result<Ran, RpcError> {
    let failed = |failure: std::io::Error| error::internal(format!("cannot run git: {failure}"));
    let settings = ["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "diff.noprefix=false"];
    let command = Command::new("git").args(settings).args(arguments).cwd(cwd);
    let command =
        command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C.UTF-8");
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = command.spawn(Streams { stdin, ..Streams::piped() }).await.map_err(failed)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let child = Arc::new(child);
    let writing = spawn_blocking(move || {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            // a program that does not read its input says why
            stdin.write_all(input.as_bytes()).ok();
        }
    });
    let errors = spawn_blocking(move || limited(stderr).0);
    let ran = Arc::clone(&child);
    let output = spawn_blocking(move || {
        let (stdout, is_truncated) = limited(stdout);
        if is_truncated {
            ran.kill();
        }
        (stdout, is_truncated, ran.reap())
    });
    let finished = timeout(TIMEOUT, async { (output.await, errors.await, writing.await) }).await;
    let Ok((output, errors, _)) = finished else {
        child.kill();
        return Err(error::internal("git took too long"));
    };
    let (stdout, is_truncated, status) = output.map_err(|failure| error::internal(failure.to_string()))?;
    let is_success = status.map_err(failed)?.success();
    Ok(Ran { is_success, stdout, stderr: errors.unwrap_or_default(), is_truncated })
}

/// Reads a stream up to the limit. Returns whether there was more.
fn limited(stream: Option<impl Read>) -> (String, bool) {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(MAX_OUTPUT + 1).read_to_end(&mut bytes).ok();
    }
    let limit = usize::try_from(MAX_OUTPUT).unwrap_or(usize::MAX);
    let is_truncated = bytes.len() > limit;
    bytes.truncate(limit);
    (String::from_utf8_lossy(&bytes).into_owned(), is_truncated)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let run = async |arguments: &[&str]| {
            git(folder.path(), arguments, None).await.unwrap().succeeded().unwrap()
        };
        run(&["init", "--quiet"]).await;
        run(&["config", "user.name", "T"]).await;
        run(&["config", "user.email", "t@example.org"]).await;
        fs_err::write(folder.path().join("a.txt"), "one\ntwo\n").unwrap();
        run(&["add", "a.txt"]).await;
        run(&["commit", "--quiet", "-m", "first"]).await;
        folder
    }

    async fn call(folder: &Path, method: &str, params: serde_json::Value) -> serde_json::Value {
        let fields: Extra = serde_json::from_str(&params.to_string()).unwrap();
        handle(folder.to_owned(), method, &fields).await.unwrap().to_value().unwrap()
    }

    #[tokio::test]
    async fn changes_are_shown_accepted_reverted_and_committed() {
        let folder = repository().await;
        fs_err::write(folder.path().join("a.txt"), "one\nTWO\n").unwrap();
        fs_err::write(folder.path().join("new.txt"), "fresh").unwrap();
        let changes = call(folder.path(), "console.get_changes", json!({})).await;
        let open = changes["open"].as_str().unwrap();
        assert!(
            open.contains("-two\n+TWO\n") && open.contains("+++ b/new.txt\n@@ -0,0 +1,1 @@\n+fresh"),
            "{open}"
        );
        let (edit, new) = open.split_at(open.rfind("diff --git").unwrap());

        let changes =
            call(folder.path(), "console.decide_change", json!({"decision": "accept", "patch": new})).await;
        assert!(changes["accepted"].as_str().unwrap().contains("+fresh"), "{changes}");
        let changes =
            call(folder.path(), "console.decide_change", json!({"decision": "revert", "patch": edit})).await;
        assert_eq!(changes["open"], "", "{changes}");
        assert_eq!(fs_err::read_to_string(folder.path().join("a.txt")).unwrap(), "one\ntwo\n");
        let made = call(folder.path(), "console.commit", json!({"message": "Add a file"})).await;
        assert!(made["commit"].as_str().unwrap().len() >= 7, "{made}");
        let log = git(folder.path(), &["log", "--format=%s", "-1"], None).await.unwrap().succeeded().unwrap();
        assert_eq!(log, "Add a file\n");
    }

    #[tokio::test]
    async fn decision_in_a_subdirectory_reaches_files_above_it() {
        let folder = repository().await;
        let below = folder.path().join("below");
        fs_err::create_dir(&below).unwrap();
        git(folder.path(), &["config", "diff.mnemonicPrefix", "true"], None).await.unwrap();
        fs_err::write(folder.path().join("a.txt"), "one\nTWO\n").unwrap();
        let changes = call(&below, "console.get_changes", json!({})).await;
        let open = changes["open"].as_str().unwrap();
        assert!(open.starts_with("diff --git a/a.txt b/a.txt\n"), "{open}");
        let revert = json!({"decision": "revert", "patch": open});
        assert_eq!(call(&below, "console.decide_change", revert).await["open"], "");
        assert_eq!(fs_err::read_to_string(folder.path().join("a.txt")).unwrap(), "one\ntwo\n");
    }

    #[tokio::test]
    async fn file_with_an_unusual_name_and_a_binary_file_are_accepted_and_reverted() {
        let folder = repository().await;
        let name = "a \"quoted\"\\\tname.txt";
        fs_err::write(folder.path().join(name), "fresh\n").unwrap();
        let changes = call(folder.path(), "console.get_changes", json!({})).await;
        let accept = json!({"decision": "accept", "patch": changes["open"]});
        let changes = call(folder.path(), "console.decide_change", accept).await;
        assert_eq!(changes["open"], "", "{changes}");
        assert!(changes["accepted"].as_str().unwrap().contains("+fresh"), "{changes}");

        fs_err::write(folder.path().join("b.bin"), [0, 1, 2]).unwrap();
        git(folder.path(), &["add", "b.bin"], None).await.unwrap().succeeded().unwrap();
        git(folder.path(), &["commit", "--quiet", "-m", "b"], None).await.unwrap().succeeded().unwrap();
        fs_err::write(folder.path().join("b.bin"), [3, 0, 4]).unwrap();
        let changes = call(folder.path(), "console.get_changes", json!({})).await;
        let revert = json!({"decision": "revert", "patch": changes["open"]});
        assert_eq!(call(folder.path(), "console.decide_change", revert).await["open"], "");
        assert_eq!(fs_err::read(folder.path().join("b.bin")).unwrap(), [0, 1, 2]);
    }

    #[tokio::test]
    async fn patch_for_a_file_outside_of_the_repository_is_refused() {
        let folder = repository().await;
        let patch = "diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1,1 @@\n+x\n";
        for decision in ["accept", "withdraw", "revert", "other"] {
            let fields: Extra =
                serde_json::from_str(&json!({"decision": decision, "patch": patch}).to_string()).unwrap();
            assert!(
                handle(folder.path().to_owned(), "console.decide_change", &fields).await.is_err(),
                "{decision}"
            );
        }
    }

    #[tokio::test]
    async fn directory_without_a_repository_has_no_changes() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            call(folder.path(), "console.get_changes", json!({})).await,
            json!({"isRepository": false})
        );
    }

    #[tokio::test]
    async fn program_that_a_repository_names_is_not_run() {
        let folder = repository().await;
        let mark = folder.path().join("ran");
        let script = format!("touch '{}'", mark.display());
        for key in ["diff.external", "diff.evil.textconv", "core.fsmonitor"] {
            git(folder.path(), &["config", key, &script], None).await.unwrap().succeeded().unwrap();
        }
        fs_err::write(folder.path().join(".gitattributes"), "*.txt diff=evil\n").unwrap();
        fs_err::write(folder.path().join("a.txt"), "changed\n").unwrap();
        call(folder.path(), "console.get_changes", json!({})).await;
        assert!(!mark.exists());
    }
}
