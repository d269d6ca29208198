//! Real commands: output, exit codes, timeouts, and leftover processes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::builtin::testing::TestWorkspace;
use crate::{Execute, ToolOutput};

/// Generous: it only ends tests that would never end.
const DEADLINE: Duration = Duration::from_secs(20);

fn input(command: &str) -> Value {
    json!({"command": command, "summary": "Run a test", "riskLevel": "low", "riskLevelReason": "a test"})
}

async fn run(scene: &TestWorkspace, input: Value) -> ToolOutput {
    tokio::time::timeout(DEADLINE, scene.run(&Execute, input)).await.expect("the command ends")
}

async fn text(command: &str) -> String {
    run(&TestWorkspace::new(), input(command)).await.client_text()
}

/// Waits until no process has this text in its command line.
async fn wait_until_gone(needle: &str) {
    let is_there = || {
        let pids = fs_err::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        pids.into_iter().any(|pid| {
            let line = fs_err::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            pid != std::process::id() && memchr::memmem::find(&line, needle.as_bytes()).is_some()
        })
    };
    let started = Instant::now();
    while is_there() {
        assert!(started.elapsed() < DEADLINE, "{needle} still runs");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Returns a unique number of seconds to sleep, so that the process can be found.
fn unique_sleep() -> String {
    format!("3600.{}", uuid::Uuid::new_v4().as_u128() % 1_000_000_000_000)
}

#[tokio::test]
async fn output_and_exit_code_have_the_format_of_clients() {
    assert_eq!(text("echo hi; echo oops >&2").await, "hi\noops\n\n\n[Process exited with code 0]");
    assert_eq!(text("true").await, "Command completed successfully\n\n[Process exited with code 0]");
    assert_eq!(
        text("echo x; exit 3").await,
        "Error: Command failed (exit code: 3)\nx\n\n\n[Process exited with code 3]"
    );
    let missing = run(&TestWorkspace::new(), input("no-such-program-at-all")).await;
    assert!(missing.is_error && missing.client_text().starts_with("Error: Command not found. "));
    assert!(missing.client_text().ends_with("[Process exited with code 127]"));
    assert!(text("kill -9 $$").await.starts_with("Error: Command was killed by signal 9 (exit code: 137)"));
}

#[tokio::test]
async fn command_environment_is_non_interactive() {
    let scene = TestWorkspace::new();
    let command = "pwd; cat; echo $TERM $GIT_EDITOR; tty; echo $0";
    let output = run(&scene, input(command)).await.client_text();
    let root = scene.context.workspace.root().display().to_string();
    assert!(output.contains(&format!("{root}\ndumb true\nnot a tty\n")), "{output}");
}

#[tokio::test]
async fn long_output_is_shortened_and_saved() {
    let output = text("seq 1 20000").await;
    assert!(
        output.starts_with("1\n2\n") && output.contains("[... 19940 lines skipped ...]\n19971\n"),
        "{output}"
    );
    let saved = output.lines().find_map(|line| line.strip_prefix("Full command output saved to: ")).unwrap();
    assert!(saved.ends_with("(107KB)"), "{saved}");
    assert!(output.ends_with("\n\n[Process exited with code 0]"));
}

#[tokio::test]
async fn timeout_ends_the_whole_tree() {
    let [inside, group, session, hidden] = [(); 4].map(|()| unique_sleep());
    let command = format!(
        "echo begun; sleep {inside} & set -m; sleep {group} & setsid sleep {session} & \
         /usr/bin/env -i /usr/bin/setsid /bin/sleep {hidden} & wait"
    );
    let mut input = input(&command);
    input["timeout"] = json!(1);
    let output = run(&TestWorkspace::new(), input).await;
    assert!(!output.is_error && output.client_text().starts_with("Command timed out after 1 seconds. "));
    assert!(output.client_text().ends_with("\n\nPartial output before timeout:\nbegun"));
    for sleeper in [inside, group, session, hidden] {
        wait_until_gone(&sleeper).await;
    }
}

#[tokio::test]
async fn command_that_ignores_sigterm_is_killed() {
    let sleeper = unique_sleep();
    let mut input = input(&format!("trap '' TERM; while :; do sleep {sleeper}; done"));
    input["timeout"] = json!(1);
    assert!(run(&TestWorkspace::new(), input).await.client_text().starts_with("Command timed out"));
    wait_until_gone(&sleeper).await;
}

#[tokio::test]
async fn cancelling_and_dropping_end_the_command() {
    let scene = TestWorkspace::new();
    for is_dropped in [false, true] {
        let sleeper = unique_sleep();
        let cancel = CancellationToken::new();
        let (begun, mut waiting) = tokio::sync::mpsc::channel(8);
        let mut watched = TestWorkspace::new();
        watched.context =
            scene.context.clone().with_progress(move |progress| drop(begun.try_send(progress.text)));
        let command = input(&format!("echo begun; sleep {sleeper}"));
        let mut running = Box::pin(watched.run_until(&Execute, command, cancel.clone()));
        let wait_for_begin = async { while waiting.recv().await.unwrap() != "begun\n" {} };
        tokio::select! {
            output = &mut running => panic!("it ended by itself: {output:?}"),
            () = wait_for_begin => {}
        }
        if is_dropped {
            drop(running);
        } else {
            cancel.cancel();
            let output = tokio::time::timeout(DEADLINE, running).await.unwrap();
            assert_eq!(output.client_text(), "Error: Tool execution cancelled by user");
        }
        wait_until_gone(&sleeper).await;
    }
}

#[tokio::test]
async fn background_process_does_not_delay_the_result_and_ends_with_the_session() {
    let scene = TestWorkspace::new();
    let sleeper = unique_sleep();
    let command = format!("sleep {sleeper} & echo done");
    assert_eq!(run(&scene, input(&command)).await.client_text(), "done\n\n\n[Process exited with code 0]");
    let listed = scene.context.processes.list();
    assert_eq!((listed.len(), listed[0].is_running, listed[0].command.as_str()), (1, true, command.as_str()));
    scene.context.processes.end_all().await;
    wait_until_gone(&sleeper).await;
    assert_eq!(scene.context.processes.list(), []);
}

#[tokio::test]
async fn background_command_returns_at_once_and_writes_to_a_file() {
    let scene = TestWorkspace::new();
    let sleeper = unique_sleep();
    let mut input = input(&format!("echo started; exec sleep {sleeper}"));
    input["fireAndForget"] = json!(true);
    let output = run(&scene, input).await.client_text();
    let lines: Vec<&str> = output.lines().collect();
    assert!(
        lines[0].starts_with("Background process started (PID: ") && lines[3] == "Status: running",
        "{output}"
    );
    let file = lines[2].strip_prefix("Output file: ").unwrap();
    let started = Instant::now();
    while fs_err::read_to_string(file).unwrap() != "started\n" {
        assert!(started.elapsed() < DEADLINE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(scene.context.processes.list()[0].is_running);
    drop(scene);
    wait_until_gone(&sleeper).await;
}

#[tokio::test]
async fn endless_output_stays_within_bounds() {
    let mut input = input("yes");
    input["timeout"] = json!(1);
    let output = run(&TestWorkspace::new(), input).await.client_text();
    assert!(output.len() < 40_000 && output.contains(" lines skipped ...]"), "{}", output.len());
}

#[tokio::test]
async fn progress_starts_empty_and_reports_output() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let mut scene = TestWorkspace::new();
    let writer = Arc::clone(&reports);
    scene.context =
        scene.context.clone().with_progress(move |progress| writer.lock().unwrap().push(progress));
    run(&scene, input("echo one")).await;
    let reports = reports.lock().unwrap();
    assert_eq!(reports.iter().map(|progress| progress.text.as_str()).collect::<Vec<_>>(), ["", "one\n"]);
    assert_eq!(reports[0].terminal, reports[1].terminal);
}

#[tokio::test]
async fn command_that_cannot_start_is_an_error_output() {
    let scene = TestWorkspace::new();
    let long = input(&format!("true {}", "x".repeat(4 << 20)));
    assert!(run(&scene, long).await.client_text().starts_with("Error: The command could not be started: "));
    assert!(run(&scene, input("a\0b")).await.is_error);
    fs_err::remove_dir(scene.context.workspace.root()).unwrap();
    assert!(run(&scene, input("true")).await.is_error);
    let unclaimed = run(&scene, json!({"command": "true"})).await;
    let expected =
        "Error: Execute call rejected: missing required parameters \"riskLevelReason\", \"riskLevel\". ";
    assert!(unclaimed.client_text().starts_with(expected), "{}", unclaimed.client_text());
}

#[tokio::test]
async fn invalid_utf8_is_shown_as_text() {
    assert!(text(r"printf '\377\001x'").await.starts_with("\u{FFFD}\u{1}x"));
}
