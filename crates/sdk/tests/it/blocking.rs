//! Sessions without `async`.

use std::sync::{Arc, Mutex};

use musher::blocking::{self, Session};
use musher::{Decision, Event, StoppedBy, TurnEnd};

use crate::record::stage::{capture, session, yes};

#[test]
fn run_gives_its_result() {
    let replay = capture("text_turn");
    let result =
        blocking::run(musher::run("Say hello.").session(|session| session.agent(replay.agent()))).unwrap();
    assert_eq!(result.text, "Hello from the scripted model.");
    replay.check().unwrap();
}

#[test]
fn handlers_run_between_calls() {
    let replay = capture("tool_permission_allow");
    let (asked, was_asked) = std::sync::mpsc::channel();
    let builder = session(&replay).on_permission_sync(move |_| {
        asked.send(()).unwrap();
        Decision::allow_once()
    });
    let session = Session::open(builder).unwrap();
    let turn = session.start(session.prompt("Run it.")).unwrap();
    // no event was read yet
    was_asked.recv_timeout(std::time::Duration::from_secs(20)).unwrap();
    let last = turn.last().unwrap().unwrap();
    assert!(matches!(last, Event::Result(result) if result.end == TurnEnd::Completed));
    session.close().unwrap();
    replay.check().unwrap();
}

#[test]
fn turn_is_stopped_by_its_token_and_the_next_one_works() {
    let replay = capture("interrupt");
    let session = Session::open(session(&replay)).unwrap();
    let mut turn = session.start(session.prompt("Count.").partial()).unwrap();
    let mut text = String::new();
    while !text.contains("three") {
        if let Event::TextDelta(delta) = turn.next().unwrap().unwrap() {
            text.push_str(&delta.text);
        }
    }
    turn.cancel_token().cancel();
    assert!(turn.by_ref().all(|event| event.is_ok()));
    assert_eq!(turn.result().unwrap().end, TurnEnd::Interrupted(StoppedBy::Caller));
    assert!(turn.next().is_none());
    assert_eq!(session.send(session.prompt("Again.")).unwrap().text, "Fine.");
    session.wait(|session| async move { session.interrupt().await }).unwrap();
}

#[test]
fn handler_that_calls_its_own_session_fails_instead_of_hanging() {
    let replay = capture("tool_permission_allow");
    let own: Arc<Mutex<Option<Session>>> = Arc::default();
    let failure = Arc::new(Mutex::new(None));
    let (reach, note) = (Arc::clone(&own), Arc::clone(&failure));
    let builder = session(&replay).on_permission_sync(move |_| {
        let session = reach.lock().unwrap().clone().unwrap();
        *note.lock().unwrap() = session.close().err();
        Decision::allow_once()
    });
    let session = Session::open(builder).unwrap();
    *own.lock().unwrap() = Some(session.clone());
    session.send(session.prompt("Run it.")).unwrap();
    assert!(failure.lock().unwrap().take().unwrap().with_causes().to_string().contains("a handler waits"));
    own.lock().unwrap().take();
}

#[test]
fn session_whose_agent_is_missing_fails_at_once() {
    let builder = musher::Session::builder().executable("/no/such/agent");
    assert!(Session::open(builder).unwrap_err().is_connection());
}

#[test]
fn sessions_are_dropped_from_any_thread() {
    let replay = capture("create_file");
    let session = Session::open(yes(session(&replay))).unwrap();
    let turn = session.start(session.prompt("Go.")).unwrap();
    drop(session);
    std::thread::spawn(move || drop(turn)).join().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn session_that_is_only_dropped_leaves_no_agent() {
    let script = r#"read -r l; id=${l#*'"id":"'}
        echo '{"type":"response","id":"'"${id%%'"'*}"'","result":{"sessionId":"s","session":{"messages":[]}}}'
        exec sleep 1000"#;
    let launch = musher::Launch::new("sh").args(["-c", script]);
    let session = Session::open(musher::Session::builder().agent(musher::Agent::launch(launch))).unwrap();
    let id = session.wait(|session| async move { Ok(session.process_id().unwrap()) }).unwrap();
    let process = std::path::PathBuf::from(format!("/proc/{id}"));
    assert!(process.exists());
    drop(session);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while process.exists() {
        assert!(std::time::Instant::now() < deadline, "it is still there");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}
