//! Death of the parent process: a helper is killed, and none of its programs survive.

use std::io::Write as _;
use std::process::{ChildStdout, Command, Stdio};

use crate::support::{Output, PRINT_PID, Process};

/// A process that has started a program. Dropping it kills the process.
struct Host {
    process: std::process::Child,
    output: Output<ChildStdout>,
}

impl Host {
    fn start(mode: &str, script: &str) -> Self {
        #[expect(clippy::disallowed_methods, reason = "the test kills the helper without this crate")]
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

    /// Returns the guard that the process has started.
    fn guard(&self) -> Option<Process> {
        // `children` lists the children of one thread, here the one that forks
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
fn no_descendant_survives_when_the_parent_is_killed() {
    for script in [
        format!("sleep 1000 & {PRINT_PID}; wait"),
        format!("trap '' TERM INT HUP; setsid sleep 1000 & {PRINT_PID}; wait"),
        // no mark in its environment, a session of its own, no parent, no inherited files
        format!("(env -i setsid sleep 1000 <&- >&- 2>&- & {PRINT_PID}); sleep 1000"),
    ] {
        let mut host = Host::start("kill", &script);
        let (descendant, guard) = (host.output.process(), host.guard().unwrap());
        assert!(descendant.is_alive() && guard.is_alive());
        drop(host);
        descendant.wait_for_end();
        guard.wait_for_end();
    }
}

#[test]
fn kept_descendants_do_not_survive_when_the_parent_is_killed() {
    let script = format!("env -i setsid sleep 1000 <&- >&- 2>&- & {PRINT_PID}");
    let mut host = Host::start("keep", &script);
    let descendant = host.output.process();
    host.reap();
    assert!(descendant.is_alive());
    let guard = host.guard().unwrap();
    drop(host);
    descendant.wait_for_end();
    guard.wait_for_end();
}

#[test]
fn interrupted_program_can_clean_up_and_is_killed_afterwards() {
    // the script ends the first sleep itself, prints a line, and keeps running
    let script = format!(
        "trap 'kill $first; echo cleaned; wait' INT; sleep 1000 & {PRINT_PID}; first=$!; setsid sleep 1000 & {PRINT_PID}; wait; wait"
    );
    let mut host = Host::start("interrupt", &script);
    let (first, second) = (host.output.process(), host.output.process());
    let guard = host.guard().unwrap();
    host.process.kill().unwrap();
    assert_eq!(host.output.line(), "cleaned");
    first.wait_for_end();
    second.wait_for_end();
    guard.wait_for_end();
}

#[test]
fn marked_program_of_another_parent_is_killed_with_the_marking_process() {
    for hidden in ["", "env -i setsid "] {
        let mut host = Host::start("foreign", "");
        let marking: Vec<_> =
            std::iter::repeat_with(|| host.output.line()).take_while(|line| line != "ready").collect();
        let script = format!("{}\n{hidden}sleep 1000 <&- >&- 2>&- & {PRINT_PID}", marking.join("\n"));
        #[expect(clippy::disallowed_methods, reason = "the test acts as another program")]
        let mut shell = Command::new("bash").args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
        let descendant = Output::new(shell.stdout.take().unwrap()).process();
        shell.wait().unwrap();
        assert!(descendant.is_alive());
        drop(host);
        descendant.wait_for_end();
    }
}

#[test]
fn guard_ends_with_the_last_program() {
    let mut host = Host::start("kill", &format!("sleep 1000 & {PRINT_PID}"));
    let (descendant, guard) = (host.output.process(), host.guard().unwrap());
    host.reap();
    assert!(!descendant.is_alive() && !guard.is_alive());
    assert!(host.guard().is_none());
}
