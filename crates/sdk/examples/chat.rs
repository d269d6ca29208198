//! A conversation: every line you type is a prompt, and the answer is shown as it is written.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "an example talks to people")]

use std::io::{BufRead, Write};

use musher::{Agent, Event, Session};

#[tokio::main]
async fn main() -> musher::Result<()> {
    let session = Session::builder().agent(agent()).open().await?;
    // read in a thread of its own, so that the session works while no line comes
    let (sender, mut lines) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    });
    while let Some(line) = lines.recv().await {
        let mut turn = session.send(line).partial().start().await?;
        while let Some(event) = turn.next().await {
            match event? {
                Event::TextDelta(delta) => show(&delta.text),
                Event::ToolCall(call) => show(&format!("[{}]\n", call.name)),
                // the deltas shown so far are void, and are sent again
                Event::Retracted { .. } => show("\n[once more]\n"),
                Event::Error(error) => show(&format!("[{}]\n", error.message)),
                Event::Result(_) => show("\n"),
                _ => {}
            }
        }
    }
    session.close().await
}

fn show(text: &str) {
    print!("{text}");
    // a closed terminal is noticed at the next line
    std::io::stdout().flush().ok();
}

/// The agent of `MUSHER_AGENT`: `engine`, `droid` or a program; droid without it.
fn agent() -> Agent {
    Agent::from_env()
}
