//! Turns without tools. The order is that of the captures named in each test.

use musher_engine::{Command, Prompt};
use musher_model::{ErrorClass, ModelError};

use crate::scripted::{Reply, endless, text, thinking, too_long};
use crate::stage::{Stage, lines};

/// `text_turn`.
#[tokio::test]
async fn text_turn_emits_events_in_the_expected_order() {
    let mut stage = Stage::open([text("Hello from the scripted model.")]).await;
    stage.say("Say hello.");
    let seen = stage.until_idle().await;
    assert_eq!(
        seen,
        [
            "reply 2",
            "state Streaming",
            "hidden user",
            "message user for 2: Say hello.",
            "state Thinking",
            "state Streaming",
            "text 0 \"Hello \"",
            "text 0 \"from \"",
            "text 0 \"the \"",
            "text 0 \"scripted \"",
            "text 0 \"model.\"",
            "text 0 complete",
            "message assistant: Hello from the scripted model.",
            "used 800",
            "turn Completed",
            "state Idle",
        ]
    );
    let title = stage.next().await.event;
    assert_eq!(lines(&[title]), ["title \"Say hello.\" FirstMessage"]);
}

/// `thinking_turn`.
#[tokio::test]
async fn thinking_is_a_block_of_its_own() {
    let mut stage = Stage::open([thinking("Let me think.", "Answer.")]).await;
    stage.say("Do it.");
    let seen = stage.until_idle().await;
    assert_eq!(
        seen[4..],
        [
            "state Thinking",
            "thinking 0 \"Let me think.\"",
            "thinking 0 complete",
            "state Streaming",
            "text 1 \"Answer.\"",
            "text 1 complete",
            "message assistant: (Let me think.) | Answer.",
            "used 800",
            "turn Completed",
            "state Idle",
        ]
    );
}

/// `queue_message`.
#[tokio::test]
async fn prompt_during_a_turn_starts_another_turn() {
    let mut stage = Stage::open([text("one two"), text("second")]).await;
    stage.say("first");
    stage.say("again");
    let mut seen = stage.until_idle().await;
    seen.extend(stage.until_idle().await);
    assert_eq!(
        seen,
        [
            "reply 2",
            "state Streaming",
            "hidden user",
            "message user for 2: first",
            "state Thinking",
            "reply 3",
            "state Streaming",
            "text 0 \"one \"",
            "text 0 \"two\"",
            "text 0 complete",
            "message assistant: one two",
            "used 800",
            "turn Completed",
            "state Idle",
            "title \"first\" FirstMessage",
            "state Streaming",
            "message user for 3: again",
            "state Thinking",
            "state Streaming",
            "text 0 \"second\"",
            "text 0 complete",
            "message assistant: second",
            "used 1600",
            "turn Completed",
            "state Idle",
        ]
    );
}

/// `interrupt`.
#[tokio::test]
async fn interrupt_ends_the_answer_and_drops_its_text() {
    let mut stage = Stage::open([endless("one two"), text("Fine.")]).await;
    stage.say("Count.");
    stage.until(|event| crate::stage::line(event) == "text 0 \"two\"").await;
    stage.submit(Command::Interrupt);
    assert_eq!(
        stage.until_idle().await,
        [
            "hidden system: Request cancelled by user",
            "hidden system: Request interrupted by user",
            "reply 3",
            "turn Cancelled",
            "state Idle",
        ]
    );
    stage.say("Again.");
    assert_eq!(stage.until_idle().await.last().unwrap(), "state Idle");
    let command_id = stage.submit(Command::Interrupt);
    stage.reply(&command_id).await;
}

#[tokio::test]
async fn interrupt_discards_queued_prompts() {
    let mut stage = Stage::open([endless("one")]).await;
    stage.say("first");
    stage.until(|event| crate::stage::line(event) == "text 0 \"one\"").await;
    stage.say("second");
    stage.submit(Command::Interrupt);
    let seen = stage.until_idle().await;
    assert!(seen.contains(&"discarded \"second\"".to_owned()), "{seen:?}");
    assert_eq!(stage.model.requests().len(), 1);
}

#[tokio::test]
async fn prompt_after_an_interrupt_runs_after_it() {
    let mut stage = Stage::open([endless("one"), text("Fine.")]).await;
    stage.say("first");
    stage.until(|event| crate::stage::line(event) == "text 0 \"one\"").await;
    // both are there before the agent looks
    stage.submit(Command::Interrupt);
    stage.say("second");
    stage.until_idle().await;
    let seen = stage.until_idle().await;
    assert!(seen.contains(&"message assistant: Fine.".to_owned()), "{seen:?}");
    let interrupt = stage.submit(Command::Interrupt);
    let close = stage.submit(Command::Close { reason: None });
    stage.reply(&interrupt).await;
    stage.reply(&close).await;
}

/// `model_error_401`.
#[tokio::test]
async fn rejected_api_key_ends_the_turn_with_a_problem() {
    let error = ModelError::reported(401, "", "scripted error 401");
    let mut stage = Stage::open([Reply::Fail(Vec::new(), error)]).await;
    stage.say("Do it.");
    let seen = stage.until_idle().await;
    assert_eq!(
        seen[4..],
        [
            "state Thinking",
            "problem 401 scripted error 401 Some(\"Error\")",
            "note system: 401 scripted error 401",
            "turn ModelAuthenticationFailed",
            "state Idle",
        ]
    );
}

/// `model_error_429_retry`.
#[tokio::test]
async fn retry_is_emitted_and_discards_the_partial_answer() {
    let error = ModelError::new(ErrorClass::RateLimit, "slow down");
    let mut stage = Stage::open([Reply::Fail(Vec::new(), error), text("Recovered.")]).await;
    stage.say("Do it.");
    let seen = stage.until_idle().await;
    assert_eq!(
        seen[4..10],
        [
            "state Thinking",
            "retry 1 RateLimited",
            "retracted",
            "state Streaming",
            "text 0 \"Recovered.\"",
            "text 0 complete",
        ]
    );
    assert_eq!(seen[12], "turn Completed");
}

#[tokio::test]
async fn answer_cut_at_the_token_limit_is_continued() {
    let mut stage = Stage::open([too_long("one"), text("two")]).await;
    stage.say("Count.");
    let seen = stage.until_idle().await;
    let messages: Vec<_> = seen.iter().filter(|line| line.starts_with("message assistant")).collect();
    assert_eq!(messages, ["message assistant: one", "message assistant: two"]);
    assert_eq!(stage.model.requests().len(), 2);
}

#[tokio::test]
async fn endless_repetition_is_cut_and_asked_for_once_more() {
    let same = || endless(&"again ".repeat(60));
    let mut stage = Stage::open([same(), same()]).await;
    stage.say("Count.");
    let seen = stage.until_idle().await;
    assert_eq!(seen.iter().filter(|line| *line == "retracted").count(), 2);
    assert_eq!(seen[seen.len() - 2], "turn Error");
    assert_eq!(stage.model.requests().len(), 2);
}

#[tokio::test]
async fn message_id_of_the_client_names_the_turn() {
    let mut stage = Stage::open([text("Hello.")]).await;
    let prompt = Prompt { text: "Hi".to_owned(), message_id: Some("mine".to_owned()), ..Prompt::default() };
    stage.submit(Command::Prompt(Box::new(prompt)));
    let seen = stage.until(crate::stage::is_idle).await;
    let turns: Vec<_> = seen
        .iter()
        .filter_map(|event| match event {
            musher_engine::Event::TurnCompleted(completed) => Some(completed.turn_id.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(turns, ["mine"]);
}

#[tokio::test]
async fn without_a_session_a_prompt_is_refused() {
    let mut stage = Stage::empty([]);
    let command_id = stage.say("Hi");
    let error = stage.outcome(&command_id).await.unwrap_err();
    assert_eq!(error.to_string(), "No active session. Call initialize_session or load_session first.");
}

#[tokio::test]
async fn draining_finishes_the_turn_and_then_ends() {
    let mut stage = Stage::open([text("Hello.")]).await;
    stage.say("Hi");
    stage.agent.drain().unwrap();
    let seen = stage.until_end().await;
    assert!(seen.contains(&"turn Completed".to_owned()), "{seen:?}");
}

#[tokio::test]
async fn stopping_ends_the_turn_at_once() {
    let mut stage = Stage::open([endless("one")]).await;
    stage.say("Hi");
    stage.until(|event| crate::stage::line(event) == "text 0 \"one\"").await;
    stage.agent.stop().unwrap();
    let seen = stage.until_end().await;
    assert!(seen.contains(&"turn ProcessExit".to_owned()), "{seen:?}");
}

#[tokio::test]
async fn stalled_reader_stops_the_model_but_not_interrupts() {
    let many = (0..5000).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    let mut stage = Stage::open([text(&many)]).await;
    stage.say("Count.");
    stage.until(|event| crate::stage::line(event) == "text 0 \"0 \"").await;
    let command_id = stage.submit(Command::Interrupt);
    let seen = stage.until(|event| crate::stage::line(event) == format!("reply {}", command_id.0)).await;
    assert!(seen.len() < 2000, "{} events were made without a reader", seen.len());
}
