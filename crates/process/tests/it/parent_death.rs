//! The death of a whole process, tried on a helper that is killed: nothing it started survives.

use std::io::Write as _;
use std::process::{ChildStdout, Command, Stdio};

use crate::support::{Output, Process, TELL};

/// A process that has started a program. Killed when dropped.
struct Host {
    process: std::process::Child,
    output: Output<ChildStdout>,
}

impl Host {
    fn start(mode: &str, script: &str) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the helper is to be killed, and not by this crate")]
        let mut process = Command::new(env!("CARGO_BIN_EXE_musher-process-host"))
            .args([mode, script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = Output::new(process.stdout.take().unwrap());
        Self { process, output }
    }

    fn reap(&mut self) {
        self.process.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        assert_eq!(self.output.line(), "reaped");
    }

    /// The guard that it has started.
    fn guard(&self) -> Option<Process> {
        // the children are those of the thread that forks
        let threads = fs_err::read_dir(format!("/proc/{}/task", self.process.id())).unwrap();
        let children: String = threads
            .map(|thread| fs_err::read_to_string(thread.unwrap().path().join("children")).unwrap())
            .collect();
        let command = |pid: &str| fs_err::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        children.split_whitespace().find(|pid| command(pid).contains("musher-guard")).map(Process::new)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

#[test]
fn nothing_survives_when_we_are_killed() {
    for script in [
        format!("sleep 1000 & {TELL}; wait"),
        format!("trap '' TERM INT HUP; setsid sleep 1000 & {TELL}; wait"),
        // no mark in its environment, a session of its own, no parent, none of our files
        format!("(env -i setsid sleep 1000 <&- >&- 2>&- & {TELL}); sleep 1000"),
    ] {
        let mut host = Host::start("kill", &script);
        let (below, guard) = (host.output.process(), host.guard().unwrap());
        assert!(below.is_alive() && guard.is_alive());
        drop(host);
        below.until_gone();
        guard.until_gone();
    }
}

#[test]
fn remains_do_not_survive_when_we_are_killed() {
    let script = format!("env -i setsid sleep 1000 <&- >&- 2>&- & {TELL}");
    let mut host = Host::start("keep", &script);
    let below = host.output.process();
    host.reap();
    assert!(below.is_alive());
    let guard = host.guard().unwrap();
    drop(host);
    below.until_gone();
    guard.until_gone();
}

#[test]
fn interrupted_program_may_clean_up_but_not_stay() {
    // it ends the first sleep itself, says so, and goes on
    let script = format!(
        "trap 'kill $first; echo cleaned; wait' INT; sleep 1000 & {TELL}; first=$!; setsid sleep 1000 & {TELL}; wait; wait"
    );
    let mut host = Host::start("interrupt", &script);
    let (first, second) = (host.output.process(), host.output.process());
    let guard = host.guard().unwrap();
    host.process.kill().unwrap();
    assert_eq!(host.output.line(), "cleaned");
    first.until_gone();
    second.until_gone();
    guard.until_gone();
}

#[test]
fn marked_program_of_another_parent_does_not_survive_when_we_are_killed() {
    for hidden in ["", "env -i setsid "] {
        let mut host = Host::start("foreign", "");
        let marking: Vec<_> =
            std::iter::repeat_with(|| host.output.line()).take_while(|line| line != "ready").collect();
        let script = format!("{}\n{hidden}sleep 1000 <&- >&- 2>&- & {TELL}", marking.join("\n"));
        #[expect(clippy::disallowed_methods, reason = "the part of another program is played here")]
        let mut shell = Command::new("bash").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
        let below = Output::new(shell.stdout.take().unwrap()).process();
        shell.wait().unwrap();
        assert!(below.is_alive());
        drop(host);
        below.until_gone();
    }
}

#[test]
fn guard_ends_with_the_last_program_that_leaves_nothing() {
    let mut host = Host::start("kill", &format!("sleep 1000 & {TELL}"));
    let (below, guard) = (host.output.process(), host.guard().unwrap());
    host.reap();
    assert!(!below.is_alive() && !guard.is_alive());
    assert!(host.guard().is_none());
}
