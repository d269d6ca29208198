//! Turns that are interrupted, prompts that come too early, clients that deviate from the recording.

use std::future::pending;

use musher::wire::{AddUserMessage, AddUserMessageParams, SessionNotification};
use musher::{CancellationToken, Decision, Event, StoppedBy, TurnEnd};

use crate::record::stage::{capture, follow, session, yes};

#[tokio::test]
async fn interrupted_turn_keeps_its_text_and_the_next_one_works() {
    let replay = capture("interrupt");
    let session = session(&replay).open().await.unwrap();
    let mut turn = session.send("Count.").partial().start().await.unwrap();
    let mut text = String::new();
    while !text.contains("three") {
        if let Event::TextDelta(delta) = turn.next().await.unwrap().unwrap() {
            text.push_str(&delta.text);
        }
    }
    let result = turn.interrupt().await.unwrap();
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Caller));
    assert_eq!(result.text, "one two three ");

    let result = session.send("Again.").await.unwrap();
    assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "Fine."));
    session.interrupt().await.unwrap();
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn interrupted_tool_has_one_result_although_droid_sends_two() {
    let replay = capture("interrupt_tool");
    let session = session(&replay).open().await.unwrap();
    let stop = CancellationToken::new();
    let mut turn = session.send("Sleep.").partial().cancel_token(stop.clone()).start().await.unwrap();
    let mut progress = 0;
    while progress < 2 {
        progress += usize::from(matches!(turn.next().await.unwrap().unwrap(), Event::ToolProgress(_)));
    }
    stop.cancel();
    let (story, result) = follow(turn).await.unwrap();
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Caller));
    assert_eq!(story.iter().filter(|told| told.as_str() == "failure of Execute").count(), 1, "{story:?}");
}

#[tokio::test]
async fn handler_that_never_returns_does_not_delay_an_interrupt() {
    let replay = capture("permission_no_answer_interrupt");
    let stop = CancellationToken::new();
    let asked = stop.clone();
    let session = session(&replay)
        .on_permission(move |_| {
            asked.cancel();
            pending::<Decision>()
        })
        .open()
        .await
        .unwrap();
    let turn = session.send("Run.").cancel_token(stop).start().await.unwrap();
    let (story, result) = follow(turn).await.unwrap();
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Caller));
    assert_eq!(story.iter().filter(|told| told.as_str() == "failure of Execute").count(), 1, "{story:?}");
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn message_sent_during_a_turn_has_its_own_turn() {
    let replay = capture("queue_message");
    let session = session(&replay).open().await.unwrap();
    let mut ends = session.notifications().only("agent_turn_completed");
    let mut turn = session.send("First.").partial().start().await.unwrap();
    while !matches!(turn.next().await.unwrap().unwrap(), Event::TextDelta(_)) {}
    let mut second = AddUserMessageParams::new("Second.");
    second.message_id = Some("second".to_owned());
    session.client().call::<AddUserMessage>(&second).await.unwrap();
    let (story, result) = follow(turn).await.unwrap();
    assert_eq!(result.end, TurnEnd::Completed);
    assert_eq!(story.iter().filter(|told| told.starts_with("assistant")).count(), 1, "{story:?}");

    ends.next().await.unwrap();
    let params = ends.next().await.unwrap().session().unwrap();
    let SessionNotification::AgentTurnCompleted(completed) = params.notification else {
        panic!("{params:?}")
    };
    assert_eq!(completed.turn_id.as_deref(), Some("second"));
}

#[tokio::test]
async fn dropped_turn_is_interrupted_and_next_one_works() {
    let replay = capture("interrupt");
    let session = session(&replay).open().await.unwrap();
    let mut turn = session.send("Count.").partial().start().await.unwrap();
    while !matches!(turn.next().await.unwrap().unwrap(), Event::TextDelta(_)) {}
    drop(turn);
    assert_eq!(session.send("Again.").await.unwrap().text, "Fine.");
}

#[tokio::test]
async fn client_that_decides_otherwise_than_recorded_learns_why_its_turn_ends() {
    let replay = capture("tool_permission_cancel");
    let session = yes(session(&replay)).open().await.unwrap();
    let mut turn = session.send("Run it.").start().await.unwrap();
    let (mut told, mut end) = (None, None);
    while let Some(event) = turn.next().await {
        match event {
            Ok(Event::Error(error)) => told = Some(error.message),
            Ok(_) => {}
            Err(error) => end = Some(error),
        }
    }
    let told = told.unwrap();
    assert!(told.contains("with `proceed_once`, where line") && told.contains("has a no"), "{told}");
    assert!(end.unwrap().is_connection());
    assert!(replay.check().unwrap_err().with_causes().to_string().contains("proceed_once"));
}

#[tokio::test]
async fn unrecorded_call_fails_and_names_the_recorded_one() {
    let replay = capture("text_turn");
    let session = session(&replay).open().await.unwrap();
    let refused = session.client().list_skills().await.unwrap_err().with_causes().to_string();
    assert!(refused.contains("the client called `droid.list_skills`, which was not recorded"), "{refused}");
    assert!(refused.contains("would now call `droid.add_user_message` (line 5)"), "{refused}");
}

#[tokio::test]
async fn client_that_stops_early_fails_the_check() {
    let replay = capture("interrupt");
    let session = session(&replay).open().await.unwrap();
    session.close().await.unwrap();
    let left = replay.check().unwrap_err().with_causes().to_string();
    assert!(left.contains("would now call `droid.add_user_message` (line 5)"), "{left}");
}

#[tokio::test]
async fn playing_strictly_looks_at_arguments_too() {
    let replay = capture("text_turn").strict();
    let refused = session(&replay).model("another").open().await.unwrap_err().with_causes().to_string();
    assert!(refused.contains("with other arguments than in line 1"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn replay_times_out_on_idle_client() {
    let replay = capture("interrupt");
    let session = session(&replay).open().await.unwrap();
    let mut errors = session.notifications().only("error");
    let error = errors.next().await.unwrap();
    assert!(error.params.as_ref().unwrap().text().contains("but nothing came within"), "{error:?}");
}
