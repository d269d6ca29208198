//! A turn with limits, watched: a timeout, a budget, and the events meanwhile.

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use std::time::Duration;

use musher::{Agent, Autonomy, Budget, Event, HookProgress, Session};

#[tokio::main]
async fn main() -> musher::Result<()> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Run the tests.".to_owned());
    let session = Session::builder().agent(agent()).autonomy(Autonomy::Medium).open().await?;
    let mut turn = session
        .send(prompt)
        .partial()
        .timeout(Duration::from_mins(10))
        .stall_timeout(Duration::from_mins(2))
        .budget(Budget::default().tokens(500_000).steps(2))
        .start()
        .await?;
    while let Some(event) = turn.next().await {
        match event? {
            Event::State(state) => println!("state {}", state.as_str()),
            Event::ToolCall(call) => println!("tool {}", call.name),
            Event::ToolResult(result) if result.is_error => println!("failed: {}", result.text()),
            Event::Hook(hook) => match hook.status {
                HookProgress::Ended { exit_code, .. } => {
                    println!("hook {} ended {exit_code:?}", hook.command);
                }
                _ => println!("hook {}", hook.command),
            },
            Event::Retry(retry) => println!("once more: {}", retry.reason.as_str()),
            Event::Result(result) => println!("{:?} after {} steps", result.end, result.steps),
            _ => {}
        }
    }
    let stats = session.client().get_context_stats().await?;
    println!("context: {} of {} tokens", stats.used.get(), stats.limit.get());
    session.close().await
}

/// The agent of `MUSHER_AGENT`: `engine`, `droid` or a program; droid without it.
fn agent() -> Agent {
    Agent::from_env()
}
