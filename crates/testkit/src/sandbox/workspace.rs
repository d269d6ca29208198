//! Creates the workspace of an agent: a git repository with one file and one commit, the same every time.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The content of `README.md` in a new workspace.
pub const README: &str = "# Workspace\n\nA place for an agent to work in.\n";

pub(super) fn create(workspace: &Path, home: &Path) -> Result<()> {
    fs_err::create_dir_all(workspace)?;
    fs_err::write(workspace.join("README.md"), README)?;
    git(workspace, home, &["init", "--quiet", "--initial-branch=main"])?;
    git(workspace, home, &["config", "user.name", "Sandbox"])?;
    git(workspace, home, &["config", "user.email", "sandbox@example.invalid"])?;
    // maintenance would run in the background and count as a leftover
    git(workspace, home, &["config", "gc.auto", "0"])?;
    git(workspace, home, &["config", "maintenance.auto", "false"])?;
    git(workspace, home, &["add", "README.md"])?;
    git(workspace, home, &["commit", "--quiet", "--message", "Start"])
}

/// Fixed dates and no external settings, so that the commit has the same id everywhere.
#[expect(clippy::disallowed_methods, reason = "a helper that ends at once, waited for here; not an agent")]
fn git(workspace: &Path, home: &Path, args: &[&str]) -> Result<()> {
    const DATE: &str = "2026-01-01T00:00:00Z";
    let output = Command::new("git")
        .args(args)
        .current_dir(workspace)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", DATE)
        .env("GIT_COMMITTER_DATE", DATE)
        .stdin(Stdio::null())
        .output()
        .context("cannot start `git`")?;
    if !output.status.success() {
        bail!("`git {}` failed: {}", args.join(" "), String::from_utf8_lossy(&output.stderr).trim_end());
    }
    Ok(())
}
