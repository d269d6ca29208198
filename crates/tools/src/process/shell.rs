//! The shell that runs commands, and what holds for each of them: our environment only, no start-up files, no core dumps.

use std::ffi::OsString;
use std::path::Path;

use musher_process::Command;

/// A command to be run by the shell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shell<'a> {
    pub(crate) command: &'a str,
    pub(crate) cwd: &'a Path,
    pub(crate) environment: &'a [(OsString, OsString)],
}

impl Shell<'_> {
    /// The program to start. What it leaves running lives on until the session ends.
    pub(super) fn program(&self) -> Command {
        let environment = self.environment.iter().map(|(name, value)| (name, value));
        Command::new(path())
            .args(self.arguments())
            .cwd(self.cwd)
            .env_clear()
            .envs(environment)
            .no_core_dumps()
            .adopt_orphans()
            .keep_remains()
    }

    pub(super) fn arguments(&self) -> [&str; 4] {
        ["--noprofile", "--norc", "-c", self.command]
    }
}

/// Where the shell is.
pub(super) fn path() -> &'static str {
    let there = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists());
    there.unwrap_or("bash")
}
