//! Reasoning that goes back to a model that checks it, as Anthropic documents it ("Preserved thinking" and "Prefix checks on thinking
//! blocks", platform.claude.com, read in November 2026): the system prompt, the tools and everything before a block must be as they were,
//! blocks before it included; otherwise the request is rejected.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use futures_util::stream;
use musher_engine::{Command, LoadSession, Mode, NewSession, SettingsChange};
use musher_model::{
    Block, EventStream, Format, FormatOptions, Label, Message, ModelError, ModelEvent, Proof, Provider,
    Request, Role, Thinking, ToolUse,
};
use musher_tools::Registry;
use serde_json::{Map, Value, json};

use crate::scripted::{Reply, calls, text};
use crate::stage::Stage;

const CLAUDE: &str = "claude-opus-5-5";
const OTHER: &str = "gpt-5.5";
const REJECTION: &str = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. \
                         Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".";

/// A model that signs its reasoning and checks what comes back.
#[derive(Debug, Default)]
struct Binding {
    replies: Mutex<VecDeque<Vec<ModelEvent>>>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// What stood before each block, by its signature.
    prefixes: HashMap<String, Vec<Value>>,
    requests: Vec<Vec<String>>,
    rejections: usize,
    /// Reject every block from now on.
    rejects_all: bool,
}

impl Binding {
    fn new(replies: impl IntoIterator<Item = Reply>) -> Arc<Self> {
        let model = Arc::new(Self::default());
        model.tell(replies);
        model
    }

    fn tell(&self, replies: impl IntoIterator<Item = Reply>) {
        let events = replies.into_iter().map(|reply| match reply {
            Reply::Events(events) => events,
            other => panic!("{other:?}"),
        });
        self.replies.lock().unwrap().extend(events);
    }

    /// The signatures in each request so far.
    fn requests(&self) -> Vec<Vec<String>> {
        self.state.lock().unwrap().requests.clone()
    }

    fn rejections(&self) -> usize {
        self.state.lock().unwrap().rejections
    }
}

/// What comes before the messages, and every part of them with its role, as the vendor gets it.
fn flat(request: &Request) -> Vec<Value> {
    let mut body = Format::Anthropic.body(request, &FormatOptions::default());
    let mut parts = vec![json!([without_marks(body["system"].take()), body["tools"].take()])];
    for message in body["messages"].as_array().unwrap() {
        for part in message["content"].as_array().unwrap() {
            parts.push(json!([message["role"], without_marks(part.clone())]));
        }
    }
    parts
}

fn without_marks(mut value: Value) -> Value {
    match &mut value {
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_marks(item.take())),
        Value::Object(fields) => drop(fields.shift_remove("cache_control")),
        _ => {}
    }
    value
}

fn signature(part: &Value) -> Option<&str> {
    (part[1]["type"] == "thinking").then(|| part[1]["signature"].as_str()).flatten()
}

/// The parts of an answer as they will come back.
fn parts(events: &[ModelEvent]) -> Vec<Value> {
    let mut content = Vec::new();
    for event in events {
        match event {
            ModelEvent::ThinkingEnd(thinking) => content.push(Block::Thinking(thinking.clone())),
            ModelEvent::TextDelta(piece) => match content.last_mut() {
                Some(Block::Text { text }) => text.push_str(piece),
                _ => content.push(Block::text(piece.clone())),
            },
            ModelEvent::ToolStart { id, name, .. } => {
                content.push(Block::ToolUse(ToolUse::new(id.clone(), name.clone(), Map::new())));
            }
            ModelEvent::ToolCall(call) => {
                let start = content.iter_mut().find_map(|block| match block {
                    Block::ToolUse(known) if known.id == call.id => Some(known),
                    _ => None,
                });
                start.unwrap().input = call.to_use().input;
            }
            _ => {}
        }
    }
    let answer = Message { role: Role::Assistant, content };
    let request = Request::new("m", vec![Message::user("?"), answer, Message::user("!")]);
    flat(&request).into_iter().skip(2).filter(|part| part[0] == "assistant").collect()
}

impl Provider for Binding {
    fn stream(&self, request: Request) -> EventStream {
        let mut state = self.state.lock().unwrap();
        let before = flat(&request);
        let signatures = before.iter().filter_map(signature).map(str::to_owned);
        state.requests.push(signatures.collect());
        let is_valid = |(index, part): (usize, &Value)| {
            signature(part).is_none_or(|signature| {
                !state.rejects_all
                    && state.prefixes.get(signature).is_some_and(|known| *known == before[..index])
            })
        };
        if !before.iter().enumerate().all(is_valid) {
            state.rejections += 1;
            let error = ModelError::reported(400, "invalid_request_error", REJECTION);
            return Box::pin(stream::iter([Err(error)]));
        }
        let events = self.replies.lock().unwrap().pop_front().expect("the script has no answer left");
        let mut answer = before;
        for part in parts(&events) {
            if let Some(signature) = signature(&part) {
                state.prefixes.insert(signature.to_owned(), answer.clone());
            }
            answer.push(part);
        }
        Box::pin(stream::iter(events.into_iter().map(Ok)))
    }
}

/// An answer that begins with signed reasoning.
fn thinking(signature: &str, reply: Reply) -> Reply {
    let Reply::Events(mut events) = reply else { panic!("events") };
    events.insert(0, thought(signature));
    Reply::Events(events)
}

fn thought(signature: &str) -> ModelEvent {
    let proof = Some(Proof::Signature { signature: signature.to_owned() });
    ModelEvent::ThinkingEnd(Thinking { text: format!("about {signature}"), proof })
}

/// Two calls with reasoning before each.
fn interleaved(first: &str, second: &str) -> Reply {
    let Reply::Events(events) = calls("I look.", &[("LS", json!({})), ("Glob", json!({"patterns": "*"}))])
    else {
        panic!("events")
    };
    let is_second = |event: &ModelEvent| matches!(event, ModelEvent::ToolStart { index: 1, .. });
    let at = events.iter().position(is_second).unwrap();
    let mut events = events;
    events.insert(at, thought(second));
    events.insert(0, thought(first));
    Reply::Events(events)
}

fn stage(model: &Arc<Binding>, other: Option<&Arc<Binding>>, before: Option<&Stage>) -> Stage {
    let folder = || Arc::new(tempfile::tempdir().unwrap());
    let (home, work) = match before {
        Some(stage) => (Arc::clone(&stage.home), Arc::clone(&stage.work)),
        None => (folder(), folder()),
    };
    let provider = |model: &Arc<Binding>| Arc::clone(model) as Arc<dyn Provider>;
    let mut models = vec![(CLAUDE, provider(model))];
    models.extend(other.map(|other| (OTHER, provider(other))));
    Stage::with_models(home, work, models, Registry::builtin())
}

async fn say(stage: &mut Stage, text: &str) {
    stage.say(text);
    stage.until_idle().await;
}

async fn change(stage: &mut Stage, change: SettingsChange) {
    let command_id = stage.submit(Command::ChangeSettings(Box::new(change)));
    stage.reply(&command_id).await;
}

/// A session with one turn, whose answers have the signatures `s1`, `s2` and `s3`.
async fn begun(new: NewSession, rest: impl IntoIterator<Item = Reply>) -> (Stage, Arc<Binding>) {
    let model = Binding::new([interleaved("s1", "s2"), thinking("s3", text("Two files."))]);
    model.tell(rest);
    let mut stage = stage(&model, None, None);
    stage.create(new).await;
    say(&mut stage, "What is here?").await;
    assert_eq!((model.requests(), model.rejections()), (vec![vec![], signatures("s1 s2")], 0));
    (stage, model)
}

fn signatures(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test]
async fn plain_conversation_sends_all_reasoning_back() {
    let (mut stage, model) = begun(NewSession::default(), [text("Sure.")]).await;
    say(&mut stage, "Sure?").await;
    assert_eq!((model.requests().pop(), model.rejections()), (Some(signatures("s1 s2 s3")), 0));
}

#[tokio::test]
async fn resumed_session_sends_all_reasoning_back() {
    let (first, model) = begun(NewSession::default(), [text("Sure.")]).await;
    let id = first.session.clone();
    let mut second = stage(&model, None, Some(&first));
    drop(first);
    let command_id = second.submit(Command::Load(Box::new(LoadSession { id, ..LoadSession::default() })));
    second.reply(&command_id).await;
    say(&mut second, "Sure?").await;
    assert_eq!((model.requests().pop(), model.rejections()), (Some(signatures("s1 s2 s3")), 0));
}

#[tokio::test]
async fn compacted_conversation_sends_no_reasoning_of_before_and_all_of_after() {
    let script = [
        thinking("s4", calls("", &[("LS", json!({}))])),
        text("The summary."),
        thinking("s5", text("Still two.")),
        text("The summary."),
        thinking("s6", text("Sure.")),
        text("Yes."),
    ];
    let limit = SettingsChange { compaction_token_limit: Some(900), ..SettingsChange::default() };
    let (mut stage, model) = begun(NewSession::default(), script).await;
    change(&mut stage, limit).await;
    say(&mut stage, "And now?").await;
    change(&mut stage, SettingsChange { compaction_check: Some(false), ..SettingsChange::default() }).await;
    say(&mut stage, "Sure?").await;
    say(&mut stage, "Really?").await;
    let requests = model.requests();
    assert_eq!(model.rejections(), 0, "{requests:?}");
    let expected = [signatures("s1 s2 s3"), vec![], vec![], vec![], vec![], signatures("s6")];
    assert_eq!(requests[2..], expected, "with the two requests for summaries");
}

#[tokio::test]
async fn loaded_tool_keeps_the_session_usable() {
    let script = [
        thinking("s4", calls("", &[("ToolSearch", json!({"query": "select:FetchUrl"}))])),
        thinking("s5", text("Loaded.")),
        thinking("s6", text("Sure.")),
    ];
    let (mut stage, model) = begun(NewSession::default(), script).await;
    say(&mut stage, "Find a tool.").await;
    say(&mut stage, "Sure?").await;
    let requests = model.requests();
    assert_eq!(model.rejections(), 0, "{requests:?}");
    assert_eq!(requests[3], signatures(""), "its prefix has other tools");
    assert_eq!(requests[4], signatures("s5"), "reasoning with the new tools goes back");
}

#[tokio::test]
async fn disabled_tool_keeps_the_session_usable() {
    let script = [thinking("s4", text("Fine.")), thinking("s5", text("Sure."))];
    let (mut stage, model) = begun(NewSession::default(), script).await;
    let without = SettingsChange {
        disabled_tools: Some(vec!["grep_tool_cli".to_owned()]),
        ..SettingsChange::default()
    };
    change(&mut stage, without).await;
    say(&mut stage, "And now?").await;
    say(&mut stage, "Sure?").await;
    let requests = model.requests();
    assert_eq!(model.rejections(), 0, "{requests:?}");
    assert_eq!((&requests[2], &requests[3]), (&signatures(""), &signatures("s4")));
}

#[tokio::test]
async fn changed_mode_sends_all_reasoning_back() {
    let (mut stage, model) =
        begun(NewSession::default(), [thinking("s4", text("Fine.")), text("Sure.")]).await;
    change(&mut stage, SettingsChange { mode: Some(Mode::Spec), ..SettingsChange::default() }).await;
    say(&mut stage, "And now?").await;
    change(&mut stage, SettingsChange { mode: Some(Mode::Auto), ..SettingsChange::default() }).await;
    say(&mut stage, "Sure?").await;
    assert_eq!((model.requests().pop(), model.rejections()), (Some(signatures("s1 s2 s3 s4")), 0));
}

#[tokio::test]
async fn switched_model_gets_no_signature_of_another() {
    let claude = Binding::new([thinking("s1", text("One.")), thinking("s3", text("Three."))]);
    let gpt = Binding::new([thinking("s2", text("Two.")), text("Four.")]);
    let mut stage = stage(&claude, Some(&gpt), None);
    stage.create(NewSession::default()).await;
    for (model, prompt) in [(CLAUDE, "1"), (OTHER, "2"), (CLAUDE, "3"), (OTHER, "4")] {
        change(&mut stage, SettingsChange { model: Some(model.to_owned()), ..SettingsChange::default() })
            .await;
        say(&mut stage, prompt).await;
    }
    assert_eq!((claude.rejections(), gpt.rejections()), (0, 0));
    assert_eq!(claude.requests(), [signatures(""), signatures("s1")]);
    assert_eq!(gpt.requests(), [signatures(""), signatures("s2")]);
}

#[tokio::test]
async fn rejected_reasoning_is_left_out_once_and_for_all() {
    let script = [thinking("s4", text("Fine.")), thinking("s5", text("Sure.")), text("Yes.")];
    let (mut first, model) = begun(NewSession::default(), script).await;
    model.state.lock().unwrap().rejects_all = true;
    let lines = {
        first.say("And now?");
        first.until_idle().await
    };
    assert!(lines.contains(&"turn Completed".to_owned()), "{lines:?}");
    assert_eq!((model.requests().pop(), model.rejections()), (Some(signatures("")), 1));
    model.state.lock().unwrap().rejects_all = false;
    say(&mut first, "Sure?").await;
    assert_eq!((model.requests().pop(), model.rejections()), (Some(signatures("s4")), 1));

    let id = first.session.clone();
    let mut second = stage(&model, None, Some(&first));
    drop(first);
    let command_id = second.submit(Command::Load(Box::new(LoadSession { id, ..LoadSession::default() })));
    second.reply(&command_id).await;
    say(&mut second, "Really?").await;
    assert_eq!((model.requests().pop(), model.rejections()), (Some(signatures("s4 s5")), 1));
}

/// Gemini rejects a call that comes back without its signature; `OpenAI` loses quality without the phase of a message.
#[tokio::test]
async fn signature_of_a_call_and_labels_survive_a_resume() {
    let Reply::Events(mut events) = calls("I look.", &[("LS", json!({}))]) else { panic!("events") };
    events.insert(0, ModelEvent::Label { label: Label::Phase, value: "commentary".to_owned() });
    let details = vec![json!({"type": "reasoning.encrypted", "data": "x", "index": 0})];
    let proof = Some(Proof::Details { details });
    events.insert(1, ModelEvent::ThinkingEnd(Thinking { text: "Hm.".to_owned(), proof: proof.clone() }));
    let start = events.iter().position(|event| matches!(event, ModelEvent::ToolStart { .. })).unwrap();
    events.insert(start + 1, ModelEvent::ToolSignature { index: 0, signature: "sig".to_owned() });
    let mut first = Stage::open([Reply::Events(events), text("Done.")]).await;
    say(&mut first, "Look.").await;

    let mut second = Stage::at(Arc::clone(&first.home), Arc::clone(&first.work), [text("Sure.")]);
    let load = LoadSession { id: first.session.clone(), ..LoadSession::default() };
    drop(first);
    let command_id = second.submit(Command::Load(Box::new(load)));
    second.reply(&command_id).await;
    say(&mut second, "Sure?").await;
    let request = second.model.requests().pop().unwrap();
    let answer = request.messages.iter().find(|message| message.role == Role::Assistant).unwrap();
    let call = ToolUse { signature: Some("sig".to_owned()), ..ToolUse::new("call_0", "LS", Map::new()) };
    let expected = [
        Block::Label { label: Label::Phase, value: "commentary".to_owned() },
        Block::Thinking(Thinking { text: "Hm.".to_owned(), proof }),
        Block::text("I look."),
        Block::ToolUse(call),
    ];
    assert_eq!(answer.content, expected);
}
