//! An answer as a Rust value: the schema is derived from the type, and an answer that does not match it is retried.

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use musher::{Agent, ErrorKind, Session};

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Review {
    /// One sentence.
    verdict: String,
    risks: Vec<Risk>,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Risk {
    file: String,
    /// From 1, harmless, to 5.
    severity: u8,
}

#[tokio::main]
async fn main() -> musher::Result<()> {
    let session = Session::builder().agent(agent()).open().await?;
    match session.extract::<Review>("Review the last commit.").retries(2).await {
        Ok(review) => {
            println!("{}", review.verdict);
            for risk in review.risks {
                println!("{} (severity {})", risk.file, risk.severity);
            }
        }
        Err(error) if matches!(error.kind(), ErrorKind::Output { .. }) => println!("no review: {error}"),
        Err(error) => return Err(error),
    }
    session.close().await
}

/// The agent of `MUSHER_AGENT`: `engine`, `droid` or a program; droid without it.
fn agent() -> Agent {
    Agent::from_env()
}
