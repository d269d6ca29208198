//! The death of the whole process, tried on a copy of this test that is killed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant as StdInstant;

use super::*;

const ROLE: &str = "MUSHER_TOOLS_TEST_VICTIM";

/// In the victim: starts a command whose child has left the session, tells its pid, and waits to be killed.
fn play_the_victim() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let folder = std::env::temp_dir();
        let environment: Vec<_> = std::env::vars_os().filter(|(name, _)| name != ROLE).collect();
        let command = "setsid sleep 3600 & echo pid $!; wait";
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

#[cfg(target_os = "linux")]
#[test]
fn nothing_survives_when_we_are_killed() {
    if std::env::var_os(ROLE).is_some() {
        play_the_victim();
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "the victim is a copy of this test")]
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", "process::tests::nothing_survives_when_we_are_killed"])
        .env(ROLE, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let pid = lines.map(Result::unwrap).find_map(|line| Some(line.rsplit_once("pid ")?.1.trim().to_owned()));
    let pid = pid.expect("the victim tells the pid of its sleeper");
    let is_alive = || {
        let status = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        status.contains("(sleep)") && !status.contains(") Z ")
    };
    assert!(is_alive());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let started = StdInstant::now();
    while is_alive() {
        assert!(started.elapsed() < Duration::from_secs(10), "the sleeper survives");
        std::thread::sleep(Duration::from_millis(20));
    }
}
