//! Tools of this program for the agent: functions whose input is a Rust type.

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use musher::wire::PermissionDetails;
use musher::{Agent, Decision, McpServer, McpTools, Session};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Person {
    /// The first name.
    name: String,
}

#[tokio::main]
async fn main() -> musher::Result<()> {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let tools = McpTools::new()
        .tool("lookup", "Looks up the number of a person", move |person: Person| {
            counter.fetch_add(1, Ordering::Relaxed);
            async move {
                match person.name.as_str() {
                    "Alice" => Ok("Alice is number 42"),
                    _ => Err(format!("no person is called {}", person.name)),
                }
            }
        })
        .read_only();
    let session = Session::builder()
        .agent(agent())
        .serve_mcp(McpServer::new("people", tools))
        .on_permission_sync(|asked| {
            let is_ours = |details: &PermissionDetails| matches!(details, PermissionDetails::McpTool(_));
            let all_ours = asked.tool_uses.iter().all(|tool_use| is_ours(&tool_use.details));
            if all_ours { Decision::allow_once() } else { Decision::deny() }
        })
        .open()
        .await?;
    println!("{}", session.send("Which number has Alice?").await?.text);
    println!("[{} calls]", calls.load(Ordering::Relaxed));
    session.close().await
}

/// The agent of `MUSHER_AGENT`: `engine`, `droid` or a program; droid without it.
fn agent() -> Agent {
    Agent::from_env()
}
