//! A client that does not read: the program waits, holds little, and loses nothing.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use testkit::rehearse::{Pieces, Reply, Script};

use super::client::{Client, Stage, execute, on};

const MIB: usize = 1024 * 1024;
/// Number of pieces of text: more than all queues and pipes on the way can hold.
const PIECES: usize = 12_000;

/// Waits until the program does not come any further: its model is not read from and its memory stands still.
async fn until_it_waits(client: &Client) -> Result<usize> {
    let deadline = Instant::now() + Duration::from_mins(1);
    let (mut last, mut same) = (0, 0);
    while same < 15 {
        ensure!(Instant::now() < deadline, "its memory grows and grows: {last}");
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = client.memory()?;
        same = if now.abs_diff(last) < MIB / 4 { same + 1 } else { 0 };
        last = now;
    }
    Ok(last)
}

#[tokio::test]
async fn flood_of_text_waits_for_its_reader_and_arrives_whole() -> Result<()> {
    let pieces: Vec<String> = (0..PIECES).map(|number| format!("{number} ")).collect();
    let whole = pieces.concat();
    let script = Script::new().reply(Reply::text(Pieces::Explicit(pieces)).when(on("Flood", 1)));
    let stage = Stage::new(script)?;
    let mut client = stage.opened().await?;
    let before = client.memory()?;
    client.say("Flood.").await?;
    let grown = until_it_waits(&client).await?.saturating_sub(before) / MIB;
    assert!(grown < 40, "{grown} MiB for a client that does not read");

    // now it reads: every piece is there, in order
    let mut text = String::new();
    let mut last = String::new();
    loop {
        let Some(message) = client.program.next().await? else { break };
        let notification = &message["params"]["notification"];
        match notification["type"].as_str() {
            Some("assistant_text_delta") => {
                text.push_str(notification["textDelta"].as_str().unwrap_or_default());
            }
            Some("create_message") => notification["message"]["content"].to_string().clone_into(&mut last),
            Some("agent_turn_completed") => break,
            _ => {}
        }
    }
    assert_eq!(text.len(), whole.len());
    assert!(text == whole, "all pieces in order");
    assert!(last.contains(&whole[whole.len() - 1000..whole.len() - 1]), "and the message at the end");
    client.program.end().await?;
    stage.finish().await
}

#[tokio::test]
async fn flood_of_output_of_a_command_waits_too_and_can_be_interrupted() -> Result<()> {
    let script = Script::new().reply(execute("yes flood").when(on("Flood", 1)));
    let stage = Stage::new(script)?;
    let mut client = stage.opened().await?;
    let before = client.memory()?;
    client.say("Flood.").await?;
    let grown = until_it_waits(&client).await?.saturating_sub(before) / MIB;
    assert!(grown < 40, "{grown} MiB for a command that writes for ever");
    let interrupted = client.call("droid.interrupt_session", json!({})).await?;
    assert!(interrupted["result"].is_object(), "{interrupted}");
    assert_eq!(client.completed().await?, "cancelled");
    client.program.end().await?;
    stage.finish().await
}
