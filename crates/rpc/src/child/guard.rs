//! Ends what our agents started if we are killed without a word: a small process that outlives us for that.
//!
//! The kernel's parent-death signal reaches the process we forked and no other. Behind a wrapper, such as the launcher of an npm
//! package, the agent itself would live on until it notices the end of its input, or for ever. The guard reads from a pipe whose
//! writing end only we have, and is told there of each agent that begins and ends. The pipe can only come to its end when we are gone:
//! then the guard kills the groups of those that are left, and all that carries their marks. When the last agent has ended, the guard is
//! killed before the pipe is closed, and does nothing.
//!
//! It is a shell and not a fork of this process: a fork would hold on to our memory for as long as an agent lives, and may do
//! next to nothing if we have threads. One is enough for all agents: fifty of them would be larger than we are.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

use super::ParentDeath;

/// Reads `watch MARK GROUP END` and `leave MARK`. Its argument are the seconds that those to be interrupted have to end by themselves.
///
/// A process may fork while it is killed, so the marked ones are looked for until there are none. Of a zombie the environment is empty.
const SCRIPT: &str = r#"
cd /; trap '' HUP INT TERM
line='
'
agents=
while read -r order agent; do
    case $order$agents in
    watch*) agents=$agents$line$agent ;;
    leave*"$line$agent "*)
        before=${agents%%"$line$agent "*} after=${agents#*"$line$agent "}
        case $after in
        *"$line"*) agents=$before$line${after#*"$line"} ;;
        *) agents=$before ;;
        esac ;;
    esac
done
end() {
    how=$1 marks=
    set -- $agents
    while [ $# -ge 3 ]; do
        if [ "$3" = "$how" ]; then kill -s KILL -- "-$2"; marks="$marks -e $1"; fi
        shift 3
    done
    [ "$marks" ] || return
    for round in 1 2 3 4 5 6 7 8 9 10; do
        marked=$(grep -Fls $marks /proc/[0-9]*/environ)
        [ "$marked" ] || return
        for file in $marked; do file=${file#/proc/}; kill -s KILL -- "${file%/environ}"; done
        sleep 0.1
    done
}
end kill
case $agents in *interrupt*) sleep "$1"; end interrupt ;; esac
"#;

/// How long a program that is interrupted when we die has for ending what it started, in seconds.
const AFTER_INTERRUPT: &str = "2";

/// The one of this process.
static GUARD: Mutex<Guard> = Mutex::new(Guard::new());

/// An agent that is guarded until this is dropped.
#[derive(Debug)]
pub(super) struct Guarded {
    mark: String,
}

impl Guarded {
    /// Guards the group that `leader` leads and all processes with this mark in their environment.
    pub(super) fn new(leader: Pid, mark: &str, parent_death: ParentDeath) -> io::Result<Self> {
        guard().watch(leader, mark, parent_death)?;
        Ok(Self { mark: mark.to_owned() })
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        guard().leave(&self.mark);
    }
}

fn guard() -> MutexGuard<'static, Guard> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The agents that are guarded, and the shell that does it while there are any.
#[derive(Debug)]
struct Guard {
    shell: Option<Shell>,
    /// What the shell was told of each, by their marks.
    agents: BTreeMap<String, String>,
}

impl Guard {
    const fn new() -> Self {
        Self { shell: None, agents: BTreeMap::new() }
    }

    fn watch(&mut self, leader: Pid, mark: &str, parent_death: ParentDeath) -> io::Result<()> {
        let end = match parent_death {
            ParentDeath::Kill => "kill",
            ParentDeath::Interrupt => "interrupt",
        };
        let order = format!("watch {mark} {leader} {end}\n");
        self.agents.insert(mark.to_owned(), order.clone());
        self.tell(&order).inspect_err(|_| drop(self.agents.remove(mark)))
    }

    fn leave(&mut self, mark: &str) {
        if self.agents.remove(mark).is_none() {
            return;
        }
        if self.agents.is_empty() {
            self.shell = None;
        } else if let Err(error) = self.tell(&format!("leave {mark}\n")) {
            tracing::debug!(%error, "no guard: only the processes themselves are ended should we be killed");
        }
    }

    /// Tells the shell, or a new one all there is to know: somebody may have killed or stopped it.
    fn tell(&mut self, order: &str) -> io::Result<()> {
        if self.shell.as_mut().is_some_and(|shell| shell.pipe.write_all(order.as_bytes()).is_ok()) {
            return Ok(());
        }
        // the old one first, while its pipe is open
        self.shell = None;
        let mut shell = Shell::start()?;
        for order in self.agents.values() {
            shell.pipe.write_all(order.as_bytes())?;
        }
        self.shell = Some(shell);
        Ok(())
    }
}

/// The process. Dismissed when dropped.
#[derive(Debug)]
struct Shell {
    process: Child,
    /// Closed after the process is gone.
    pipe: ChildStdin,
}

impl Shell {
    fn start() -> io::Result<Self> {
        let mut process = command().spawn()?;
        let pipe =
            process.stdin.take().ok_or_else(|| io::Error::other("bug: the pipe of the guard is gone"))?;
        // one that was stopped must not stop us
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self { process, pipe })
    }
}

fn command() -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the place where agents are started")]
    let mut command = Command::new("/bin/sh");
    // an empty environment, so that it carries no mark itself, and a group of its own, so that what ends ours leaves it alone
    command.arg0("agent-guard").env_clear().process_group(0);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
    command.args(["-c", SCRIPT, "agent-guard", AFTER_INTERRUPT]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

impl Drop for Shell {
    fn drop(&mut self) {
        // fails if somebody else has ended it
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

#[cfg(test)]
mod tests;
