//! The death of the whole process, tried on a copy of this test that is killed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant as StdInstant;

use super::*;

const ROLE: &str = "MUSHER_TOOLS_TEST_VICTIM";

/// In the victim: runs a command that tells a pid, and waits to be killed.
fn play_the_victim(command: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = std::env::temp_dir();
        let environment: Vec<_> = std::env::vars_os().filter(|(name, _)| name != ROLE).collect();
        let shell = Shell { command, cwd: &folder, environment: &environment };
        let news = |text: String| {
            use std::io::Write;
            #[expect(clippy::disallowed_methods, reason = "the test reads it")]
            io::stdout().write_all(text.as_bytes()).unwrap();
        };
        let cancel = CancellationToken::new();
        run(shell, Duration::from_hours(1), &folder, &Processes::default(), &cancel, news).await.unwrap();
    });
}

/// A copy of this test runs the command and is killed; what the command has told the pid of ends, too.
#[cfg(target_os = "linux")]
fn ends_with_us(test: &str, command: &str) {
    if std::env::var_os(ROLE).is_some() {
        play_the_victim(command);
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "the victim is a copy of this test")]
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", &format!("process::tests::{test}")])
        .env(ROLE, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let pid = lines.map(Result::unwrap).find_map(|line| Some(line.rsplit_once("pid ")?.1.trim().to_owned()));
    let pid = pid.expect("the victim tells the pid of its sleeper");
    assert!(is_asleep(&pid));
    victim.kill().unwrap();
    victim.wait().unwrap();
    until_gone(&pid);
}

fn is_asleep(pid: &str) -> bool {
    let status = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    status.contains("(sleep)") && !status.contains(") Z ")
}

fn until_gone(pid: &str) {
    let started = StdInstant::now();
    while is_asleep(pid) {
        assert!(started.elapsed() < Duration::from_secs(10), "the sleeper survives");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until the last process in the background sleeps, and tells its pid.
#[cfg(target_os = "linux")]
const TELL: &str = "until grep -q '(sleep)' /proc/$!/stat; do :; done; echo pid $!";

#[cfg(target_os = "linux")]
#[test]
fn nothing_survives_when_we_are_killed() {
    ends_with_us("nothing_survives_when_we_are_killed", &format!("setsid sleep 3600 & {TELL}; wait"));
}

#[cfg(target_os = "linux")]
#[test]
fn what_hides_from_us_does_not_survive_us_either() {
    // no mark in its environment, a session of its own, none of our files
    let command = format!("env -i setsid sleep 3600 <&- >&- 2>&- & {TELL}; wait");
    ends_with_us("what_hides_from_us_does_not_survive_us_either", &command);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_command_has_left_and_hidden_ends_with_the_session() {
    left_behind("env -i setsid sleep 3600").await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_command_has_left_and_nobody_hears_of_ends_with_the_session() {
    left_behind("sleep 3600 <&- >&- 2>&-").await;
    left_behind("env -i setsid sleep 3600 <&- >&- 2>&-").await;
}

/// Its parent is gone, too.
#[cfg(target_os = "linux")]
async fn left_behind(sleeper: &str) {
    let folder = std::env::temp_dir();
    let environment: Vec<_> = std::env::vars_os().collect();
    let command = format!("{sleeper} & {TELL}");
    let shell = Shell { command: &command, cwd: &folder, environment: &environment };
    let processes = Processes::default();
    let cancel = CancellationToken::new();
    let ran = run(shell, Duration::from_hours(1), &folder, &processes, &cancel, drop).await.unwrap();
    let output = format!("{ran:?}");
    let told = output.split("pid ").nth(1).unwrap();
    let pid: String = told.chars().take_while(char::is_ascii_digit).collect();
    assert!(is_asleep(&pid), "{output}");
    processes.end_all().await;
    until_gone(&pid);
}
