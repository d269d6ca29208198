//! Sessions with a fake agent made of channels; long waits run in paused time.

use std::path::PathBuf;
use std::time::Duration;

use musher_claude::{Extra, Json};
use musher_rpc::{Bound, Limits, LineConnection, LineReceiver, lines_over};
use serde_json::{Value, json};

use super::*;
use crate::agent::{Answer, QuestionKind};
use crate::wire::payload::SessionOptions;
use crate::wire::request::PromptContent;

/// An agent that is controlled by the test and records its inputs.
struct FakeAgent {
    says: mpsc::Receiver<Event<u32>>,
    recorded: mpsc::Sender<String>,
    is_ready: bool,
    calls: u32,
}

impl FakeAgent {
    fn note(&self, text: String) -> Result<(), String> {
        self.recorded.try_send(text).map_err(|_full| "the test does not read".to_owned())
    }
}

impl Agent for FakeAgent {
    type Key = u32;

    async fn greet(&mut self) -> Result<Greeting, Failure> {
        if self.is_ready {
            let list = Json::from(json!([]));
            return Ok(Greeting {
                session_id: "sdk".to_owned(),
                models: list.clone(),
                commands: list,
                account: None,
            });
        }
        Err(Failure { message: "not ready".to_owned(), details: json!({"phase": "initialize"}) })
    }

    async fn next(&mut self) -> Result<Event<u32>, Gone> {
        self.says.recv().await.ok_or_else(|| Closed::Ended.into())
    }

    fn more(&mut self) -> Option<Event<u32>> {
        self.says.try_recv().ok()
    }

    fn user(&mut self, _said: PromptContent) -> Result<(), String> {
        self.note("user".to_owned())
    }

    fn call(&mut self, call: &Call) -> Result<u32, String> {
        self.calls += 1;
        self.note(call.subtype().to_owned()).map(|()| self.calls)
    }

    fn forget(&mut self, key: &u32) {
        self.note(format!("forget {key}")).ok();
    }

    fn answer(&mut self, key: &u32, answer: &Answer) -> Result<(), String> {
        self.note(format!("answer {key} {answer:?}"))
    }

    async fn end(self) {
        self.note("end".to_owned()).ok();
    }
}

struct Stage {
    says: mpsc::Sender<Event<u32>>,
    recorded: mpsc::Receiver<String>,
    commands: mpsc::Sender<CommandRequest>,
    ends: mpsc::Sender<End>,
    heard: LineReceiver,
}

fn stage(is_ready: bool) -> Stage {
    stage_with(is_ready, Limits::default())
}

fn stage_with(is_ready: bool, limits: Limits) -> Stage {
    let (front_end, ours) = tokio::io::duplex(1024);
    let (reader, _) = tokio::io::split(front_end);
    let (_, writer) = tokio::io::split(ours);
    let LineConnection { outgoing: out, .. } = lines_over(tokio::io::empty(), writer, limits);
    let LineConnection { incoming: heard, .. } = lines_over(reader, tokio::io::sink(), limits);
    let (says, script) = mpsc::channel(1000);
    let (notes, recorded) = mpsc::channel(1000);
    let (commands, inbox) = mpsc::channel(8);
    let (ends, end) = mpsc::channel(2);
    let config = Arc::new(Config { claude: PathBuf::new(), ..Config::default() });
    let wiring = Wiring { session_id: "s".to_owned(), config, out, commands: inbox, ends: end };
    let options = SessionOptions::default();
    let create = Create {
        id: "c".to_owned(),
        prompt: None,
        cwd: "/".to_owned(),
        options,
        unknown_options: Vec::new(),
    };
    let puppet = FakeAgent { says: script, recorded: notes, is_ready, calls: 0 };
    tokio::spawn(serve(wiring, create, async move { Ok(puppet) }));
    Stage { says, recorded, commands, ends, heard }
}

impl Stage {
    async fn line(&mut self) -> Value {
        let line = self.heard.recv().await.unwrap();
        serde_json::from_slice(line.bytes()).unwrap()
    }

    async fn asks(&self, id: &str, command: Command) {
        assert!(self.commands.send(CommandRequest { id: id.to_owned(), command }).await.is_ok());
    }
}

fn status() -> Command {
    Command::Query { method: "mcpServerStatus".to_owned(), args: Vec::new() }
}

#[tokio::test(start_paused = true)]
async fn unanswered_call_times_out_and_its_late_answer_is_ignored() {
    let mut stage = stage(true);
    assert_eq!(stage.line().await["type"], "session.created");
    stage.asks("q", status()).await;
    stage.asks("i", Command::Interrupt).await;
    assert_eq!(stage.recorded.recv().await.as_deref(), Some("mcp_status"));
    let mut codes = [stage.line().await, stage.line().await]
        .map(|it| (it["id"].to_string(), it["payload"]["code"].clone()));
    codes.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        codes,
        [("\"i\"".to_owned(), json!("SDK_ERROR")), ("\"q\"".to_owned(), json!("QUERY_METHOD_FAILED"))]
    );
    stage.says.send(Event::Answered { key: 1, outcome: Ok(Json::empty_object()) }).await.unwrap();
    stage.says.send(Event::Message("{\"type\":\"next\"}".to_owned())).await.unwrap();
    assert_eq!(stage.line().await["payload"]["type"], "next");
}

#[tokio::test(start_paused = true)]
async fn replies_keep_their_order_among_messages() {
    let mut stage = stage(true);
    stage.line().await;
    stage.asks("q", status()).await;
    assert_eq!(stage.recorded.recv().await.as_deref(), Some("mcp_status"));
    for event in [
        Event::Message("{\"n\":1}".to_owned()),
        Event::Answered { key: 1, outcome: Err("no".to_owned()) },
        Event::Message("{\"n\":2}".to_owned()),
    ] {
        stage.says.send(event).await.unwrap();
    }
    let kinds = [stage.line().await, stage.line().await, stage.line().await].map(|line| line["type"].clone());
    assert_eq!(kinds, [json!("sdk.message"), json!("query.result"), json!("sdk.message")]);
}

#[tokio::test(start_paused = true)]
async fn callback_times_out_after_five_minutes() {
    let mut stage = stage(true);
    stage.line().await;
    let question = Event::Question { key: 7, kind: QuestionKind::Permission, payload: Extra::default() };
    stage.says.send(question).await.unwrap();
    let callback = stage.line().await;
    let asked = Instant::now();
    let error = stage.line().await;
    assert_eq!((&error["id"], &error["payload"]["code"]), (&callback["id"], &json!("CALLBACK_TIMEOUT")));
    assert_eq!(asked.elapsed().as_secs(), 300);
    assert!(stage.recorded.recv().await.unwrap().starts_with("answer 7 Permission(Deny"));
}

#[tokio::test]
async fn kill_answers_pending_requests_before_it_ends() {
    let mut stage = stage(true);
    stage.line().await;
    stage.asks("q", status()).await;
    assert_eq!(stage.recorded.recv().await.as_deref(), Some("mcp_status"));
    stage.ends.send(End::Kill { id: "k".to_owned() }).await.unwrap();
    let lines = [stage.line().await, stage.line().await];
    assert_eq!(lines[0]["payload"]["code"], "QUERY_METHOD_FAILED");
    assert_eq!(lines[1], json!({"type": "session.killed", "id": "k", "session_id": "s", "payload": {}}));
    assert!(stage.commands.is_closed());
}

#[tokio::test(start_paused = true)]
async fn kill_loses_no_reply_if_the_front_end_does_not_read() {
    let narrow = Bound { messages: 1, bytes: 1024 };
    // one message waits here for the front end, whose buffer is one kilobyte; the test reads only at the end
    let mut stage = stage_with(true, Limits { data: narrow, incoming: narrow, ..Limits::default() });
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(20_000));
    for _ in 0..10 {
        stage.says.send(Event::Message(long.clone())).await.unwrap();
    }
    // in paused time, this returns when all tasks are idle
    tokio::time::sleep(Duration::from_secs(1)).await;
    let models = || Command::Query { method: "supportedModels".to_owned(), args: Vec::new() };
    stage.asks("q1", models()).await;
    stage.asks("q2", models()).await;
    stage.asks("i", Command::Interrupt).await;
    assert_eq!(stage.recorded.recv().await.as_deref(), Some("interrupt"), "all before it was taken");
    stage.ends.send(End::Kill { id: "k".to_owned() }).await.unwrap();
    assert_eq!(stage.recorded.recv().await.as_deref(), Some("end"));
    let mut replies = Vec::new();
    loop {
        let line = stage.line().await;
        if let Some(id) = line["id"].as_str() {
            replies.push(id.to_owned());
        }
        if line["type"] == "session.killed" {
            break;
        }
    }
    assert_eq!(replies, ["c", "q1", "q2", "i", "k"]);
}

#[tokio::test(start_paused = true)]
async fn many_messages_at_once_keep_their_order_and_the_end_comes_last() {
    let mut stage = stage(true);
    for n in 0..1000 {
        stage.says.send(Event::Message(format!("{{\"n\":{n}}}"))).await.unwrap();
    }
    let Stage { says, .. } = &mut stage;
    *says = mpsc::channel(1).0;
    assert_eq!(stage.line().await["type"], "session.created");
    for n in 0..1000 {
        assert_eq!(stage.line().await["payload"]["n"], n);
    }
    assert_eq!(stage.line().await["payload"]["code"], "SDK_ERROR");
}

#[tokio::test]
async fn agent_that_is_not_ready_in_time_is_ended_and_reported_once() {
    let mut stage = stage(false);
    let error = stage.line().await;
    assert_eq!((&error["id"], &error["payload"]["code"]), (&json!("c"), &json!("SESSION_CREATE_FAILED")));
    assert_eq!(error.get("session_id"), None);
    assert_eq!(stage.recorded.recv().await.as_deref(), Some("end"));
    let nothing = tokio::time::timeout(Duration::from_mins(1), stage.heard.recv()).await;
    assert!(nothing.is_ok_and(|line| line.is_err()), "the session is over");
}
