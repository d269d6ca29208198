//! A small repository with a failing test, in a temporary directory.
//!
//! It needs `sh` only. With git it is a git repository, too.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use musher_engine::SessionId;
use musher_engine::store::Store;
use tempfile::TempDir;

/// The program with the fault.
pub(super) const FAULTY: &str = include_str!("leap.sh");
const TEST: &str = include_str!("test.sh");

/// A repository, and a home for the agent beside it.
#[derive(Debug)]
pub(super) struct Repository {
    folder: TempDir,
}

/// The outcome of the test.
#[derive(Debug)]
pub(super) struct TestRun {
    pub(super) passed: bool,
    pub(super) output: String,
}

impl Repository {
    pub(super) fn create() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("musher-demo-").tempdir()?;
        let repository = Self { folder };
        fs_err::create_dir(repository.path())?;
        fs_err::create_dir(repository.home())?;
        fs_err::write(repository.program(), FAULTY)?;
        fs_err::write(repository.path().join("test.sh"), TEST)?;
        repository.commit();
        Ok(repository)
    }

    /// Returns the working directory of the agent.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("leap-years")
    }

    /// Returns the home of the agent, with its sessions.
    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(super) fn program(&self) -> PathBuf {
        self.path().join("leap.sh")
    }

    /// Runs the test.
    pub(super) fn test(&self) -> io::Result<TestRun> {
        let output = self.command("sh", ["test.sh"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(TestRun { passed: output.status.success(), output: text })
    }

    /// Returns the path of the stored session.
    pub(super) fn session_file(&self, id: &str) -> Option<PathBuf> {
        Store::open(self.home()).find(&SessionId::parse(id)?)
    }

    /// Keeps the directory.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }

    /// Creates a git repository if git is installed; git is optional.
    fn commit(&self) {
        let git = |arguments: &[&str]| {
            let author = ["-c", "user.name=musher", "-c", "user.email=musher@localhost"];
            let ran = self.command("git", author.iter().chain(arguments)).output();
            ran.is_ok_and(|output| output.status.success())
        };
        let _is_one = git(&["init", "--quiet"])
            && git(&["add", "."])
            && git(&["commit", "--quiet", "-m", "Leap years"]);
    }

    #[expect(clippy::disallowed_methods, reason = "no agent: a test and git, which end by themselves")]
    fn command(&self, program: &str, arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_fails_until_the_fault_is_fixed() {
        let repository = Repository::create().unwrap();
        let before = repository.test().unwrap();
        assert!(!before.passed, "{}", before.output);
        assert!(before.output.contains("1900"), "{}", before.output);
        assert!(super::super::SCRIPT.contains("leap.sh"));
    }

    #[test]
    fn folder_goes_away() {
        let repository = Repository::create().unwrap();
        let path = repository.path();
        assert!(path.is_dir());
        drop(repository);
        assert!(!path.exists());
    }
}
