//! Answers with far more tool calls than any model needs: the turn ends, each call has one result, and the session can be used on.

use std::collections::HashMap;
use std::sync::Arc;

use musher_engine::{Command, Content, Event, LoadSession, NewSession, Reply, SettingsChange};
use musher_model::{Block, Request};
use serde_json::{Value, json};

use crate::scripted::{calls, text};
use crate::stage::{Stage, is_idle, parts};

/// Far more calls than run.
const CALLS: usize = 10_000;
/// How many calls of an answer run.
const LIMIT: usize = 512;

/// Calls of all kinds that need no approval: an unknown tool, arguments that are refused, arguments that cannot be read, a tool of the
/// engine itself, and a tool that reads the disk.
fn mixture(count: usize) -> Vec<(&'static str, Value)> {
    let kinds = [
        ("Nope", json!({})),
        ("Execute", json!({})),
        ("Read", json!("oops")),
        ("ToolSearch", json!({"query": "nothing like it"})),
        ("LS", json!({})),
    ];
    kinds.into_iter().cycle().take(count).collect()
}

/// How often each call has a result in a request.
fn results_of(request: &Request) -> HashMap<&str, usize> {
    let mut found = HashMap::new();
    for block in request.messages.iter().flat_map(|message| &message.content) {
        if let Block::ToolResult(result) = block {
            *found.entry(result.id.as_str()).or_default() += 1;
        }
    }
    found
}

fn assert_one_result_each(found: &HashMap<&str, usize>) {
    assert_eq!(found.len(), CALLS);
    for index in 0..CALLS {
        assert_eq!(found.get(format!("call_{index}").as_str()), Some(&1), "call_{index}");
    }
}

/// Plays a turn with these calls, and a second one; returns the results clients were told of in the first.
async fn two_turns(stage: &mut Stage, many: &[(&str, Value)]) -> Vec<(String, String)> {
    stage.model.tell([calls("", many), text("Done."), text("Still here.")]);
    // the results are longer than the context
    let settings = SettingsChange { compaction_check: Some(false), ..SettingsChange::default() };
    stage.create(NewSession { settings, ..NewSession::default() }).await;
    stage.say("Do it.");
    let seen = stage.until(is_idle).await;
    let told: Vec<_> = seen
        .iter()
        .filter_map(|event| match event {
            Event::ToolResult { id, content, .. } => Some((id.clone(), parts(content))),
            _ => None,
        })
        .collect();
    stage.say("Are you there?");
    let last = stage.until_idle().await;
    assert!(last.contains(&"message assistant: Still here.".to_owned()), "{last:?}");
    told
}

#[tokio::test]
async fn answer_with_ten_thousand_calls_ends_and_the_session_stays_usable() {
    let mut stage = Stage::empty([]);
    let told = two_turns(&mut stage, &mixture(CALLS)).await;

    let mut of_clients = HashMap::new();
    for (id, _) in &told {
        *of_clients.entry(id.as_str()).or_default() += 1;
    }
    assert_one_result_each(&of_clients);
    let is_in_order = |(index, (id, _)): (usize, &(String, String))| *id == format!("call_{index}");
    assert!(told.iter().enumerate().all(is_in_order));
    let not_run = "Error: Not run: one answer can have at most 512 tool calls.";
    for (index, (_, text)) in told.iter().enumerate() {
        assert_eq!(text.starts_with(not_run), index >= LIMIT, "{index}: {text}");
    }
    assert!(told[LIMIT].1.ends_with("Repeat this call in your next answer if you still need it."));

    let requests = stage.model.requests();
    assert_one_result_each(&results_of(&requests[1]));
    assert_one_result_each(&results_of(&requests[2]));

    // also when it is resumed
    let id = stage.session.clone();
    stage.agent.stop().unwrap();
    stage.until_end().await;
    let mut stage = Stage::at(Arc::clone(&stage.home), Arc::clone(&stage.work), []);
    let command_id = stage.submit(Command::Load(Box::new(LoadSession { id, ..LoadSession::default() })));
    let Reply::Loaded(loaded) = stage.reply(&command_id).await else { panic!("not loaded") };
    let mut of_log = HashMap::new();
    for content in loaded.messages.iter().flat_map(|message| &message.content) {
        if let Content::ToolResult { tool_use_id, .. } = content {
            *of_log.entry(tool_use_id.as_str()).or_default() += 1;
        }
    }
    assert_one_result_each(&of_log);
}

/// Each of these calls is over at once, which begins the next one.
#[tokio::test]
async fn calls_that_end_at_once_do_not_use_up_the_stack() {
    for call in [("Nope", json!({})), ("ToolSearch", json!({"query": "nothing like it"}))] {
        let mut stage = Stage::empty([]);
        let told = two_turns(&mut stage, &vec![call; CALLS]).await;
        assert_eq!(told.len(), CALLS);
    }
}
