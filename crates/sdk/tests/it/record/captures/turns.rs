//! Turns without questions: text, thoughts, structured answers, failing models, hooks, attachments, an old droid.

use musher::wire::AgentTurnCompletionReason as Reason;
use musher::{Document, Event, FailureKind, Image, Replay, TurnEnd};
use serde_json::json;

use crate::record::stage::{DEADLINE, capture, follow, one_turn, path, session};

#[tokio::test]
async fn text_turn_has_an_echo_an_answer_and_a_result() {
    let replay = capture("text_turn");
    let (story, result) = one_turn(&replay, session(&replay)).await;
    assert_eq!(story, ["user: Say hello.", "assistant: Hello from the scripted model.", "Completed"]);
    assert_eq!(result.text, "Hello from the scripted model.");
    let usage = result.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (800, 50));
    assert_eq!(result.session_id, "e794e62b-b981-4307-aaa3-4699eb8e01a9");
}

#[tokio::test]
async fn echo_has_the_id_we_gave_and_so_has_the_turn() {
    let replay = capture("text_turn");
    let session = session(&replay).open().await.unwrap();
    let result = session.send("Go.").message_id("mine \"1\"").await.unwrap();
    assert_eq!(result.turn_id, "mine \"1\"");
    let ids: Vec<_> = result.messages.iter().map(|message| message.id.as_str()).collect();
    assert_eq!(ids[..2], ["context-mine \"1\"", "mine \"1\""]);
}

#[tokio::test]
async fn old_droid_that_announces_no_end_is_done_when_it_is_idle_and_has_counted() {
    // this client did not wait for its session before it sent the prompt
    let replay = Replay::load(path("droid-0.99.0", "text_turn")).unwrap().timeout(DEADLINE);
    let (story, result) = one_turn(&replay, session(&replay)).await;
    assert_eq!(story.last().unwrap(), "Completed");
    assert_eq!(result.text, "Hello from the scripted model.");
    assert!(result.usage.is_some());
}

#[tokio::test]
async fn thoughts_are_in_the_partial_stream_only() {
    let replay = capture("thinking_turn");
    let session = session(&replay).open().await.unwrap();
    let mut turn = session.send("Go.").partial().start().await.unwrap();
    let (mut thought, mut text) = (String::new(), String::new());
    while let Some(event) = turn.next().await {
        match event.unwrap() {
            Event::ThinkingDelta(delta) => thought.push_str(&delta.text),
            Event::TextDelta(delta) => text.push_str(&delta.text),
            _ => {}
        }
    }
    assert!(!thought.is_empty());
    assert_eq!(text, "Answer.");
}

#[tokio::test]
async fn structured_answer_is_taken_from_its_own_notification() {
    let replay = capture("structured_output_ok");
    let session = session(&replay).open().await.unwrap();
    let schema = json!({"type": "object", "properties": {"number": {"type": "number"}}});
    let result = session.send("Go.").output_schema(schema).await.unwrap();
    assert_eq!(result.end, TurnEnd::Completed);
    assert_eq!(result.structured_output.unwrap().to_value().unwrap(), json!({"number": 7}));
}

#[tokio::test]
async fn failed_attempts_at_a_structured_answer_are_never_parsed() {
    let replay = capture("structured_output_bad");
    let session = session(&replay).open().await.unwrap();
    let turn = session.send("Go.").output_schema(json!({"type": "object"})).partial().start().await.unwrap();
    let (story, result) = follow(turn).await.unwrap();
    let failure = FailureKind::StructuredOutput(Reason::StructuredOutputInvalid);
    assert_eq!(result.end, TurnEnd::Failed(failure));
    assert_eq!(result.subtype(), "error_structured_output");
    assert!(result.structured_output.is_none());
    assert_eq!(
        story.iter().filter(|told| told.starts_with("error: Final response must be valid JSON")).count(),
        1
    );
    assert!(!story.iter().any(|told| told.starts_with("assistant")), "{story:?}");
}

#[tokio::test]
async fn model_that_refuses_our_key_fails_the_turn_with_its_reason() {
    let replay = capture("model_error_401");
    let (story, result) = one_turn(&replay, session(&replay)).await;
    assert_eq!(result.end, TurnEnd::Failed(FailureKind::Execution(Reason::ModelAuthenticationFailed)));
    assert_eq!(result.errors.len(), 1);
    assert!(story.contains(&"error: 401 scripted error 401".to_owned()), "{story:?}");
    assert!(result.ok().unwrap_err().with_causes().to_string().contains("401 scripted error 401"));
}

#[tokio::test]
async fn retries_and_retractions_are_reported_and_turn_completes() {
    for (name, retries) in [("model_error_429_retry", 1), ("model_error_500_retry", 2)] {
        let replay = capture(name);
        let (story, result) = one_turn(&replay, session(&replay)).await;
        assert_eq!(story.iter().filter(|told| told.starts_with("retry")).count(), retries, "{name}");
        assert_eq!(story.iter().filter(|told| *told == "retracted").count(), retries, "{name}");
        assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "Recovered after retries."));
    }
}

#[tokio::test]
async fn each_hook_command_is_reported_when_it_starts_and_ends() {
    let replay = capture("hooks");
    let (story, _) = one_turn(&replay, session(&replay)).await;
    // the hooks of the session's start ran before the turn, so they are not in its stream
    let expected = [
        "hook UserPromptSubmit started",
        "hook UserPromptSubmit ended Some(0)",
        "user: x",
        "call Execute",
        "assistant: ",
        "hook PreToolUse started",
        "hook PreToolUse ended Some(0)",
        "hook PostToolUse started",
        "hook PostToolUse ended Some(0)",
        "result of Execute",
        "assistant: ok",
        "hook Stop started",
        "hook Stop ended Some(0)",
        "Completed",
    ];
    assert_eq!(story, expected);
}

#[tokio::test]
async fn attachments_come_back_in_the_echo() {
    let replay = capture("image_message");
    let session = session(&replay).open().await.unwrap();
    let picture = Image::base64("image/png", "iVBORw0KGgo=").unwrap();
    let result = session.send("See.").image(picture).await.unwrap();
    let blocks = result.messages.iter().flat_map(|message| &message.content);
    assert!(blocks.into_iter().any(|block| matches!(block, musher::wire::ContentBlock::Image(_))));

    let replay = capture("file_message");
    let session = self::session(&replay).open().await.unwrap();
    let result = session.send("Read.").document(Document::text("a.txt", "hello")).await.unwrap();
    assert_eq!(result.text, "I read it.");
}
