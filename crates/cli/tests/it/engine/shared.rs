//! Several processes that have one session open, all of which send prompts, and some of which are killed: what was announced is there,
//! no turn is within another one, and a process that may not write says who does.
//!
//! Each test is a part of the loop, so that they run side by side.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::rehearse::{Reply, Script};
use tokio::task::JoinSet;

use super::client::{Client, Stage, command_arguments, execute, on};
use super::killed::{Announced, are_paired, messages, random};

/// Number of sessions in each test.
const SESSIONS: u64 = 4;
/// Number of times that each process is started.
const STARTS: u64 = 4;
/// Maximum number of prompts before a process is ended.
const MAX_PROMPTS: u64 = 3;
/// Maximum number of lines to wait for before a kill.
const MAX_LINES: u64 = 30;

#[tokio::test]
async fn nothing_is_lost_or_mixed_in_a_shared_session_1() -> Result<()> {
    share_again_and_again().await
}

#[tokio::test]
async fn nothing_is_lost_or_mixed_in_a_shared_session_2() -> Result<()> {
    share_again_and_again().await
}

fn script() -> Script {
    Script::new()
        .reply(
            execute("echo begun; sleep 0.02")
                .and_tool("Execute", command_arguments("echo more >> made.txt"))
                .when(on("Work", 1)),
        )
        .reply(Reply::text(["All ", "is ", "done", "."]).when(on("Work", 2)))
}

async fn share_again_and_again() -> Result<()> {
    for _ in 0..SESSIONS {
        let stage = Arc::new(Stage::new(script())?);
        let mut first = stage.opened().await?;
        let id = first.seen.iter().find_map(|message| message["result"]["sessionId"].as_str());
        let id: Arc<str> = id.context("a session id")?.into();
        let processes = 2 + random() % 4;
        let mut running = JoinSet::new();
        for process in 0..processes {
            running.spawn(use_session(Arc::clone(&stage), Arc::clone(&id), process));
        }
        let mut all = Vec::new();
        while let Some(announced) = running.join_next().await {
            all.extend(announced??);
        }
        // the process that made the session, and did nothing since, sees everything
        let answer = first.call("droid.load_session", json!({"sessionId": &*id})).await?;
        for announced in &all {
            announced.check(&answer)?;
        }
        are_paired(messages(&answer))?;
        drop(first.program.end().await?);
        is_one_chain(&stage, &id)?;
        let stage = Arc::into_inner(stage).context("all processes have ended")?;
        stage.until_empty(Duration::from_secs(5)).await?;
        stage.finish().await?;
    }
    Ok(())
}

/// Sends prompts from one process after the other, each of which is killed or ended. Returns what each announced.
async fn use_session(stage: Arc<Stage>, id: Arc<str>, process: u64) -> Result<Vec<Announced>> {
    let mut all = Vec::new();
    for start in 0..STARTS {
        let mut client = stage.client()?;
        let answer = client.loaded(&id).await?;
        ensure!(answer["result"].is_object(), "it can be loaded at any time: {answer}");
        let mut announced = Announced::default();
        let is_killed = random().is_multiple_of(2);
        let last = random() % MAX_PROMPTS;
        for prompt in 0..=last {
            let text = format!("Work {process}-{start}-{prompt}");
            let before = client.seen.len();
            let waits = random().is_multiple_of(2);
            let asked =
                client.ask("droid.add_user_message", json!({"text": text, "waitForSession": waits})).await?;
            let lines = if is_killed && prompt == last { random() % MAX_LINES } else { u64::MAX };
            until_end(&mut client, &asked, waits, usize::try_from(lines).unwrap_or(usize::MAX)).await?;
            announced.see(&client.seen[before..], &text);
        }
        if is_killed {
            client.signal(Signal::KILL)?;
        }
        let rest = client.program.end().await?;
        ensure!(!rest.stderr.contains("panicked"), "{}", rest.stderr);
        all.push(announced);
    }
    Ok(all)
}

/// Reads until the turn has ended, the prompt was refused, or the maximum number of lines was read.
async fn until_end(client: &mut Client, asked: &str, waits: bool, lines: usize) -> Result<()> {
    for _ in 0..lines {
        let Some(message) = client.next().await? else { bail!("it ended by itself") };
        if message["type"] == "response" && message["id"] == asked && message["error"].is_object() {
            let text = message["error"]["message"].as_str().unwrap_or_default();
            ensure!(text.contains("is running in process ") && !waits, "{message}");
            return Ok(());
        }
        if message["params"]["notification"]["type"] == "agent_turn_completed" {
            let reason = &message["params"]["notification"]["reason"];
            ensure!(reason == "completed", "{message}");
            return Ok(());
        }
    }
    Ok(())
}

/// Every message in the log follows the one before it: no branch, and no turn within another one.
fn is_one_chain(stage: &Stage, id: &str) -> Result<()> {
    let store = musher_engine::store::Store::open(stage.sandbox.home().join(".musher"));
    let path = store.find(&musher_engine::store::SessionId::new(id)?).context("the log")?;
    let (mut previous, mut ids) = (None, HashSet::new());
    for line in fs_err::read_to_string(&path)?.lines() {
        let record: Value = serde_json::from_str(line).with_context(|| format!("a damaged line: {line}"))?;
        let Some(id) = (record["type"] == "message").then(|| record["id"].as_str()).flatten() else {
            continue;
        };
        if ids.insert(id.to_owned()) {
            let parent = record["parentId"].as_str().filter(|parent| *parent != "root").map(str::to_owned);
            ensure!(parent == previous, "{id} follows {parent:?} and not {previous:?}");
        } else {
            ensure!(previous.as_deref() == Some(id), "a part of {id} is elsewhere");
        }
        previous = Some(id.to_owned());
    }
    ensure!(ids.len() > 3, "there are turns");
    Ok(())
}
