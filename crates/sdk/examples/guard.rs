//! A policy for tools: read everything, run only some commands, write only text files.

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::path::Path;

use musher::wire::PermissionDetails;
use musher::{Agent, Autonomy, Event, PermissionRequest, Session};

#[tokio::main]
async fn main() -> musher::Result<()> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Write the date into today.txt.".to_owned());
    let session = Session::builder().agent(agent()).autonomy(Autonomy::Off).open().await?;
    let mut turn = session.send(prompt).ask_on_stream().start().await?;
    while let Some(event) = turn.next().await {
        match event? {
            Event::Permission(pending) => {
                let is_fine = is_fine(pending.request());
                for tool_use in &pending.request().tool_uses {
                    println!("{} {}", if is_fine { "yes to" } else { "no to" }, tool_use.tool_use.name);
                }
                if is_fine { pending.allow_once() } else { pending.deny() }
            }
            Event::Result(result) => println!("{:?}: {}", result.end, result.text),
            _ => {}
        }
    }
    session.close().await
}

fn is_fine(request: &PermissionRequest) -> bool {
    // the commands of a line that is fully understood, or nothing
    if let Some(commands) = request.commands() {
        return commands.iter().all(|it| it.program() == "date" || it.starts_with(&["cargo", "test"]));
    }
    request.tool_uses.iter().all(|tool_use| match &tool_use.details {
        PermissionDetails::Create(file) => {
            Path::new(&file.file_path).extension().is_some_and(|extension| extension == "txt")
        }
        // also what a newer agent may ask for
        _ => false,
    })
}

/// The agent of `MUSHER_AGENT`: `engine`, `droid` or a program; droid without it.
fn agent() -> Agent {
    Agent::from_env()
}
