//! SIGKILL at any moment of a turn with tools: emitted events are there when the session is loaded, calls and results are paired,
//! and no process is left.
//!
//! Each test is a quarter of the loop, so that they run side by side.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script};

use super::client::{Client, Stage, command_arguments, execute, on};

/// Number of kills in each test.
const KILLS: u32 = 30;
/// Number of kills after which a new session begins, so that loading stays short.
const KILLS_OF_A_SESSION: u32 = 10;
/// Maximum number of lines to wait for; a turn has no more.
const MAX_LINES: u64 = 45;
/// Maximum delay of a kill after the line it waits for, in microseconds.
const MAX_DELAY_MICROS: u64 = 12_000;

#[tokio::test]
async fn what_was_announced_is_there_after_a_kill_1() -> Result<()> {
    kill_again_and_again().await
}

#[tokio::test]
async fn what_was_announced_is_there_after_a_kill_2() -> Result<()> {
    kill_again_and_again().await
}

#[tokio::test]
async fn what_was_announced_is_there_after_a_kill_3() -> Result<()> {
    kill_again_and_again().await
}

#[tokio::test]
async fn what_was_announced_is_there_after_a_kill_4() -> Result<()> {
    kill_again_and_again().await
}

/// A command that leaves children in the background, one of them in a session of its own.
const LEAVES_CHILDREN: &str =
    "sleep 3001 & setsid sleep 3002 & (setsid nohup sleep 3003 >/dev/null 2>&1 &) ; echo begun; sleep 0.05";

fn script() -> Script {
    Script::new()
        .reply(
            execute(LEAVES_CHILDREN)
                .and_tool("LS", json!({}))
                .and_tool("Execute", command_arguments("echo more >> made.txt; sleep 0.02"))
                .when(on("Work", 1)),
        )
        .reply(
            Reply::text("Half of it.")
                .and_tool("Read", json!({"file_path": "README.md"}))
                .when(on("Work", 2)),
        )
        .reply(Reply::text(["All ", "is ", "done", "."]).when(on("Work", 3)))
}

async fn kill_again_and_again() -> Result<()> {
    let stage = Stage::new(script())?;
    let mut announced = Announced::default();
    let mut session: Option<String> = None;
    for kill in 0..KILLS {
        if kill % KILLS_OF_A_SESSION == 0 {
            session = None;
            announced = Announced::default();
        }
        let mut client = stage.client()?;
        match &session {
            None => {
                let answer = client.call("droid.initialize_session", stage.session()).await?;
                session = Some(answer["result"]["sessionId"].as_str().context("a session id")?.to_owned());
            }
            Some(id) => {
                let answer = client.loaded(id).await?;
                announced.check(&answer).with_context(|| format!("after kill {kill}"))?;
                announced = Announced::default();
                announced.take(&answer);
            }
        }
        let before = client.seen.len();
        let (lines, delay) = (random() % MAX_LINES, Duration::from_micros(random() % MAX_DELAY_MICROS));
        client.ask("droid.add_user_message", json!({"text": format!("Work {kill}")})).await?;
        let is_at_end = |message: &Value| message["params"]["notification"]["newState"] == "idle";
        while (client.seen.len() - before) < usize::try_from(lines)? {
            let Some(message) = client.next().await? else { bail!("it ended by itself") };
            if is_at_end(&message) {
                break;
            }
        }
        tokio::time::sleep(delay).await;
        client.signal(Signal::KILL)?;
        let Client { program, mut seen, .. } = client;
        let rest = program.end().await?;
        // the last line may have been cut
        seen.extend(rest.stdout.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok()));
        stage
            .until_empty(Duration::from_secs(5))
            .await
            .with_context(|| format!("kill {kill} after {lines} lines and {delay:?}: {}", rest.stderr))?;
        announced.see(&seen[before..], &format!("Work {kill}"));
    }
    stage.finish().await
}

pub(super) fn random() -> u64 {
    // each has other keys
    RandomState::new().hash_one(0)
}

/// The messages of a conversation that a client received.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// Content by id of the message; `None` for internal ones, which are not shown.
    messages: BTreeMap<String, Option<Value>>,
    /// Content by id of the call.
    results: BTreeMap<String, Value>,
    /// Texts that were acknowledged.
    prompts: Vec<String>,
}

impl Announced {
    /// Records the announcements of a run.
    pub(super) fn see(&mut self, messages: &[Value], prompt: &str) {
        for message in messages {
            let notification = &message["params"]["notification"];
            match notification["type"].as_str() {
                Some("create_message") => {
                    let is_visible = notification["message"]["visibility"] != "llm_only";
                    let content = is_visible.then(|| notification["message"]["content"].clone());
                    self.messages.insert(text(&notification["message"]["id"]), content);
                }
                Some("tool_result") => {
                    self.results.insert(text(&notification["toolUseId"]), notification["content"].clone());
                }
                _ if message["type"] == "response" && message["result"].is_object() => {
                    self.prompts.push(prompt.to_owned());
                }
                _ => {}
            }
        }
    }

    /// Records the messages of a loaded session.
    fn take(&mut self, answer: &Value) {
        for message in messages(answer) {
            self.messages.insert(text(&message["id"]), Some(message["content"].clone()));
        }
    }

    /// Fails if anything is missing in a loaded session, or if a call is without its result.
    pub(super) fn check(&self, answer: &Value) -> Result<()> {
        ensure!(answer["result"].is_object(), "it does not load: {answer}");
        let loaded: BTreeMap<_, _> =
            messages(answer).iter().map(|message| (text(&message["id"]), &message["content"])).collect();
        for (id, content) in &self.messages {
            let found = loaded.get(id).with_context(|| format!("message {id} is missing: {content:?}"))?;
            if let Some(content) = content {
                ensure!(content == *found, "message {id} was {content} and is {found}");
            }
        }
        let results = results(messages(answer));
        for (id, content) in &self.results {
            let found = results.get(id).with_context(|| format!("the result of {id} is missing"))?;
            ensure!(content == found, "the result of {id} was {content} and is {found}");
        }
        let texts: Vec<_> = messages(answer).iter().map(|message| message["content"].to_string()).collect();
        for prompt in &self.prompts {
            let wanted = format!("\"{prompt}\"");
            ensure!(texts.iter().any(|text| text.contains(&wanted)), "{prompt} was acknowledged and is lost");
        }
        are_paired(messages(answer))
    }
}

pub(super) fn messages(answer: &Value) -> &[Value] {
    answer["result"]["session"]["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn blocks(message: &Value) -> &[Value] {
    message["content"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn results(messages: &[Value]) -> BTreeMap<String, Value> {
    let all = messages.iter().flat_map(blocks).filter(|block| block["type"] == "tool_result");
    all.map(|block| (text(&block["toolUseId"]), block["content"].clone())).collect()
}

/// Every call has exactly one result, before the next answer of the model.
pub(super) fn are_paired(messages: &[Value]) -> Result<()> {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        if message["role"] == "assistant" {
            ensure!(open.is_empty(), "calls without results: {open:?}");
        }
        for block in blocks(message) {
            match block["type"].as_str() {
                Some("tool_use") => open.push(text(&block["id"])),
                Some("tool_result") => {
                    let id = text(&block["toolUseId"]);
                    let at = open.iter().position(|open| *open == id);
                    open.remove(at.with_context(|| format!("the result of {id} has no call"))?);
                }
                _ => {}
            }
        }
    }
    ensure!(open.is_empty(), "calls without results: {open:?}");
    Ok(())
}
