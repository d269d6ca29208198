//! Ends what an agent started if we are killed without a word: a small process that outlives us for that.
//!
//! The kernel's parent-death signal reaches the process we forked and no other. Behind a wrapper, such as the launcher of an npm
//! package, the agent itself would live on until it notices the end of its input, or for ever. The guard holds the reading end of a
//! pipe whose writing end only we have. It can only come to its end when we are gone: then the guard kills the group and all that
//! carries the mark. When the agent has ended, the guard is killed before the pipe is closed, and does nothing.
//!
//! It is a shell and not a fork of this process: a fork would hold on to our memory for as long as the agent lives, and may do
//! next to nothing if we have threads.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::Pid;

use super::ParentDeath;

/// Arguments: the group, the mark, and the seconds that the agent has to end by itself.
///
/// A process may fork while it is killed, so the marked ones are looked for until there are none. Of a zombie the environment is empty.
const SCRIPT: &str = r#"
cd /; trap '' HUP INT TERM; read -r _
[ "$3" = 0 ] || sleep "$3"
kill -s KILL -- "-$1"
for round in 1 2 3 4 5 6 7 8 9 10; do
    marked=$(grep -Fls -- "$2" /proc/[0-9]*/environ)
    [ "$marked" ] || exit 0
    for file in $marked; do file=${file#/proc/}; kill -s KILL -- "${file%/environ}"; done
    sleep 0.1
done
"#;

/// How long a program that is interrupted when we die has for ending what it started, in seconds.
const AFTER_INTERRUPT: &str = "2";

/// The guard of one agent. Dismissed when dropped.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
    /// Closed after the shell is gone.
    _pipe: Option<ChildStdin>,
}

impl Guard {
    /// Starts the guard of the group that `leader` leads and of all processes with this mark in their environment.
    pub(super) fn start(leader: Pid, mark: &str, parent_death: ParentDeath) -> io::Result<Self> {
        let patience = match parent_death {
            ParentDeath::Kill => "0",
            ParentDeath::Interrupt => AFTER_INTERRUPT,
        };
        #[expect(clippy::disallowed_methods, reason = "this is the place where agents are started")]
        let mut command = Command::new("/bin/sh");
        // an empty environment, so that it carries no mark itself, and a group of its own, so that what ends ours leaves it alone
        command.arg0("agent-guard").env_clear().process_group(0);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
        command.args(["-c", SCRIPT, "agent-guard", &leader.to_string(), mark, patience]);
        let mut shell = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let pipe = shell.stdin.take();
        Ok(Self { shell, _pipe: pipe })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // fails if somebody else has ended it
        self.shell.kill().ok();
        self.shell.wait().ok();
    }
}
