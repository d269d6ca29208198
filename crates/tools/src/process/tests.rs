//! Processes that commands leave running end with the session.
#![cfg(target_os = "linux")]

use std::time::Instant as StdInstant;

use super::*;

fn is_asleep(pid: &str) -> bool {
    let status = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.contains("(sleep)") && !status.contains(") Z ")
}

fn until_gone(pid: &str) {
    let started = StdInstant::now();
    while is_asleep(pid) {
        assert!(started.elapsed() < Duration::from_secs(10), "the process is still running");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the last background process sleeps, and prints its pid.
const TELL: &str = "until grep -q '(sleep)' /proc/$!/stat; do :; done; echo pid $!";

#[tokio::test]
async fn hidden_leftover_process_ends_with_the_session() {
    left_behind("env -i setsid sleep 3600").await;
}

#[tokio::test]
async fn silent_leftover_process_ends_with_the_session() {
    left_behind("sleep 3600 <&- >&- 2>&-").await;
    left_behind("env -i setsid sleep 3600 <&- >&- 2>&-").await;
}

/// Starts a process whose parent has ended too, and checks that it ends with the session.
async fn left_behind(sleeper: &str) {
    let folder = std::env::temp_dir();
    let environment: Vec<_> = std::env::vars_os().collect();
    let command = format!("{sleeper} & {TELL}");
    let shell =
        Shell { command: &command, cwd: &folder, environment: &environment, sandbox: None, launcher: None };
    let processes = Processes::default();
    let cancel = CancellationToken::new();
    let ran = run(shell, Duration::from_hours(1), &folder, &processes, &cancel, drop).await.unwrap();
    let output = format!("{ran:?}");
    let rest = output.split("pid ").nth(1).unwrap();
    let pid: String = rest.chars().take_while(char::is_ascii_digit).collect();
    assert!(is_asleep(&pid), "{output}");
    processes.end_all().await;
    until_gone(&pid);
}
