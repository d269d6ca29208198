//! The shell that runs commands, and what applies to each of them: only the given environment, no start-up files, no core dumps.

use std::ffi::OsString;
use std::path::Path;

use musher_process::{Command, Sandbox};

/// A command for the shell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shell<'a> {
    pub(crate) command: &'a str,
    pub(crate) cwd: &'a Path,
    pub(crate) environment: &'a [(OsString, OsString)],
    /// What the command may change and connect to; `None` if everything.
    pub(crate) sandbox: Option<&'a Sandbox>,
    /// What starts it in the editor's terminal if it has a sandbox.
    pub(crate) launcher: Option<&'a Path>,
}

impl Shell<'_> {
    /// Returns the program to start. Processes that it leaves running continue until the session ends.
    pub(super) fn program(&self) -> Command {
        let environment = self.environment.iter().map(|(name, value)| (name, value));
        Command::new(path())
            .args(self.arguments())
            .cwd(self.cwd)
            .env_clear()
            .envs(environment)
            .sandbox(self.sandbox.cloned())
            .no_core_dumps()
            .adopt_orphans()
            .keep_descendants()
    }

    pub(super) fn arguments(&self) -> [&str; 4] {
        ["--noprofile", "--norc", "-c", self.command]
    }
}

/// Returns the path of the shell.
pub(super) fn path() -> &'static str {
    let there = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|path| Path::new(path).exists());
    there.unwrap_or("bash")
}
