//! The death of the whole process, tried on a helper that is killed: no command survives.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Waits until the last process in the background sleeps, and prints its id.
const TELL: &str = "until grep -q '(sleep)' /proc/$!/stat; do :; done; echo pid $!";

/// Runs the command in a helper and kills that; the process whose id the command has printed ends, too.
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
        assert!(started.elapsed() < Duration::from_secs(30), "it lives on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn is_asleep(pid: &str) -> bool {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.contains("(sleep)") && !stat.contains(") Z ")
}

#[test]
fn nothing_survives_when_we_are_killed() {
    ends_with_its_host(&format!("setsid sleep 3600 & {TELL}; wait"));
}

#[test]
fn what_hides_from_us_does_not_survive_us_either() {
    // no mark in its environment, a session of its own, none of our files
    ends_with_its_host(&format!("env -i setsid sleep 3600 <&- >&- 2>&- & {TELL}; wait"));
}
