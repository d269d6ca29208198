//! An agent of the Droid protocol as an agent of the front end: droid itself, or the engine.
//!
//! `plan` reads the options, `translate` and `stream` write what the front end sees, `ask` translates questions and answers:
//! all pure. `live` brings them together with a session of the SDK; here is only the way from the start to the end.

mod ask;
mod blocks;
mod calls;
mod catalog;
mod live;
mod models;
mod modes;
mod open;
mod plan;
mod sandbox;
mod stream;
mod tools;
mod translate;
mod user_message;

use std::path::Path;
use std::time::Duration;

use musher_claude::Call;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Agent, Answer, Event, Failure, Gone, Greeting};
use crate::wire::request::PromptContent;
use live::Live;
pub(crate) use models::ModelNames;
use open::{Opened, open, too_slow};
pub(crate) use plan::SessionPlan;

/// How long droid may take to exit by itself, and again after a signal.
const GRACE: Duration = Duration::from_millis(1500);
/// Time limit for a session that still opens when it is closed; then opening is aborted.
const ABANDONED_OPEN_TIMEOUT: Duration = Duration::from_secs(1);

/// A session with such an agent.
pub(crate) struct Droid {
    stage: Stage,
    start_timeout: Duration,
}

enum Stage {
    Opening(JoinHandle<Result<(Live, Greeting), Failure>>),
    Live(Box<Live>),
    Over,
}

impl Droid {
    /// Returns the agent program, started in the directory of a session, with short grace periods.
    pub(crate) fn program(program: &Path, cwd: &Path) -> musher::Agent {
        let launch = musher::Agent::program_launch(program).cwd(cwd);
        musher::Agent::launch(launch.grace(GRACE).grace_after_term(GRACE))
    }

    /// Begins to open a session.
    pub(crate) fn start(agent: musher::Agent, plan: SessionPlan, start_timeout: Duration) -> Self {
        let opening = async move {
            let opened = open(agent, &plan).await?;
            let greeting = opened.greeting.clone();
            let Opened { session, info, notes, .. } = opened;
            Ok((Live::new(session, info, plan, notes), greeting))
        };
        Self { stage: Stage::Opening(tokio::spawn(opening)), start_timeout }
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
        let Stage::Opening(opening) = &mut self.stage else { return Err(too_slow(self.start_timeout)) };
        let Ok(opened) = timeout(self.start_timeout, opening).await else {
            return Err(too_slow(self.start_timeout));
        };
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

    fn user(&mut self, content: PromptContent) -> Result<(), String> {
        self.live()?.user(content)
    }

    fn call(&mut self, call: &Call) -> Result<u64, String> {
        Ok(self.live()?.call(call))
    }

    fn forget(&mut self, _key: &u64) {
        // the SDK times out by itself, and late answers are dropped by the caller
    }

    fn answer(&mut self, key: &u64, answer: &Answer) -> Result<(), String> {
        self.live()?.answer(*key, answer)
    }

    async fn end(self) {
        match self.stage {
            Stage::Live(live) => live.end().await,
            Stage::Opening(mut opening) => match timeout(ABANDONED_OPEN_TIMEOUT, &mut opening).await {
                Ok(Ok(Ok((live, _)))) => live.end().await,
                Ok(_) => {}
                // dropping the task ends the process
                Err(_elapsed) => opening.abort(),
            },
            Stage::Over => {}
        }
    }
}

/// Returns an error of the SDK in one line, with all its causes.
fn describe(error: &musher::Error) -> String {
    error.with_causes().to_string()
}

#[cfg(test)]
mod tests;
