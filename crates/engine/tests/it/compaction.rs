//! Summing up: because a client asks for it, because the conversation is too long, because the model cannot read all of it.

use std::sync::Arc;

use musher_engine::{
    Command, Error, Event, LoadSession, Loaded, NewSession, Reply, SettingsChange, WorkingState,
};
use musher_model::{Block, ErrorClass, FinishReason, ModelError, ModelEvent, Request, Usage};
use serde_json::json;

use crate::scripted::{self, USAGE, calls, endless, text};
use crate::stage::{Stage, line, lines};

/// Less than each answer of the scripted model uses.
fn small() -> NewSession {
    let settings = SettingsChange { compaction_token_limit: Some(USAGE.input), ..SettingsChange::default() };
    NewSession { settings, ..NewSession::default() }
}

fn ls() -> scripted::Reply {
    calls("", &[("LS", json!({}))])
}

fn too_long() -> scripted::Reply {
    scripted::Reply::Fail(Vec::new(), ModelError::new(ErrorClass::ContextLength, "prompt is too long"))
}

async fn compact(stage: &mut Stage, instructions: Option<&str>) -> Result<(String, usize), Error> {
    let command_id = stage.submit(Command::Compact { instructions: instructions.map(str::to_owned) });
    match stage.outcome(&command_id).await? {
        Reply::Compacted { session, removed } => Ok((session.as_str().to_owned(), removed)),
        other => panic!("{other:?}"),
    }
}

async fn load(stage: &mut Stage, id: &str) -> Loaded {
    let command_id =
        stage.submit(Command::Load(Box::new(LoadSession { id: id.to_owned(), ..LoadSession::default() })));
    match stage.reply(&command_id).await {
        Reply::Loaded(loaded) => *loaded,
        other => panic!("{other:?}"),
    }
}

/// The texts of a request, message by message.
fn texts(request: &Request) -> Vec<String> {
    let text = |block: &Block| match block {
        Block::Text { text, .. } => text.clone(),
        other => format!("{other:?}"),
    };
    request.messages.iter().map(|message| message.content.iter().map(text).collect::<String>()).collect()
}

/// `compact`.
#[tokio::test]
async fn compaction_by_a_client_creates_a_session_with_a_summary() {
    let script = [text("One."), text("Two."), text("The summary."), text("Still here."), text("New.")];
    let mut stage = Stage::open(script).await;
    for prompt in ["First.", "Second."] {
        stage.say(prompt);
        stage.until_idle().await;
    }
    let (new, removed) = compact(&mut stage, Some("Keep names.")).await.unwrap();
    assert_eq!(removed, 5, "two prompts, two answers, and the context message");
    let asked = stage.model.requests()[2].clone();
    assert!(asked.tools.is_empty() && asked.messages.len() == 1 && asked.system.len() == 1);
    let shown = &texts(&asked)[0];
    assert!(shown.contains("First.") && shown.contains("Two.") && shown.contains("Keep names."), "{shown}");

    // the agent stays where it is
    stage.say("Where are we?");
    stage.until_idle().await;
    let asked = texts(&stage.model.requests()[3]);
    assert!(asked.contains(&"First.".to_owned()) && !asked.iter().any(|text| text.contains("The summary.")));

    let loaded = load(&mut stage, &new).await;
    assert_eq!((loaded.id.as_str(), loaded.messages.len()), (new.as_str(), 0));
    stage.say("And here?");
    stage.until_idle().await;
    let asked = texts(&stage.model.requests()[4]);
    assert_eq!(asked.len(), 3, "the summary, the context message, the prompt: {asked:#?}");
    assert!(asked[0].contains("The summary.") && asked[2] == "And here?", "{asked:#?}");
}

#[tokio::test]
async fn without_a_summary_there_is_no_new_session_and_nothing_is_lost() {
    let empty =
        scripted::Reply::Events(vec![ModelEvent::Usage(USAGE), ModelEvent::Finish(FinishReason::Stop)]);
    let refused = scripted::Reply::Fail(Vec::new(), ModelError::new(ErrorClass::Auth, "no key"));
    let mut stage = Stage::open([text("One."), empty, refused, text("Two.")]).await;
    assert!(matches!(compact(&mut stage, None).await, Err(Error::Invalid(_))), "there is nothing yet");
    stage.say("First.");
    stage.until_idle().await;
    for expected in ["no text", "no key"] {
        let Err(Error::Internal(reason)) = compact(&mut stage, None).await else { panic!("a summary") };
        assert!(reason.contains(expected), "{reason}");
    }
    stage.say("Second.");
    stage.until_idle().await;
    assert_eq!(stage.model.requests().last().unwrap().messages.len(), 4);
    let sessions = fs_err::read_dir(stage.home.path().join("sessions")).unwrap().flatten();
    let logs = sessions.flat_map(|folder| fs_err::read_dir(folder.path()).unwrap().flatten());
    assert_eq!(logs.filter(|entry| entry.path().extension().is_some_and(|end| end == "jsonl")).count(), 1);
}

#[tokio::test]
async fn turn_continues_while_a_client_compacts_the_session() {
    let mut stage = Stage::open([endless("one"), text("The summary.")]).await;
    stage.say("Go.");
    stage.until(|event| line(event) == "text 0 \"one\"").await;
    let (_, removed) = compact(&mut stage, None).await.unwrap();
    assert_eq!(removed, 2);
    stage.submit(Command::Interrupt);
    assert!(stage.until_idle().await.contains(&"turn Cancelled".to_owned()));
}

#[tokio::test]
async fn long_conversation_is_compacted_after_the_answer() {
    let script = [text("One."), text("Summary one."), text("Two."), text("Summary two.")];
    let mut stage = Stage::open_with(script, small()).await;
    stage.say("First.");
    let seen = stage.until_idle().await;
    let from = seen.iter().position(|line| line == "state Compacting").unwrap();
    assert_eq!(
        seen[from - 2..],
        [
            "message assistant: One.",
            "used 800",
            "state Compacting",
            "compacted 2",
            "used 1600",
            "state Streaming",
            "turn Completed",
            "state Idle"
        ]
    );
    stage.say("Second.");
    let all = stage.until(crate::stage::is_idle).await;
    let asked = texts(&stage.model.requests()[2]);
    assert!(asked[0].contains("Summary one."), "{asked:#?}");
    assert!(asked[1].contains("system-reminder"), "the context message is sent again: {asked:#?}");
    assert_eq!(asked[2..], ["One.", "Second."], "the last message is kept as it is");
    let boundary = all.iter().find_map(|event| match event {
        Event::Compacted { boundary, .. } => boundary.clone(),
        _ => None,
    });
    let last = all.iter().find_map(|event| match event {
        Event::Message { message, .. } if message.text() == "Two." => Some(message.id.clone()),
        _ => None,
    });
    assert_eq!(boundary, last);
    assert!(texts(&stage.model.requests()[3])[0].contains("Summary one."), "the summary is compacted, too");
}

#[tokio::test]
async fn compaction_within_a_turn_keeps_calls_with_their_results() {
    let script =
        [ls(), text("Summary one."), ls(), text("Summary two."), text("Done."), text("Summary three.")];
    let mut stage = Stage::open_with(script, small()).await;
    stage.say("Look twice.");
    let seen = stage.until_idle().await;
    assert!(seen.contains(&"turn Completed".to_owned()), "{seen:#?}");
    let order: Vec<_> = seen
        .iter()
        .filter(|line| {
            line.starts_with("call_0 done") || line.starts_with("state") || line.starts_with("comp")
        })
        .map(|line| line.split(':').next().unwrap_or_default())
        .collect();
    assert_eq!(
        order[4..9],
        ["call_0 done", "state Compacting", "compacted 2", "state Streaming", "state Thinking"],
        "{order:#?}"
    );
    for index in [2, 4] {
        let request = &stage.model.requests()[index];
        let blocks: Vec<_> = request.messages.iter().flat_map(|message| &message.content).collect();
        let calls = blocks.iter().filter(|block| matches!(block, Block::ToolUse(_))).count();
        let results = blocks.iter().filter(|block| matches!(block, Block::ToolResult(_))).count();
        assert!(calls == results && calls > 0, "{request:#?}");
    }
}

#[tokio::test]
async fn large_result_is_compacted_before_the_model_reads_it() {
    let settings = SettingsChange { compaction_token_limit: Some(5000), ..SettingsChange::default() };
    let new = NewSession { settings, ..NewSession::default() };
    let mut stage = Stage::empty([text("One.")]);
    let path = stage.work.path().join("big.txt");
    fs_err::write(&path, "a line of text\n".repeat(4000)).unwrap();
    let read = calls("", &[("Read", json!({"file_path": path}))]);
    stage.model.tell([read, text("The summary."), text("Done.")]);
    stage.create(new).await;
    stage.say("First.");
    stage.until_idle().await;
    stage.say("Read it.");
    let seen = stage.until_idle().await;
    assert!(seen.contains(&"state Compacting".to_owned()), "{seen:#?}");
    assert!(seen.contains(&"message assistant: Done.".to_owned()), "{seen:#?}");
    let requests = stage.model.requests();
    let asked = texts(&requests[3]);
    assert!(asked[0].contains("The summary.") && !asked.contains(&"First.".to_owned()), "{asked:#?}");
    assert!(asked.iter().any(|text| text.contains("a line of text")), "the result is kept");
}

#[tokio::test]
async fn context_overflow_compacts_and_retries_once() {
    let mut stage = Stage::open([text("One."), too_long(), text("The summary."), text("Two.")]).await;
    stage.say("First.");
    stage.until_idle().await;
    stage.say("Second.");
    let seen = stage.until_idle().await;
    assert!(
        seen.contains(&"state Compacting".to_owned()) && seen.contains(&"turn Completed".to_owned()),
        "{seen:#?}"
    );
    let asked = texts(&stage.model.requests()[3]);
    assert!(asked[0].contains("The summary.") && asked.last().unwrap() == "Second.", "{asked:#?}");
}

#[tokio::test]
async fn context_overflow_after_compaction_is_reported() {
    let mut stage = Stage::open([text("One."), too_long(), text("The summary."), too_long()]).await;
    stage.say("First.");
    stage.until_idle().await;
    stage.say("Second.");
    let seen = stage.until_idle().await;
    assert!(seen.contains(&"problem prompt is too long Some(\"Error\")".to_owned()), "{seen:#?}");
    assert!(seen.contains(&"turn ModelRequestRejected".to_owned()));
}

#[tokio::test]
async fn failed_summary_does_not_stop_the_turn() {
    let refused = || scripted::Reply::Fail(Vec::new(), ModelError::new(ErrorClass::Auth, "no key"));
    let mut stage = Stage::open_with([ls(), refused(), text("Done.")], small()).await;
    stage.say("Look.");
    let seen = stage.until_idle().await;
    assert!(
        seen.contains(&"turn Completed".to_owned()) && seen.contains(&"message assistant: Done.".to_owned())
    );
    assert!(!seen.iter().any(|line| line.starts_with("compacted")), "{seen:#?}");
}

#[tokio::test]
async fn interrupt_ends_compaction_without_losing_messages() {
    let mut stage = Stage::open_with([ls(), endless("The"), text("Fine.")], small()).await;
    stage.say("Look.");
    stage.until(|event| matches!(event, Event::State(WorkingState::Compacting))).await;
    stage.submit(Command::Interrupt);
    let seen = stage.until_idle().await;
    assert!(seen.contains(&"turn Cancelled".to_owned()), "{seen:#?}");
    let change = SettingsChange { compaction_token_limit: Some(1_000_000), ..SettingsChange::default() };
    stage.submit(Command::ChangeSettings(Box::new(change)));
    stage.say("Go on.");
    stage.until_idle().await;
    let asked = texts(stage.model.requests().last().unwrap());
    assert!(asked.contains(&"Look.".to_owned()), "{asked:#?}");
}

/// An answer to a prompt of which the vendor has cached everything.
fn cached(text: &str) -> scripted::Reply {
    let usage = Usage { input: 10, output: 50, cache_read: 100_000, ..Usage::default() };
    scripted::Reply::Events(vec![
        ModelEvent::TextDelta(text.to_owned()),
        ModelEvent::Usage(usage),
        ModelEvent::Finish(FinishReason::Stop),
    ])
}

#[tokio::test]
async fn cached_conversation_is_summarized_with_the_same_beginning() {
    let mut stage = Stage::open([cached("One."), cached("The summary."), text("Two.")]).await;
    stage.say(&"A long first prompt. ".repeat(2000));
    stage.until_idle().await;
    compact(&mut stage, Some("Keep names.")).await.unwrap();
    let requests = stage.model.requests();
    let (before, asked) = (&requests[0], &requests[1]);
    assert_eq!((&asked.system, &asked.tools), (&before.system, &before.tools));
    assert_eq!((&asked.cache_key, asked.effort), (&before.cache_key, before.effort));
    assert_eq!(asked.messages[..before.messages.len()], before.messages);
    assert_eq!(asked.messages.len(), before.messages.len() + 2, "the answer and the instruction");
    assert_eq!(asked.max_output_tokens, Some(16_000), "the summary is short");
    let instruction = texts(asked).pop().unwrap();
    assert!(
        instruction.contains("Do not call tools") && instruction.contains("Keep names."),
        "{instruction}"
    );
}

#[tokio::test]
async fn transcript_is_sent_if_the_cached_conversation_gives_no_summary() {
    let script = [cached("One."), ls(), text("The summary."), text("Two.")];
    let mut stage = Stage::open(script).await;
    stage.say(&"A long first prompt. ".repeat(2000));
    stage.until_idle().await;
    compact(&mut stage, None).await.unwrap();
    let requests = stage.model.requests();
    assert!(!requests[1].tools.is_empty() && requests[2].tools.is_empty(), "{requests:#?}");
    assert_eq!(requests[2].max_output_tokens, Some(16_000));
}

#[tokio::test]
async fn open_todos_and_changed_files_survive_a_compaction() {
    let todos = json!({"todos": "1. [completed] Look\n2. [in_progress] Fix it"});
    let work = calls("", &[("TodoWrite", todos), ("Create", json!({"file_path": "new.rs", "content": "x"}))]);
    let settings = SettingsChange {
        autonomy: Some(musher_engine::Autonomy::High),
        compaction_token_limit: Some(1_000_000),
        ..SettingsChange::default()
    };
    let new = NewSession { settings, ..NewSession::default() };
    let mut stage = Stage::open_with([work, text("Which?"), text("The summary."), text("Fine.")], new).await;
    stage.say("Go.");
    stage.until_idle().await;
    let (new, _) = compact(&mut stage, None).await.unwrap();
    load(&mut stage, &new).await;
    stage.say("And here?");
    stage.until_idle().await;
    let summary = texts(stage.model.requests().last().unwrap()).remove(0);
    for expected in ["The summary.", "- [in_progress] Fix it", "new.rs"] {
        assert!(summary.contains(expected), "{expected}: {summary}");
    }
}

#[tokio::test]
async fn compacted_session_is_loaded_unchanged() {
    let script = [text("One."), text("The summary.")];
    let mut first = Stage::open_with(script, small()).await;
    first.say("First.");
    first.until_idle().await;
    first.agent.stop().unwrap();
    first.until_end().await;
    let mut second =
        Stage::at(Arc::clone(&first.home), Arc::clone(&first.work), [text("Two."), text("More.")]);
    let loaded = load(&mut second, &first.session).await;
    assert_eq!(loaded.messages.len(), 3, "people still see all of it");
    second.say("Second.");
    second.until_idle().await;
    let asked = texts(&second.model.requests()[0]);
    assert!(asked[0].contains("The summary.") && asked[2..] == ["One.", "Second."], "{asked:#?}");
}

#[tokio::test]
async fn hooks_run_before_and_may_refuse() {
    let hook =
        "cat >> compact.jsonl; grep -q keep-all compact.jsonl && { echo 'not now' >&2; exit 2; } || true";
    let hooks = json!({"PreCompact": [{"hooks": [{"type": "command", "command": hook}]}]});
    let mut stage = Stage::empty([text("One."), text("The summary.")]);
    fs_err::write(stage.home.path().join("hooks.json"), hooks.to_string()).unwrap();
    stage.create(NewSession::default()).await;
    stage.say("First.");
    stage.until_idle().await;
    stage.submit(Command::Compact { instructions: None });
    let seen = lines(&stage.until(|event| line(event) == "reply 3").await);
    let place = |wanted: &str| seen.iter().position(|line| line == wanted).unwrap();
    assert!(place("hook PreCompact over") < place("used 1600"), "{seen:#?}");
    let Err(Error::Internal(reason)) = compact(&mut stage, Some("keep-all")).await else {
        panic!("a summary")
    };
    assert_eq!(reason, "not now");
    let told = fs_err::read_to_string(stage.work.path().join("compact.jsonl")).unwrap();
    assert!(told.contains(r#""trigger":"manual""#) && told.contains(r#""message_count":3"#), "{told}");
}
