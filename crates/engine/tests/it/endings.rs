//! Answers that are not a normal end: refused, paused, cut off in thinking or in a call, or too long for the context window.

use musher_engine::{Event, NewSession};
use musher_model::{Arguments, Block, FinishReason, ModelEvent, Request, Role, Thinking, ToolCall};
use serde_json::json;

use crate::scripted::{Reply, USAGE, calls, text};
use crate::stage::{Stage, is_idle, lines};

fn ended(mut events: Vec<ModelEvent>, reason: FinishReason) -> Reply {
    events.push(ModelEvent::Usage(USAGE));
    events.push(ModelEvent::Finish(reason));
    Reply::Events(events)
}

fn words(text: &str) -> Vec<ModelEvent> {
    vec![ModelEvent::TextDelta(text.to_owned())]
}

fn thoughts() -> Vec<ModelEvent> {
    let text = "Hm.".to_owned();
    vec![ModelEvent::ThinkingDelta(text.clone()), ModelEvent::ThinkingEnd(Thinking { text, proof: None })]
}

fn last_text(request: &Request) -> String {
    let last = request.messages.last().unwrap();
    let texts = last.content.iter().map(|block| match block {
        Block::Text { text } => text.clone(),
        other => format!("{other:?}"),
    });
    texts.collect()
}

/// Runs one turn; returns its events.
async fn turn(stage: &mut Stage, prompt: &str) -> Vec<Event> {
    stage.say(prompt);
    stage.until(is_idle).await
}

fn problem(events: &[Event]) -> (String, Option<String>) {
    let problem = events.iter().find_map(|event| match event {
        Event::Problem { message, name, .. } => Some((message.clone(), name.clone())),
        _ => None,
    });
    problem.expect("a problem")
}

#[tokio::test]
async fn refusal_is_its_own_outcome_and_leaves_nothing_in_the_conversation() {
    let mut events = words("Hello..");
    events.push(ModelEvent::ToolStart { index: 0, id: "c".to_owned(), name: "LS".to_owned() });
    events.push(ModelEvent::Refusal("It could enable harm.".to_owned()));
    let arguments = Arguments::Object(serde_json::Map::new());
    let call = ToolCall { index: 0, id: "c".to_owned(), name: "LS".to_owned(), arguments };
    events.push(ModelEvent::ToolCall(call));
    let mut stage = Stage::open([ended(events, FinishReason::ContentFilter), text("Fine.")]).await;
    let events = turn(&mut stage, "Do harm.").await;
    let seen = lines(&events);
    assert!(seen.contains(&"turn ModelRefused".to_owned()), "{seen:#?}");
    let expected = "The model refused to answer: It could enable harm.".to_owned();
    assert_eq!(problem(&events), (expected, Some("ModelRefusal".to_owned())));
    let closed =
        events.iter().any(|event| matches!(event, Event::ToolResult { id, is_error: true, .. } if id == "c"));
    assert!(closed, "the call that was shown gets a result: {seen:#?}");

    turn(&mut stage, "Be nice.").await;
    let request = stage.model.requests().pop().unwrap();
    assert!(request.messages.iter().all(|message| message.role == Role::User), "{:?}", request.messages);
}

#[tokio::test]
async fn empty_refusal_is_shown_too() {
    let mut stage = Stage::open([ended(Vec::new(), FinishReason::ContentFilter)]).await;
    let events = turn(&mut stage, "Do harm.").await;
    let text = "The model refused to answer, or a filter of its vendor blocked the answer.";
    assert_eq!(problem(&events).0, text);
}

#[tokio::test]
async fn paused_answer_is_continued_as_it_is() {
    let search = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []});
    let mut events = words("I search.");
    events.extend([ModelEvent::Other(search.clone()), ModelEvent::Other(found.clone())]);
    let mut stage = Stage::open([ended(events, FinishReason::Paused), text("Found.")]).await;
    let seen = lines(&turn(&mut stage, "Search.").await);
    assert!(seen.contains(&"turn Completed".to_owned()), "{seen:#?}");
    let request = stage.model.requests().pop().unwrap();
    let last = request.messages.last().unwrap();
    let expected = [Block::text("I search."), Block::Other(search), Block::Other(found)];
    assert_eq!((last.role, last.content.as_slice()), (Role::Assistant, &expected[..]));
}

#[tokio::test]
async fn endless_pauses_end_the_turn() {
    let pause = || ended(words("Wait."), FinishReason::Paused);
    let mut stage = Stage::open((0..6).map(|_| pause())).await;
    let events = turn(&mut stage, "Search.").await;
    assert!(problem(&events).0.contains("6 times in a row"), "{:?}", problem(&events));
    assert_eq!(stage.model.requests().len(), 6);
}

#[tokio::test]
async fn answer_cut_off_in_thinking_is_requested_again_with_a_hint() {
    let mut stage = Stage::open([ended(thoughts(), FinishReason::Length), text("Done.")]).await;
    let seen = lines(&turn(&mut stage, "Think.").await);
    assert!(seen.contains(&"turn Completed".to_owned()), "{seen:#?}");
    let hint = last_text(&stage.model.requests().pop().unwrap());
    assert!(hint.contains("while you were thinking"), "{hint}");
}

#[tokio::test]
async fn call_that_was_cut_off_does_not_run_and_says_so() {
    let arguments = Arguments::Malformed {
        text: "{\"a".to_owned(),
        problem: "cut off: use several smaller calls".to_owned(),
    };
    let start = ModelEvent::ToolStart { index: 0, id: "c".to_owned(), name: "Create".to_owned() };
    let call =
        ModelEvent::ToolCall(ToolCall { index: 0, id: "c".to_owned(), name: "Create".to_owned(), arguments });
    let mut stage = Stage::open([ended(vec![start, call], FinishReason::Length), text("Done.")]).await;
    turn(&mut stage, "Write.").await;
    let request = stage.model.requests().pop().unwrap();
    let last = format!("{:?}", request.messages.last().unwrap());
    assert!(last.contains("use several smaller calls") && last.contains("is_error: true"), "{last}");
}

#[tokio::test]
async fn full_context_window_is_compacted_and_continued_once() {
    let full = |text: &str| ended(words(text), FinishReason::ContextWindow);
    let script = [calls("", &[("LS", json!({}))]), full("The answer is"), text("The summary."), text("42.")];
    let mut stage = Stage::open_with(script, NewSession::default()).await;
    let seen = lines(&turn(&mut stage, "Compute.").await);
    assert!(seen.contains(&"turn Completed".to_owned()), "{seen:#?}");
    assert!(seen.iter().any(|line| line.starts_with("compacted")), "{seen:#?}");
    let hint = last_text(&stage.model.requests().pop().unwrap());
    assert!(hint.contains("Continue exactly where it stopped"), "{hint}");
}

#[tokio::test]
async fn parts_of_an_answer_keep_their_order() {
    let Reply::Events(mut events) = calls("I look.", &[("LS", json!({})), ("LS", json!({"path": "."}))])
    else {
        panic!("events")
    };
    let second =
        events.iter().position(|event| matches!(event, ModelEvent::ToolStart { index: 1, .. })).unwrap();
    for event in thoughts().into_iter().rev() {
        events.insert(second, event);
    }
    let mut stage = Stage::open([Reply::Events(events), text("Done.")]).await;
    turn(&mut stage, "Look.").await;
    let request = stage.model.requests().pop().unwrap();
    let answer = request.messages.iter().find(|message| message.role == Role::Assistant).unwrap();
    let kinds: Vec<&str> = answer
        .content
        .iter()
        .map(|block| match block {
            Block::Text { .. } => "text",
            Block::Thinking(_) => "thinking",
            Block::ToolUse(_) => "call",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["text", "call", "thinking", "call"]);
}
