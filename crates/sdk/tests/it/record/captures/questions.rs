//! Turns in which the agent asks: permissions, plans, questions to the user.

use std::sync::{Arc, Mutex};

use musher::wire::ToolConfirmationOutcome as Outcome;
use musher::{Answers, Decision, Replay, StoppedBy, TurnEnd};

use crate::record::stage::{DEADLINE, capture, follow, one_turn, path, session, yes};

#[tokio::test]
async fn permitted_command_runs_and_turn_completes() {
    let replay = capture("tool_permission_allow");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    let builder = session(&replay).on_permission_sync(move |permission| {
        log.lock().unwrap().extend(permission.sole_command().map(str::to_owned));
        Decision::allow_once()
    });
    let (story, result) = one_turn(&replay, builder).await;
    let expected = [
        "user: Run it.",
        "call Execute",
        "assistant: I will run a command.",
        "result of Execute",
        "assistant: Finished.",
        "Completed",
    ];
    assert_eq!(story, expected);
    assert_eq!(result.steps, 2);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn old_droid_asks_and_completes_the_same_way() {
    let replay = Replay::load(path("droid-0.99.0", "tool_permission_allow")).unwrap().timeout(DEADLINE);
    let (story, result) = one_turn(&replay, yes(session(&replay))).await;
    assert_eq!(result.end, TurnEnd::Completed);
    assert_eq!(story.iter().filter(|told| told.as_str() == "call Execute").count(), 1, "{story:?}");
    assert_eq!(story.iter().filter(|told| told.as_str() == "result of Execute").count(), 1, "{story:?}");
}

#[tokio::test]
async fn files_are_made_and_changed_with_permission() {
    for (name, text) in
        [("create_file", "Created."), ("edit_file", "Edited."), ("tool_permission_denylist", "ok")]
    {
        let replay = capture(name);
        let (story, result) = one_turn(&replay, yes(session(&replay))).await;
        assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, text), "{name}: {story:?}");
    }
}

#[tokio::test]
async fn lasting_permission_is_requested_once() {
    let replay = capture("tool_permission_always");
    let builder = session(&replay).on_permission_sync(|_| Decision::allow_always());
    let (story, _) = one_turn(&replay, builder).await;
    assert_eq!(story.iter().filter(|told| told.as_str() == "result of Execute").count(), 2, "{story:?}");
}

#[tokio::test]
async fn refusal_ends_the_turn_which_droid_calls_completed_and_we_do_not() {
    for name in ["tool_permission_cancel", "tool_permission_error_response"] {
        let replay = capture(name);
        let (story, result) = one_turn(&replay, session(&replay)).await;
        assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Denied), "{name}");
        assert!(story.contains(&"failure of Execute".to_owned()), "{name}: {story:?}");
        assert_eq!(result.subtype(), "success");
    }
}

#[tokio::test]
async fn handler_that_panics_counts_as_a_no() {
    let replay = capture("tool_permission_cancel");
    let builder = session(&replay).on_permission_sync(|_| -> Decision { panic!("oh no") });
    let (story, result) = one_turn(&replay, builder).await;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Denied));
    assert!(
        story.contains(&"handler failed: permission handler: it panicked: oh no".to_owned()),
        "{story:?}"
    );
}

#[tokio::test]
async fn answer_that_was_not_offered_is_not_sent() {
    let replay = capture("tool_permission_cancel");
    let wrong = Decision::from(Outcome::ProceedNewSessionHigh);
    let builder = session(&replay).on_permission_sync(move |_| wrong.clone());
    let (story, _) = one_turn(&replay, builder).await;
    let failure = story.iter().find(|told| told.starts_with("handler failed")).unwrap();
    assert!(failure.contains("`proceed_new_session_high` was not offered"), "{failure}");
}

#[tokio::test]
async fn questions_are_answered_one_by_one() {
    let replay = capture("ask_user").strict();
    // the prompt is the recorded one, because strict playing looks at it
    let text = fs_err::read_to_string(path("droid-0.225.2", "ask_user")).unwrap();
    let line: serde_json::Value =
        serde_json::from_str(text.lines().find(|line| line.contains("add_user_message")).unwrap()).unwrap();
    let mut builder = session(&replay)
        .model("custom:fake")
        .autonomy(musher::Autonomy::Off)
        .on_question_sync(|asked| asked.answer_all(|question| question.options.as_ref()?.first().cloned()));
    builder.params_mut().interaction_mode = Some(musher::wire::InteractionMode::Auto);
    let session = builder.open().await.unwrap();
    let turn = session.send(line["msg"]["params"]["text"].as_str().unwrap()).start().await.unwrap();
    let (story, result) = follow(turn).await.unwrap();
    assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "Thanks."));
    assert!(story.contains(&"result of AskUser".to_owned()), "{story:?}");
    session.close().await.unwrap();
    replay.check().unwrap();
}

#[tokio::test]
async fn declined_questions_end_the_turn() {
    for decline in [true, false] {
        let replay = capture("ask_user_cancel");
        let builder = session(&replay);
        // without a handler they are declined, too
        let builder = if decline { builder.on_question_sync(|_| Answers::Declined) } else { builder };
        let (_, result) = one_turn(&replay, builder).await;
        assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Denied));
    }
}

#[tokio::test]
async fn approved_plan_is_carried_out_in_the_same_session() {
    let replay = capture("spec_mode_exit");
    let plans = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&plans);
    let builder = session(&replay).spec_mode().on_permission_sync(move |asked| {
        log.lock().unwrap().extend(asked.plan().map(str::to_owned));
        Decision::allow_once()
    });
    let (_, result) = one_turn(&replay, builder).await;
    assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "Implemented."));
    assert_eq!(plans.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn refused_plan_ends_the_turn() {
    let replay = capture("spec_mode_cancel");
    let (_, result) = one_turn(&replay, session(&replay).spec_mode()).await;
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Denied));
}

#[tokio::test]
async fn plan_that_is_handed_over_moves_the_session() {
    let replay = capture("spec_mode_new_session");
    let hand_over = Decision::from(Outcome::ProceedNewSessionLow);
    let session =
        session(&replay).spec_mode().on_permission_sync(move |_| hand_over.clone()).open().await.unwrap();
    let first = session.id();
    let (story, result) = follow(session.send("Plan it.").start().await.unwrap()).await.unwrap();
    assert_eq!(result.end, TurnEnd::HandedOver);
    assert_eq!(result.text, "Implemented.");
    assert_ne!(result.session_id, first);
    assert_eq!(session.id(), result.session_id);
    assert!(story.contains(&"assistant: Implemented.".to_owned()), "{story:?}");
}

#[tokio::test]
async fn mcp_tools_ask_and_their_errors_are_results() {
    let replay = capture("mcp_tool");
    let answers = Mutex::new(vec!["cancel", "proceed_always_tools", "proceed_once", "proceed_once"]);
    let session = session(&replay)
        .on_permission_sync(move |_| {
            let answer = answers.lock().unwrap().pop().unwrap();
            Decision::from(Outcome::from(answer))
        })
        .open()
        .await
        .unwrap();
    session.client().list_mcp_servers().await.unwrap();
    session.client().list_mcp_tools().await.unwrap();
    let mut ends = Vec::new();
    for prompt in ["Use it.", "Again.", "Again."] {
        let (story, result) = follow(session.send(prompt).start().await.unwrap()).await.unwrap();
        ends.push((story.iter().filter(|told| told.contains(" of ")).count(), result.end));
    }
    let denied = TurnEnd::Interrupted(StoppedBy::Denied);
    assert_eq!(ends, [(2, TurnEnd::Completed), (2, TurnEnd::Completed), (1, denied)]);
    session.client().list_mcp_servers().await.unwrap();
    session.close().await.unwrap();
    replay.check().unwrap();
}
