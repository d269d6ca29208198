//! The end of the input, signals, and a client that is gone: how soon the engine ends, and that no process is left.

use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::process::Signal;
use serde_json::json;
use testkit::rehearse::{Reply, Script};

use super::client::{Stage, execute, on, request};

const LEAVES_CHILDREN: &str = "sleep 3001 & setsid sleep 3002 & echo begun; sleep 3000";

fn long_command() -> Script {
    Script::new()
        .reply(execute(LEAVES_CHILDREN).when(on("Sleep", 1)))
        .reply(execute("sleep 1; echo finished > made.txt").when(on("Work", 1)))
        .reply(Reply::text("Done.").when(on("Work", 2)))
}

#[tokio::test]
async fn end_of_the_input_ends_an_idle_program_at_once() -> Result<()> {
    let stage = Stage::new(Script::new())?;
    for opens in [false, true] {
        let client = if opens { stage.opened().await? } else { stage.client()? };
        let began = Instant::now();
        let ended = client.program.end().await?;
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        assert!(began.elapsed() < Duration::from_secs(2) + SLACK, "{:?}", began.elapsed());
    }
    stage.finish().await
}

/// Extra time for a loaded machine.
const SLACK: Duration = Duration::from_secs(3);

#[tokio::test]
async fn end_of_the_input_lets_a_turn_finish() -> Result<()> {
    let stage = Stage::new(long_command())?;
    let mut client = stage.opened().await?;
    client.say("Work.").await?;
    client.program.close_stdin();
    assert_eq!(client.completed().await?, "completed");
    assert_eq!(client.program.end().await?.status.code(), Some(0));
    assert!(stage.sandbox.workspace().join("made.txt").exists());
    stage.finish().await
}

#[tokio::test]
async fn end_of_the_input_refuses_what_is_asked() -> Result<()> {
    let stage = Stage::new(long_command())?;
    let mut client = stage.client()?;
    let mut session = stage.session();
    session["autonomyLevel"] = json!("off");
    client.call("droid.initialize_session", session).await?;
    client.say("Work.").await?;
    client.until("the question", |message| message["method"] == "droid.request_permission").await?;
    client.program.close_stdin();
    client.completed().await?;
    assert_eq!(client.program.end().await?.status.code(), Some(0));
    assert!(!stage.sandbox.workspace().join("made.txt").exists());
    stage.finish().await
}

#[tokio::test]
async fn signals_end_it_with_all_its_commands_and_the_session_is_whole() -> Result<()> {
    let stage = Stage::new(long_command())?;
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let mut client = stage.client()?;
        let opened = client.call("droid.initialize_session", stage.session()).await?;
        client.say("Sleep.").await?;
        // it runs, and its children do
        client.until("the output", |message| message.to_string().contains("begun")).await?;
        let began = Instant::now();
        client.signal(signal)?;
        let ended = client.program.end().await?;
        let took = began.elapsed();
        assert_eq!(ended.status.code(), Some(code), "{signal:?} {} {}", ended.status, ended.stderr);
        assert!(took < Duration::from_secs(3) + SLACK, "{took:?}");
        stage.until_empty(Duration::from_secs(2)).await?;

        let mut client = stage.client()?;
        let id = opened["result"]["sessionId"].clone();
        let loaded = client.call("droid.load_session", json!({"sessionId": id})).await?;
        let messages = loaded["result"]["session"]["messages"].to_string();
        assert!(messages.contains("tool_use") && messages.contains("tool_result"), "{messages}");
        client.program.end().await?;
    }
    // nothing runs: nothing was cut short
    let client = stage.opened().await?;
    client.signal(Signal::TERM)?;
    assert_eq!(client.program.end().await?.status.code(), Some(0));
    stage.finish().await
}

#[tokio::test]
async fn client_that_closes_the_output_ends_it_with_all_its_commands() -> Result<()> {
    let stage = Stage::new(long_command())?;
    let launch = stage.launch();
    // `head` goes away after the first lines, in the middle of the turn, and leaves the input open
    let words: Vec<_> = launch.args.iter().map(|word| word.to_string_lossy()).collect();
    let pipeline = format!("exec 3>&1; \"$0\" {} | head -n 9", words.join(" "));
    let launch = stage.sandbox.launch("sh").args(["-c", &pipeline]).arg(&launch.program);
    let mut program = stage.sandbox.spawn(&launch)?;
    program.send_line(&request("1", "droid.initialize_session", stage.session())).await?;
    program.send_line(&request("2", "droid.add_user_message", json!({"text": "Sleep."}))).await?;
    let mut lines = 0;
    while lines < 9 {
        lines += usize::from(program.next().await?.is_some());
    }
    stage.until_empty(Duration::from_secs(5) + SLACK).await?;
    program.end().await?;
    stage.finish().await
}

#[tokio::test]
async fn client_that_goes_away_while_idle_ends_it_too() -> Result<()> {
    let stage = Stage::new(long_command())?;
    let launch = stage.launch();
    // `grep` goes away with the last line before the long silence, and leaves the input open
    let words: Vec<_> = launch.args.iter().map(|word| word.to_string_lossy()).collect();
    let pipeline = format!("\"$0\" {} | grep -m 1 'tool_progress_update.*begun'", words.join(" "));
    let launch = stage.sandbox.launch("sh").args(["-c", &pipeline]).arg(&launch.program);
    let mut program = stage.sandbox.spawn(&launch)?;
    program.send_line(&request("1", "droid.initialize_session", stage.session())).await?;
    program.send_line(&request("2", "droid.add_user_message", json!({"text": "Sleep."}))).await?;
    assert!(program.next().await?.is_some());
    stage.until_empty(Duration::from_secs(5) + SLACK).await?;
    program.end().await?;
    stage.finish().await
}
