//! An agent of the Droid protocol as an agent of the front end: droid itself, or the engine.
//!
//! `plan` reads the options, `scribe` and `stream` write what the front end sees, `ask` translates questions and answers: all
//! pure. `live` brings them together with a session of the SDK; here is only the way from the start to the end.

mod ask;
mod blocks;
mod calls;
mod catalog;
mod desk;
mod live;
mod modes;
mod open;
mod plan;
mod scribe;
mod stream;
mod tools;
mod words;

use std::path::Path;
use std::time::Duration;

use musher::Launch;
use musher_claude::Call;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Agent, Answer, Event, Failure, Gone, Greeting};
use crate::wire::request::Said;
use live::Live;
use open::{Opened, open, too_slow};
pub(crate) use plan::Plan;

/// The words that make droid speak its protocol.
const PROTOCOL: [&str; 5] = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
/// How long it may take to end by itself, and again after a signal.
const GRACE: Duration = Duration::from_millis(1500);
/// How long an opening that nobody wants any more may take; then it is given up.
const LAST_CHANCE: Duration = Duration::from_secs(1);

/// A session with such an agent.
pub(crate) struct Droid {
    stage: Stage,
    patience: Duration,
}

enum Stage {
    Opening(JoinHandle<Result<(Live, Greeting), Failure>>),
    Live(Box<Live>),
    Over,
}

impl Droid {
    /// The program, started in the folder of a session. It ends soon when it shall.
    pub(crate) fn program(program: &Path, cwd: &Path) -> musher::Agent {
        let launch = Launch::new(program).args(PROTOCOL).cwd(cwd);
        musher::Agent::launch(launch.grace(GRACE).grace_after_term(GRACE))
    }

    /// Begins to open a session.
    pub(crate) fn start(agent: musher::Agent, plan: Plan, patience: Duration) -> Self {
        let (desk, asks) = desk::desk();
        let opening = async move {
            let opened = open(agent, &plan, &desk).await?;
            let greeting = opened.greeting.clone();
            let Opened { session, scene, notes, .. } = opened;
            Ok((Live::new(session, scene, plan, asks, notes), greeting))
        };
        Self { stage: Stage::Opening(tokio::spawn(opening)), patience }
    }

    fn live(&mut self) -> Result<&mut Live, String> {
        match &mut self.stage {
            Stage::Live(live) => Ok(live),
            Stage::Opening(_) | Stage::Over => Err("the agent is not ready".to_owned()),
        }
    }
}

impl Agent for Droid {
    type Key = u64;

    async fn greet(&mut self) -> Result<Greeting, Failure> {
        let Stage::Opening(opening) = &mut self.stage else { return Err(too_slow(self.patience)) };
        let Ok(opened) = timeout(self.patience, opening).await else { return Err(too_slow(self.patience)) };
        self.stage = Stage::Over;
        match opened {
            Ok(Ok((live, greeting))) => {
                self.stage = Stage::Live(Box::new(live));
                Ok(greeting)
            }
            Ok(Err(failure)) => Err(failure),
            Err(_panic) => Err(Failure {
                message: "bug: the opening of the session broke off".to_owned(),
                details: serde_json::json!({"phase": "initialize"}),
            }),
        }
    }

    async fn next(&mut self) -> Result<Event<u64>, Gone> {
        match self.live() {
            Ok(live) => live.next().await,
            Err(reason) => Err(Gone { reason, details: serde_json::Map::new() }),
        }
    }

    fn more(&mut self) -> Option<Event<u64>> {
        self.live().ok()?.more()
    }

    fn user(&mut self, said: Said) -> Result<(), String> {
        self.live()?.user(said)
    }

    fn call(&mut self, call: &Call) -> Result<u64, String> {
        Ok(self.live()?.call(call))
    }

    fn forget(&mut self, _key: &u64) {
        // the SDK gives up by itself, and an answer that nobody waits for is dropped above
    }

    fn answer(&mut self, key: &u64, answer: &Answer) -> Result<(), String> {
        self.live()?.answer(*key, answer)
    }

    async fn end(self) {
        match self.stage {
            Stage::Live(live) => live.end().await,
            Stage::Opening(mut opening) => match timeout(LAST_CHANCE, &mut opening).await {
                Ok(Ok(Ok((live, _)))) => live.end().await,
                Ok(_) => {}
                // what was started ends when it is let go
                Err(_elapsed) => opening.abort(),
            },
            Stage::Over => {}
        }
    }
}

/// An error of the SDK in one line, with all its causes.
fn describe(error: &musher::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests;
