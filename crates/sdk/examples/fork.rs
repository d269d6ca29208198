//! Two ways from one point: fork a conversation, continue both, and resume the first one later.

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use musher::{Agent, Session};

#[tokio::main]
async fn main() -> musher::Result<()> {
    let session = Session::builder().agent(agent()).open().await?;
    session.send("Remember: we need a name for a library that drives agents.").await?;
    let fork = session.fork().title("The serious way").await?;
    let (playful, serious) = tokio::join!(
        session.send("Find a playful name.").into_future(),
        fork.send("Find a serious name.").into_future(),
    );
    println!("playful: {}", playful?.text);
    println!("serious: {}", serious?.text);
    fork.close().await?;
    session.rename("The playful way").await?;
    let id = session.id();
    session.close().await?;

    let session = Session::resume(id).agent(agent()).open().await?;
    let state = session.state();
    println!("{}: {} messages", state.title.unwrap_or_default(), state.history.len());
    println!("again: {}", session.send("Find a playful name.").await?.text);
    session.close().await
}

/// The agent of `MUSHER_AGENT`: `engine`, `droid` or a program; droid without it.
fn agent() -> Agent {
    Agent::from_env()
}
