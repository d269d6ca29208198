//! Malformed conversations: duplicate or reordered messages, early ends, duplicate answers, answers to unknown requests.

use std::future::pending;

use musher::wire::LoadSessionParams;
use musher::{Decision, FailureKind, Replay, Session, TurnEnd};

use crate::record::stage::{DEADLINE, capture, follow, path, session, yes};

const END: &str = r#"{"dir":"s2c","t":9,"end":"cut off"}"#;

fn lines(version: &str, name: &str) -> Vec<String> {
    let text = fs_err::read_to_string(path(version, name)).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn replay(lines: &[String]) -> Replay {
    Replay::parse(&lines.join("\n")).unwrap().timeout(DEADLINE)
}

async fn story(replay: &Replay) -> musher::Result<Vec<String>> {
    let session = yes(session(replay)).open().await?;
    let turn = session.send("Go.").start().await?;
    Ok(follow(turn).await?.0)
}

#[tokio::test]
async fn duplicate_messages_count_once() {
    for (version, name) in [
        ("droid-0.225.2", "text_turn"),
        ("droid-0.225.2", "edit_file"),
        ("droid-0.225.2", "spec_mode_exit"),
        ("droid-0.99.0", "text_turn"),
        ("droid-0.99.0", "tool_permission_allow"),
    ] {
        let once = lines(version, name);
        let twice: Vec<_> = once
            .iter()
            .flat_map(|line| {
                let times = if line.contains(r#""type":"notification""#) { 2 } else { 1 };
                std::iter::repeat_n(line.clone(), times)
            })
            .collect();
        assert_eq!(story(&replay(&twice)).await.unwrap(), story(&replay(&once)).await.unwrap(), "{name}");
    }
}

#[tokio::test]
async fn stream_ends_wherever_the_agent_disconnects() {
    for (version, name) in [
        ("droid-0.225.2", "tool_permission_allow"),
        ("droid-0.225.2", "text_turn"),
        ("droid-0.99.0", "tool_permission_allow"),
    ] {
        let whole = lines(version, name);
        for cut in 0..whole.len() {
            let mut cut_off = whole[..cut].to_vec();
            cut_off.push(END.to_owned());
            let told = tokio::time::timeout(DEADLINE, story(&replay(&cut_off))).await.expect("it hangs");
            if let Err(error) = told {
                assert!(error.is_connection(), "{name} cut at {cut}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn agent_that_is_idle_before_its_last_message_is_waited_for() {
    // as 0.36 does it
    let mut lines = lines("droid-0.99.0", "text_turn");
    let is_idle = |line: &String| line.contains(r#""newState":"idle""#);
    let is_answer = |line: &String| line.contains("create_message") && line.contains(r#""role":"assistant""#);
    let idle = lines.remove(lines.iter().rposition(is_idle).unwrap());
    lines.insert(lines.iter().position(is_answer).unwrap(), idle);
    let story = story(&replay(&lines)).await.unwrap();
    assert_eq!(story[story.len() - 2..], ["assistant: Hello from the scripted model.", "Completed"]);
}

#[tokio::test]
async fn withdrawn_acceptance_of_a_prompt_fails_the_turn() {
    let opening = lines("droid-0.225.2", "text_turn");
    let opening = &opening[..opening.iter().position(|line| line.contains("add_user_message")).unwrap()];
    let prompt = r#"{"dir":"c2s","msg":{"type":"request","id":"a2","method":"droid.add_user_message","params":{"text":"x"}}}"#;
    let answers = lines("droid-0.225.2", "bad_input");
    let answers = answers.iter().filter(|line| line.contains(r#""id":"a2""#)).cloned();
    let both: Vec<_> = opening.iter().cloned().chain([prompt.to_owned()]).chain(answers).collect();
    let error = story(&replay(&both)).await.unwrap_err();
    assert!(error.is_protocol() && error.with_causes().to_string().contains("No active session"), "{error}");
}

#[tokio::test]
async fn error_without_id_reaches_the_only_waiting_call() {
    let mut lines = lines("droid-0.225.2", "text_turn");
    let sent = lines.iter().position(|line| line.contains("add_user_message")).unwrap();
    lines.truncate(sent + 1);
    lines.push(
        r#"{"dir":"s2c","msg":{"jsonrpc":"2.0","type":"response","factoryApiVersion":"1.0.0","id":null,"error":{"code":-32600,"message":"Invalid request format"}}}"#
            .to_owned(),
    );
    let error = story(&replay(&lines)).await.unwrap_err();
    assert!(
        error.is_protocol() && error.with_causes().to_string().contains("Invalid request format"),
        "{error}"
    );
}

#[tokio::test]
async fn old_agent_that_wants_a_session_first_gets_one_and_may_leave_out_the_id() {
    let recording = r#"
        {"dir":"c2s","msg":{"type":"request","id":"1","method":"droid.load_session","params":{}}}
        {"dir":"s2c","msg":{"type":"response","id":"1","error":{"code":-32603,"message":"No active session. Call initialize_session or load_session first."}}}
        {"dir":"c2s","msg":{"type":"request","id":"2","method":"droid.initialize_session","params":{}}}
        {"dir":"s2c","msg":{"type":"response","id":"2","result":{"sessionId":"other","session":{"messages":[]}}}}
        {"dir":"c2s","msg":{"type":"request","id":"3","method":"droid.load_session","params":{}}}
        {"dir":"s2c","msg":{"type":"response","id":"3","result":{"session":{"messages":[]}}}}
    "#;
    let replay = Replay::parse(recording).unwrap();
    let session = Session::resume("mine").agent(replay.agent()).open().await.unwrap();
    assert_eq!(session.id(), "mine");
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn loading_a_session_over_its_running_turn_ends_the_turn() {
    let replay = capture("load_session_pending_permission");
    let (asked, was_asked) = tokio::sync::watch::channel(false);
    let session = session(&replay)
        .on_permission(move |_| {
            asked.send_replace(true);
            pending::<Decision>()
        })
        .open()
        .await
        .unwrap();
    let turn = session.send("Run.").start().await.unwrap();
    was_asked.clone().wait_for(|was_asked| *was_asked).await.unwrap();
    let loaded = session.client().load_session(LoadSessionParams::new(session.id())).await.unwrap();
    assert_eq!(loaded.pending_permissions.unwrap().len(), 1);
    let (_, result) = follow(turn).await.unwrap();
    assert!(
        matches!(&result.end, TurnEnd::Failed(FailureKind::Execution(reason)) if reason.as_str() == "process_exit")
    );
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn notification_that_is_unknown_passes_through() {
    let mut lines = lines("droid-0.225.2", "text_turn");
    let strange = r#"{"dir":"s2c","msg":{"jsonrpc":"2.0","type":"notification","factoryApiVersion":"1.0.0","method":"droid.session_notification","params":{"notification":{"type":"brand_new","x":[1]}}}}"#;
    let raw = r#"{"dir":"s2c","raw":"no JSON at all"}"#;
    let sent = lines.iter().position(|line| line.contains("add_user_message")).unwrap();
    for line in [raw, strange] {
        lines.insert(sent + 2, line.to_owned());
    }
    let session = session(&replay(&lines)).open().await.unwrap();
    let mut notification = session.notifications().only("brand_new");
    assert_eq!(session.send("Go.").await.unwrap().end, TurnEnd::Completed);
    let params = notification.next().await.unwrap().session().unwrap();
    assert_eq!(params.notification.tag(), "brand_new");
}
