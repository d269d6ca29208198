//! A policy for tools: look at everything, run only some commands, write only text files.

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::path::Path;

use musher::wire::PermissionDetails;
use musher::{Agent, Autonomy, Decision, Permission, Session, sync};

#[tokio::main]
async fn main() -> musher::Result<()> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Write the date into today.txt.".to_owned());
    let session = Session::builder()
        .agent(agent())
        .autonomy(Autonomy::Off)
        .on_permission(sync(|asked: Permission| {
            let is_fine = asked.tool_uses.iter().all(|tool_use| is_fine(&tool_use.details));
            for tool_use in &asked.tool_uses {
                println!("{} {}", if is_fine { "yes to" } else { "no to" }, tool_use.tool_use.name);
            }
            if is_fine { Decision::allow_once() } else { Decision::deny() }
        }))
        .open()
        .await?;
    let result = session.send(prompt).await?;
    println!("{:?}: {}", result.end, result.text);
    session.close().await
}

fn is_fine(details: &PermissionDetails) -> bool {
    match details {
        PermissionDetails::Exec(exec) => ["date", "cargo test"].contains(&exec.full_command.as_str()),
        PermissionDetails::Create(file) => {
            Path::new(&file.file_path).extension().is_some_and(|extension| extension == "txt")
        }
        // also what a newer agent may ask for
        _ => false,
    }
}

/// The program in `MUSHER_AGENT`, or `droid`.
fn agent() -> Agent {
    std::env::var_os("MUSHER_AGENT")
        .map_or_else(Agent::default, |program| Agent::program(program.as_os_str()))
}
