//! The uncommitted changes of the repository, as git reports them.
//!
//! A repository can name programs in its configuration that `git status` would run: filters of file contents, a monitor of the file
//! system, a transport that fetches missing objects. All of them are off here; with filters of its own, the repository gets no report.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use musher_tools::{Ended, Sandbox};
use tokio_util::sync::CancellationToken;

use super::reminders::{block, cut};
use crate::hooks::run_command;

/// The maximum time for the report. The first call of the model waits for it.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of files in the report.
const MAX_FILES: usize = 30;
/// The maximum length of a path in the report, in bytes.
const MAX_PATH: usize = 200;

const COMMAND: &str = r#"
export GIT_OPTIONAL_LOCKS=0 GIT_NO_LAZY_FETCH=1 GIT_ALLOW_PROTOCOL= GIT_TERMINAL_PROMPT=0
filters=$(git config --show-scope --name-only --get-regexp '^filter\.' 2>/dev/null)
[ $? -le 1 ] || exit 3
case $'\n'"$filters" in *$'\n'local*|*$'\n'worktree*) exit 3 ;; esac
exec git -c core.fsmonitor=false status --porcelain=v1 -z --no-renames --ignore-submodules=all --untracked-files=normal
"#;

/// Returns the block with the uncommitted changes of a repository, or `None` if there is no report.
pub async fn working_tree(
    root: &Path,
    variables: &[(OsString, OsString)],
    sandbox: Option<&Sandbox>,
    cancel: &CancellationToken,
) -> Option<String> {
    let output = run_command(COMMAND, root, variables, b"", TIMEOUT, sandbox, cancel).await.ok()?;
    (output.ended == Ended::Exited(0)).then(|| block(&report(&output.stdout)))
}

/// Formats the output of `git status --porcelain=v1 -z`.
fn report(status: &str) -> String {
    let files: Vec<&str> = status.split('\0').filter(|entry| !entry.is_empty()).collect();
    if files.is_empty() {
        return "Working tree at the start of the session: clean.".to_owned();
    }
    let mut text = "Uncommitted changes at the start of the session (`git status --short`):".to_owned();
    for file in files.iter().take(MAX_FILES) {
        text.push('\n');
        text.extend(cut(file, MAX_PATH).chars().filter(|c| !c.is_control()));
    }
    if let Some(more @ 1..) = files.len().checked_sub(MAX_FILES) {
        text.extend(["\n(", &more.to_string(), " more)"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs commands in a new repository with one committed file.
    async fn repository(more: &str) -> (tempfile::TempDir, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let variables: Vec<(OsString, OsString)> = [
            ("PATH", "/usr/bin:/bin:/usr/local/bin"),
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let setup = format!(
            "git init -q . && git config user.name a && git config user.email a@b && echo 1 > kept && echo 1 > 'old file' && git add . && \
             git commit -qm first && {more}"
        );
        let cancel = CancellationToken::new();
        let ran =
            run_command(&setup, folder.path(), &variables, b"", Duration::from_mins(1), None, &cancel).await;
        let ran = ran.unwrap();
        assert_eq!(ran.ended, Ended::Exited(0), "{}", ran.stderr);
        let report = working_tree(folder.path(), &variables, Some(&Sandbox::read_only()), &cancel).await;
        (folder, report)
    }

    #[tokio::test]
    async fn clean_tree_is_one_line() {
        let (_folder, report) = repository("true").await;
        let expected =
            "<system-reminder>\nWorking tree at the start of the session: clean.\n</system-reminder>";
        assert_eq!(report.as_deref(), Some(expected));
    }

    #[tokio::test]
    async fn staged_changed_and_new_files_are_listed() {
        let (_folder, report) = repository(
            "echo 2 > 'old file' && echo 3 > staged && git add staged && mkdir new && echo > new/x",
        )
        .await;
        let report = report.unwrap();
        for line in ["\n M old file\n", "\nA  staged\n", "\n?? new/\n"] {
            assert!(report.contains(line), "{report}");
        }
    }

    #[tokio::test]
    async fn programs_of_the_repository_do_not_run() {
        let filter = "git config filter.x.clean 'touch ran; cat' && echo '* filter=x' > .gitattributes && echo 2 > kept";
        let (folder, report) = repository(filter).await;
        assert_eq!(report, None);
        assert!(!folder.path().join("ran").exists());
        let monitor = "git config core.fsmonitor 'touch ran #' && echo 2 > kept";
        let (folder, report) = repository(monitor).await;
        assert!(report.unwrap().contains(" M kept"));
        assert!(!folder.path().join("ran").exists());
    }

    #[tokio::test]
    async fn folder_without_a_repository_has_no_report() {
        let folder = tempfile::tempdir().unwrap();
        let variables = [("PATH".into(), "/usr/bin:/bin".into())];
        assert_eq!(working_tree(folder.path(), &variables, None, &CancellationToken::new()).await, None);
    }

    #[test]
    fn report_is_bounded() {
        let status =
            (0..50).map(|number| format!("?? {number}{}\0", "x".repeat(500))).collect::<Vec<_>>().concat();
        let report = report(&status);
        assert!(report.ends_with("(20 more)") && report.len() < MAX_FILES * (MAX_PATH + 1) + 100, "{report}");
    }
}
