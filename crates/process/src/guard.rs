//! The guard: a small shell that outlives this process for a moment, to kill what our programs left running.
//!
//! The kernel's parent-death signal reaches the process we forked and no other. Behind a wrapper, such as the launcher of an npm
//! package, the program itself would live on until it notices the end of its input, or for ever; and so would whatever it started. The
//! guard reads from a pipe whose writing end only we have, and learns there which process groups are ours. The pipe can only end when we
//! are gone: then the guard kills those groups and everything that carries our marks.
//!
//! One guard serves all programs of this process. It runs while there is a program, and for good once a program may leave something
//! behind. It is dismissed by killing it before its pipe is closed, and then does nothing.
//!
//! It is a shell and not a fork of this process: a fork would hold on to our memory for as long as a program lives, and may do next to
//! nothing if we have threads.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

use crate::{Mark, ParentDeath};

/// Reads `watch KEY GROUP END` and `leave KEY`, where END is `kill` or `interrupt`.
///
/// Its arguments are the seconds between the two ends, and for each of them the options of `grep` that find its processes. A process may
/// fork while it is killed, so the guard looks until there are none. A zombie keeps its limits, and is not waited for.
const SCRIPT: &str = r#"
cd /; trap '' HUP INT TERM QUIT PIPE
line='
'
groups=
while read -r order entry; do
    case $order$groups in
    watch*) groups=$groups$line$entry ;;
    leave*"$line$entry "*)
        before=${groups%%"$line$entry "*} after=${groups#*"$line$entry "}
        case $after in
        *"$line"*) groups=$before$line${after#*"$line"} ;;
        *) groups=$before ;;
        esac ;;
    esac
done
end() {
    how=$1 marks=$2
    set -- $groups
    while [ $# -ge 3 ]; do
        [ "$3" = "$how" ] && kill -s KILL -- "-$2"
        shift 3
    done
    for round in 1 2 3 4 5 6 7 8 9 10; do
        found=
        for file in $(grep -lsaF $marks /proc/[0-9]*/environ /proc/[0-9]*/limits); do
            process=${file%/*}
            kill -s KILL -- "${process#/proc/}" && ! grep -qs '^State:.Z' "$process/status" && found=1
        done
        [ "$found" ] || return
        sleep 0.1
    done
}
end kill "$2"
case $groups in *interrupt*) sleep "$1" ;; esac
end interrupt "$3"
"#;

/// How long a program that is interrupted when we die may take to end what it started, in seconds.
const GRACE_AFTER_INTERRUPT: &str = "2";

/// The name of the guard in lists of processes.
const NAME: &str = "musher-guard";

static GUARD: Mutex<Guard> = Mutex::new(Guard::new());

/// Starts the guard, unless it is running, for programs that carry a [`Mark`] of ours and are started by another process. Blocks for a moment.
///
/// [`Command::spawn`](crate::Command::spawn) does this by itself.
///
/// ```
/// use musher_process::{Mark, start_guard};
///
/// let mark = Mark::random();
/// start_guard();
/// // from now on a program that an editor starts with `mark` ends with this process
/// # drop(mark);
/// ```
pub fn start_guard() {
    let mut guard = guard();
    guard.is_for_good = true;
    guard.ensure();
}

/// A program that the guard knows of, until this is dropped.
#[derive(Debug)]
pub(crate) struct Registration {
    mark: Mark,
}

impl Registration {
    /// Makes sure that the guard runs before the program does.
    pub(crate) fn new(mark: &Mark) -> Self {
        guard().reserve(mark);
        Self { mark: mark.clone() }
    }

    /// Tells the guard of the group that `leader` leads. After `keeps_remains` the guard runs for good.
    pub(crate) fn follow(&self, leader: Pid, parent_death: ParentDeath, keeps_remains: bool) {
        let mut guard = guard();
        guard.is_for_good |= keeps_remains;
        guard.watch(&self.mark, leader, parent_death);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        guard().leave(&self.mark);
    }
}

fn guard() -> MutexGuard<'static, Guard> {
    GUARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The programs that are guarded, and the shell that does it while there are any.
#[derive(Debug)]
struct Guard {
    shell: Option<Shell>,
    /// What the shell was told of each program, by its mark. Nothing of one that is about to be forked.
    orders: BTreeMap<String, Option<String>>,
    /// Something may be left of programs that have ended.
    is_for_good: bool,
}

impl Guard {
    const fn new() -> Self {
        Self { shell: None, orders: BTreeMap::new(), is_for_good: false }
    }

    fn reserve(&mut self, mark: &Mark) {
        self.orders.insert(mark.as_str().to_owned(), None);
        self.ensure();
    }

    fn watch(&mut self, mark: &Mark, leader: Pid, parent_death: ParentDeath) {
        let end = match parent_death {
            ParentDeath::Kill => "kill",
            ParentDeath::Interrupt => "interrupt",
        };
        let order = format!("watch {} {leader} {end}\n", mark.as_str());
        self.orders.insert(mark.as_str().to_owned(), Some(order.clone()));
        self.tell(&order);
    }

    fn leave(&mut self, mark: &Mark) {
        let known = self.orders.remove(mark.as_str());
        if self.orders.is_empty() && !self.is_for_good {
            self.shell = None;
        } else if let Some(Some(_order)) = known {
            self.tell(&format!("leave {}\n", mark.as_str()));
        }
    }

    /// Starts the shell, unless it runs.
    fn ensure(&mut self) {
        let is_running =
            self.shell.as_mut().is_some_and(|shell| matches!(shell.process.try_wait(), Ok(None)));
        if !is_running {
            self.replace();
        }
    }

    /// Tells the shell, or a new one everything: somebody may have killed or stopped it.
    fn tell(&mut self, order: &str) {
        if self.shell.as_mut().is_none_or(|shell| shell.pipe.write_all(order.as_bytes()).is_err()) {
            self.replace();
        }
    }

    fn replace(&mut self) {
        // the old one first, while its pipe is open
        self.shell = None;
        match self.started() {
            Ok(shell) => self.shell = Some(shell),
            Err(error) => {
                tracing::warn!(%error, "cannot start the guard: what programs start may outlive a crash");
            }
        }
    }

    fn started(&self) -> io::Result<Shell> {
        let mut shell = Shell::start()?;
        for order in self.orders.values().flatten() {
            shell.pipe.write_all(order.as_bytes())?;
        }
        Ok(shell)
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
        let [killed, interrupted] = [ParentDeath::Kill, ParentDeath::Interrupt].map(Mark::of_owner);
        let mut process = command(GRACE_AFTER_INTERRUPT, killed, interrupted).spawn()?;
        let pipe =
            process.stdin.take().ok_or_else(|| io::Error::other("bug: the pipe of the guard is gone"))?;
        let shell = Self { process, pipe };
        // one that was stopped must not stop us
        rustix::io::ioctl_fionbio(&shell.pipe, true)?;
        Ok(shell)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // fails if somebody else has ended it
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn command(grace: &str, killed: &Mark, interrupted: &Mark) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the place where programs are started")]
    let mut command = Command::new("/bin/sh");
    // An empty environment, so that it carries no mark of ours, and a group of its own, so that what ends ours leaves it alone. The name
    // is not `argv[0]`: a shell that is one of many programs in one file, as in BusyBox, finds itself by that.
    command.env_clear().env("PATH", path()).process_group(0);
    command.args(["-c", SCRIPT, NAME, grace, &found_by(killed), &found_by(interrupted)]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The options of `grep` that find a mark in environments and in limits.
fn found_by(mark: &Mark) -> String {
    let [soft, hard] = mark.limit().texts();
    format!("-e {} -e {soft} -e {hard}", mark.as_str())
}

/// Where the guard looks for `grep` and `sleep`: as we do, and in the usual places.
fn path() -> OsString {
    let usual = OsString::from("/usr/bin:/bin");
    match std::env::var_os("PATH") {
        Some(mut path) if !path.is_empty() => {
            path.push(":");
            path.push(usual);
            path
        }
        _ => usual,
    }
}

#[cfg(test)]
mod tests;
