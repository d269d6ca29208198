//! Kills the host process of a command: no command survives.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Waits until the last background process sleeps, and prints its id.
const TELL: &str = "until grep -q '(sleep)' /proc/$!/stat; do :; done; echo pid $!";

/// Runs the command in a helper and kills the helper; the process whose id the command printed must end too.
fn ends_with_its_host(command: &str) {
    #[expect(clippy::disallowed_methods, reason = "the helper is to be killed, and not by us")]
    let mut host = Command::new(env!("CARGO_BIN_EXE_musher-tools-command-host"))
        .arg(command)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines().map(Result::unwrap);
    let pid =
        lines.find_map(|line| Some(line.strip_prefix("pid ")?.to_owned())).expect("the id of a process");
    assert!(is_asleep(&pid));
    host.kill().unwrap();
    host.wait().unwrap();
    let started = Instant::now();
    while is_asleep(&pid) {
        assert!(started.elapsed() < Duration::from_secs(30), "it is still running");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_asleep(pid: &str) -> bool {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.contains("(sleep)") && !stat.contains(") Z ")
}

#[test]
fn commands_end_when_the_host_is_killed() {
    ends_with_its_host(&format!("setsid sleep 3600 & {TELL}; wait"));
}

#[test]
fn hidden_processes_end_when_the_host_is_killed() {
    // no mark in its environment, its own session, no shared file descriptors
    ends_with_its_host(&format!("env -i setsid sleep 3600 <&- >&- 2>&- & {TELL}; wait"));
}
