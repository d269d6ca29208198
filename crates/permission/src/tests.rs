//! Verdicts: what runs, what needs permission, what is refused.

mod advisories;
mod against_bash;
mod decisions;
mod harmless;
mod help;
mod options;
mod table;
mod versions;
mod wrappers;

use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

/// A workspace with a few files, beside a home directory and another directory.
pub(super) struct TestWorkspace {
    pub(super) folder: TempDir,
    pub(super) workspace: Workspace,
    pub(super) policy: Policy,
}

impl TestWorkspace {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = fs_err::canonicalize(folder.path()).unwrap();
        for name in [
            "work/src",
            "work/.git/hooks",
            "work/sub",
            "home/.ssh",
            "out",
            "work/bare/refs",
            "work/bare/objects",
        ] {
            fs_err::create_dir_all(root.join(name)).unwrap();
        }
        for name in
            ["work/a.txt", "work/src/main.rs", "work/.env", "work/bare/HEAD", "home/.ssh/id_rsa", "out/o.txt"]
        {
            fs_err::write(root.join(name), "one\ntwo\n").unwrap();
        }
        std::os::unix::fs::symlink("../out", root.join("work/door")).unwrap();
        std::os::unix::fs::symlink("../home/.ssh/id_rsa", root.join("work/notes")).unwrap();
        let workspace = Workspace::open(root.join("work")).unwrap();
        let policy = Policy { home: root.join("home"), ..Policy::default() };
        Self { folder, workspace, policy }
    }

    pub(super) fn at(&self, autonomy: Autonomy) -> Policy {
        Policy { autonomy, ..self.policy.clone() }
    }

    pub(super) fn call(&self, policy: &Policy, tool: &str, action: Action<'_>) -> Verdict {
        decide(policy, &Call::new(tool, action), &self.workspace)
    }

    pub(super) fn run(&self, policy: &Policy, command: &str) -> Verdict {
        self.call(policy, "Execute", Action::Command { line: command, reason: Some("says the model") })
    }

    /// Returns the lowest autonomy level at which a command runs without asking; `None` if it always needs permission.
    pub(super) fn level(&self, command: &str) -> Option<Autonomy> {
        let levels = [Autonomy::Off, Autonomy::Low, Autonomy::Medium, Autonomy::High];
        levels.into_iter().find(|level| matches!(self.run(&self.at(*level), command), Verdict::Run(_)))
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        fs_err::canonicalize(self.folder.path()).unwrap().join(name)
    }
}

pub(super) fn asked(verdict: Verdict) -> PermissionRequest {
    match verdict {
        Verdict::Ask(request) => *request,
        other => panic!("not asked for: {other:?}"),
    }
}

/// Returns the number of test cases: `least`, or more if `PROPTEST_CASES` says so.
pub(super) fn cases(least: u32) -> u32 {
    proptest::test_runner::Config::default().cases.max(least)
}
