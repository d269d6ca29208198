//! The guard: a small shell that briefly outlives this process, to kill its remaining programs.
//!
//! The kernel's parent-death signal only reaches the process that was forked. Behind a wrapper, such as the launcher of an npm
//! package, the program itself would run until it notices the end of its input, or forever, and so would its descendants. The guard
//! reads the process groups of all programs from a pipe whose writing end only this process has. The pipe ends only when this
//! process dies: then the guard kills those groups and all processes with the marks of this process.
//!
//! One guard serves all programs of this process. It runs while a program is running, and permanently once a program may leave
//! descendants behind. To stop it, it is killed before its pipe is closed, so that it kills nothing.
//!
//! The guard is a shell and not a fork of this process, because a fork would keep the memory of this process for as long as a
//! program runs, and may make hardly any calls if this process has threads.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

use crate::{Mark, ParentDeath};

/// The program of the guard. Reads `watch KEY GROUP END` and `leave KEY`, where END is `kill` or `interrupt`.
///
/// Its arguments are the seconds between the two ends, and for each end the options of `grep` that find its processes. A process may
/// fork while it is killed, or fork and exit between the listing of processes and the search in them, so the guard searches until three
/// searches in a row find none. A zombie keeps its limits, and is ignored.
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
    clean=0
    for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
        found=
        for file in $(grep -lsaF $marks /proc/[0-9]*/environ /proc/[0-9]*/limits); do
            process=${file%/*}
            kill -s KILL -- "${process#/proc/}" && ! grep -qs '^State:.Z' "$process/status" && found=1
        done
        clean=$((clean + 1))
        [ "$found" ] && clean=0
        [ $clean = 3 ] && return
        sleep 0.05
    done
}
end kill "$2"
case $groups in *interrupt*) sleep "$1" ;; esac
end interrupt "$3"
"#;

/// Time that an interrupted program has to end its own children when this process dies, in seconds.
const INTERRUPT_TIMEOUT: &str = "2";

/// Name of the guard in process lists.
const NAME: &str = "musher-guard";

static GUARD: Mutex<Guard> = Mutex::new(Guard::new());

/// Starts the guard, unless it is running, for programs that have a [`Mark`] of this process and are started by another process.
/// Blocks briefly.
///
/// [`Command::spawn`](crate::Command::spawn) does this automatically.
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
    guard.is_permanent = true;
    guard.ensure();
}

/// Registration of a program with the guard. Dropping it removes the program.
#[derive(Debug)]
pub(crate) struct Registration {
    mark: Mark,
}

impl Registration {
    /// Starts the guard, if necessary, before the program starts.
    pub(crate) fn new(mark: &Mark) -> Self {
        guard().reserve(mark);
        Self { mark: mark.clone() }
    }

    /// Registers the process group of `leader`. With `keeps_descendants`, the guard runs permanently.
    pub(crate) fn follow(&self, leader: Pid, parent_death: ParentDeath, keeps_descendants: bool) {
        let mut guard = guard();
        guard.is_permanent |= keeps_descendants;
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

/// The registered programs, and the guard shell while there are any.
#[derive(Debug)]
struct Guard {
    shell: Option<Shell>,
    /// The order sent to the shell for each program, by mark; `None` if the program has not been forked yet.
    orders: BTreeMap<String, Option<String>>,
    /// Whether programs that have ended may have left descendants.
    is_permanent: bool,
}

impl Guard {
    const fn new() -> Self {
        Self { shell: None, orders: BTreeMap::new(), is_permanent: false }
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
        self.send(&order);
    }

    fn leave(&mut self, mark: &Mark) {
        let known = self.orders.remove(mark.as_str());
        if self.orders.is_empty() && !self.is_permanent {
            self.shell = None;
        } else if let Some(Some(_order)) = known {
            self.send(&format!("leave {}\n", mark.as_str()));
        }
    }

    /// Starts the shell, unless it is running.
    fn ensure(&mut self) {
        let is_running =
            self.shell.as_mut().is_some_and(|shell| matches!(shell.process.try_wait(), Ok(None)));
        if !is_running {
            self.replace();
        }
    }

    /// Sends an order to the shell. If that fails, because the shell was killed or stopped, starts a new one with all orders.
    fn send(&mut self, order: &str) {
        if self.shell.as_mut().is_none_or(|shell| shell.pipe.write_all(order.as_bytes()).is_err()) {
            self.replace();
        }
    }

    fn replace(&mut self) {
        // kill the old shell first, while its pipe is open
        self.shell = None;
        match self.started() {
            Ok(shell) => self.shell = Some(shell),
            Err(error) => {
                tracing::warn!(%error, "cannot start the guard: descendants of programs may outlive a crash");
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

/// The process of the guard. Dropping it kills the process.
#[derive(Debug)]
struct Shell {
    process: Child,
    /// Closed after the process has ended.
    pipe: ChildStdin,
}

impl Shell {
    fn start() -> io::Result<Self> {
        let [killed, interrupted] = [ParentDeath::Kill, ParentDeath::Interrupt].map(Mark::of_owner);
        let mut process = command(INTERRUPT_TIMEOUT, killed, interrupted).spawn()?;
        let pipe = process.stdin.take().ok_or_else(|| io::Error::other("bug: the guard has no pipe"))?;
        let shell = Self { process, pipe };
        // a stopped guard must not block this process
        rustix::io::ioctl_fionbio(&shell.pipe, true)?;
        Ok(shell)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // fails if the process has already ended
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

fn command(grace: &str, killed: &Mark, interrupted: &Mark) -> Command {
    #[expect(clippy::disallowed_methods, reason = "this is the place where programs are started")]
    let mut command = Command::new("/bin/sh");
    // An empty environment, so that it has no mark of this process, and a group of its own, so that signals to this group do not
    // reach it. `NAME` is not `argv[0]`, because multi-call binaries such as BusyBox select the program by that.
    command.env_clear().env("PATH", path()).process_group(0);
    command.args(["-c", SCRIPT, NAME, grace, &grep_options(killed), &grep_options(interrupted)]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Returns the options of `grep` that find a mark in environments and in limits.
fn grep_options(mark: &Mark) -> String {
    let [soft, hard] = mark.limit().texts();
    format!("-e {} -e {soft} -e {hard}", mark.as_str())
}

/// Returns the search path of the guard for `grep` and `sleep`: that of this process, and the standard directories.
fn path() -> OsString {
    let standard = OsString::from("/usr/bin:/bin");
    match std::env::var_os("PATH") {
        Some(mut path) if !path.is_empty() => {
            path.push(":");
            path.push(standard);
            path
        }
        _ => standard,
    }
}

#[cfg(test)]
mod tests;
