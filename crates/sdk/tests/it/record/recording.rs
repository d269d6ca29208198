//! Recordings of the SDK can be replayed.

use musher::{Agent, Replay, Session, transport::memory};

use super::stage::{capture, follow, session, yes};

#[tokio::test]
async fn recorded_session_plays_the_same_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("turn.jsonl");
    let replay = capture("tool_permission_allow");
    let recorded = yes(session(&replay)).agent(replay.agent().record(&path)).open().await.unwrap();
    let first = follow(recorded.send("Run it.").start().await.unwrap()).await.unwrap();
    recorded.close().await.unwrap();

    let again = Replay::load(&path).unwrap().strict();
    let played = yes(session(&again)).open().await.unwrap();
    let second = follow(played.send("Run it.").start().await.unwrap()).await.unwrap();
    played.close().await.unwrap();
    again.check().unwrap();
    assert_eq!(first.0, second.0);
    assert_eq!((first.1.text, first.1.usage), (second.1.text, second.1.usage));
}

#[tokio::test]
async fn each_connection_has_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fork.jsonl");
    let replay = super::stage::capture_in_two("fork", "load_session");
    let agent = replay.agent().record(&path);
    let original = session(&replay).agent(agent.clone()).open().await.unwrap();
    original.send("Remember banana.").await.unwrap();
    let copied = original.client().fork_session(musher::wire::ForkSessionParams::default()).await.unwrap();
    original.send("Still there?").await.unwrap();
    let fork = Session::resume(copied.new_session_id).agent(agent).open().await.unwrap();
    fork.send("In the fork.").await.unwrap();
    fork.close().await.unwrap();
    original.close().await.unwrap();

    assert!(folder.path().join("fork.2.jsonl").exists());
    let again = Replay::load(&path).unwrap();
    let original = session(&again).open().await.unwrap();
    original.send("Anything.").await.unwrap();
    original.client().fork_session(musher::wire::ForkSessionParams::default()).await.unwrap();
    original.send("Anything.").await.unwrap();
    let fork = Session::resume("any").agent(again.agent()).open().await.unwrap();
    assert_eq!(fork.send("Anything.").await.unwrap().text, "Fork reply.");
    fork.close().await.unwrap();
    original.close().await.unwrap();
    again.check().unwrap();
}

#[tokio::test]
async fn agent_that_leaves_leaves_again_when_it_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("left.jsonl");
    let (ours, theirs) = memory();
    drop(theirs);
    let error = Session::builder().agent(Agent::connection(ours).record(&path)).open().await.unwrap_err();
    assert!(error.is_connection(), "{error}");

    let text = fs_err::read_to_string(&path).unwrap();
    assert!(text.contains(r#""end":"#), "{text}");
    let error = session(&Replay::load(&path).unwrap()).open().await.unwrap_err();
    assert!(error.is_connection(), "{error}");
}

#[tokio::test]
async fn unwritable_recording_path_is_reported_before_opening() {
    let (ours, _theirs) = memory();
    let agent = Agent::connection(ours).record("/no/such/folder/turn.jsonl");
    let error = Session::builder().agent(agent).open().await.unwrap_err();
    assert!(
        error.is_invalid_input() && error.with_causes().to_string().contains("/no/such/folder/turn.jsonl"),
        "{error}"
    );
}

#[test]
fn invalid_recording_is_refused_with_line_number() {
    let good =
        r#"{"dir":"s2c","t":0.1,"msg":{"jsonrpc":"2.0","type":"notification","method":"x","params":{}}}"#;
    for (bad, why) in [
        ("nonsense", "cannot be read"),
        (r#"{"dir":"s2c","t":1}"#, "has neither"),
        (r#"{"dir":"c2s","raw":"oops"}"#, "not a message"),
        (r#"{"dir":"up","msg":{}}"#, "cannot be read"),
    ] {
        let error = Replay::parse(&format!("{good}\n\n{bad}\n")).unwrap_err();
        assert!(error.is_invalid_input(), "{error}");
        let text = error.with_causes().to_string();
        assert!(text.contains("line 3 of the recording") && text.contains(why), "{text}");
    }
}
