//! The commands for sessions in a daemon: `run --daemon`, `attach`, `inbox`, `sessions`, and `daemon status`, `stop`, `logs` and `--unit`.

use std::process::Command;

use serde_json::Value;

use crate::daemon::stage::Stage;
use crate::program::{Run, command, ended};

/// Runs a command for the daemon of a stage.
fn musher(stage: &Stage, arguments: &[&str]) -> Run {
    let mut command = command(arguments);
    set_up(&mut command, stage);
    command.env("MUSHER_DAEMON_URL", &stage.address);
    ended(command)
}

fn set_up(command: &mut Command, stage: &Stage) {
    command.current_dir(stage.work()).env("HOME", stage.home.path());
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("NO_PROXY", "127.0.0.1");
}

/// Runs a closure when it is dropped.
struct Finally<F: Fn()>(F);

impl<F: Fn()> Drop for Finally<F> {
    fn drop(&mut self) {
        self.0();
    }
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))
}

// the model of the stage runs beside the commands, which this thread waits for
#[tokio::test(flavor = "multi_thread")]
async fn task_runs_in_the_daemon_and_its_session_stays_there() {
    let mut stage = Stage::new();
    let run = musher(&stage, &["run", "--daemon", "say hello"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "Hello.\n"), "{}", run.stderr);
    let listed = json(&musher(&stage, &["sessions", "--json"]));
    assert_eq!(
        (listed.as_array().map(Vec::len), &listed[0]["state"]),
        (Some(1), &Value::from("idle")),
        "{listed}"
    );
    let listed = musher(&stage, &["sessions"]);
    assert!(listed.stdout.contains("[open]"), "{}", listed.stdout);
    let run = musher(&stage, &["run", "--daemon", "--continue", "say hello"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "Hello.\n"), "{}", run.stderr);
    let seen = musher(&stage, &["attach"]);
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    assert!(seen.stderr.contains("> say hello") && seen.stderr.contains("Hello."), "{}", seen.stderr);
    stage.stop();
}

// the model of the stage runs beside the commands, which this thread waits for
#[tokio::test(flavor = "multi_thread")]
async fn request_of_a_detached_task_waits_in_the_inbox_and_is_answered_there() {
    let mut stage = Stage::new();
    let run = musher(&stage, &["run", "--daemon", "--detach", "touch it"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let session = run.stdout.trim().to_owned();
    // it waits until the request is there: only then does the followed turn show it
    let mut watching = command(&["attach", &session[..8]]);
    set_up(&mut watching, &stage);
    watching.env("MUSHER_DAEMON_URL", &stage.address);
    let watching = std::thread::spawn(move || ended(watching));
    let item = loop {
        let listed = json(&musher(&stage, &["inbox", "--json"]));
        if let Some(item) = listed.get(0) {
            break item.clone();
        }
    };
    assert_eq!(
        (&item["kind"], item["session"].as_str()),
        (&Value::from("permission"), Some(session.as_str()))
    );
    assert!(item["subject"].as_str().unwrap().contains("touch made.txt"), "{item}");
    let shown = musher(&stage, &["inbox"]);
    assert!(shown.stdout.contains("touch made.txt"), "{}", shown.stdout);
    assert!(!stage.work().join("made.txt").exists());

    let id = item["id"].as_str().unwrap();
    let wrong = musher(&stage, &["inbox", "answer", id, "red"]);
    assert_eq!(wrong.code, Some(2), "{}", wrong.stderr);
    let allowed = musher(&stage, &["inbox", "allow", &id[..6]]);
    assert_eq!(allowed.code, Some(0), "{}", allowed.stderr);
    let watched = watching.join().unwrap();
    assert_eq!(watched.code, Some(0), "{}", watched.stderr);
    assert!(stage.work().join("made.txt").exists());
    let empty = musher(&stage, &["inbox"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (Some(0), ""));
    assert_eq!(musher(&stage, &["inbox", "deny", id]).code, Some(2));
    stage.stop();
}

// the model of the stage runs beside the commands, which this thread waits for
#[tokio::test(flavor = "multi_thread")]
async fn daemon_is_started_by_a_task_and_reports_ends_and_logs() {
    // its own daemon is stopped; a task starts another one in the same home
    let mut stage = Stage::new();
    stage.stop();
    let musher = |arguments: &[&str]| {
        let mut command = command(arguments);
        set_up(&mut command, &stage);
        ended(command)
    };
    // also if this test fails
    let _stopped = Finally(|| drop(musher(&["daemon", "stop"])));
    let none = musher(&["daemon", "status"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), "not running\n"));
    let refused = musher(&["inbox"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("`musher daemon` starts the daemon"), "{}", refused.stderr);

    let run = musher(&["run", "--daemon", "say hello"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "Hello.\n"), "{}", run.stderr);
    let status = json(&musher(&["daemon", "status", "--json"]));
    assert_eq!((&status["running"], &status["sessions"]), (&Value::from(true), &Value::from(1)), "{status}");
    // another task uses the same one
    let again = musher(&["run", "--daemon", "say hello"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(json(&musher(&["daemon", "status", "--json"]))["pid"], status["pid"]);
    assert!(!musher(&["daemon", "logs"]).stdout.is_empty());
    let stopped = musher(&["daemon", "stop"]);
    assert_eq!(stopped.code, Some(0), "{}", stopped.stderr);
    assert_eq!(musher(&["daemon", "status"]).code, Some(1));
    assert_eq!(musher(&["daemon", "stop"]).code, Some(0));
}

#[test]
fn unit_runs_the_daemon_with_these_arguments_and_never_holds_a_token() {
    let home = tempfile::tempdir().unwrap();
    let unit = |arguments: &[&str]| {
        let mut command = command(arguments);
        command.env("HOME", home.path());
        ended(command)
    };
    let printed = unit(&["daemon", "--unit", "--listen", "127.0.0.1:4711"]);
    assert_eq!(printed.code, Some(0), "{}", printed.stderr);
    let needed =
        if cfg!(target_os = "macos") { "<string>127.0.0.1:4711</string>" } else { "\"127.0.0.1:4711\"\n" };
    assert!(printed.stdout.contains(needed), "{}", printed.stdout);
    let refused = unit(&["daemon", "--unit", "--token", "0123456789abcdef"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
}
