//! One prompt, one answer: `cargo run --example one_shot -- "What is in this directory?"`

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use musher::{Agent, TurnEnd};

#[tokio::main]
async fn main() -> musher::Result<()> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "What is in this directory?".to_owned());
    let result = musher::run(prompt).session(|session| session.agent(agent())).await?;
    println!("{}", result.text);
    match &result.end {
        TurnEnd::Completed => {}
        other => println!("[it ended as {other:?}: {:?}]", result.errors),
    }
    if let Some(usage) = &result.usage {
        println!("[{} tokens in, {} out]", usage.input_tokens, usage.output_tokens);
    }
    Ok(())
}

/// The agent of `MUSHER_AGENT`: `engine`, `droid` or a program; droid without it.
fn agent() -> Agent {
    Agent::from_env()
}
