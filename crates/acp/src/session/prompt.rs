//! The task of one prompt: starts the turn, forwards its events, and reports its end.
//!
//! A cancelled prompt ends at once if its turn has not started, and otherwise with the turn or after a short deadline.

use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{PromptResponse, StopReason};
use musher::wire::AgentTurnCompletionReason as Reason;
use musher::{CancellationToken, Event, FailureKind, StoppedBy, Turn, TurnEnd, TurnResult};
use tokio::time::{Instant, sleep_until};

use super::agent::{AgentStarter, has_model};
use super::command::Command;
use super::editor_connection::EditorConnection;
use super::failure::internal;
use super::prompt_queue::cancelled;
use super::{SessionPort, operations, unsaved};
use crate::commands;
use crate::convert::content::Parts;
use crate::convert::usage;
use crate::registry::{Registry, explained};

/// How long a cancelled turn may take to end.
const CANCELLED_TURN_TIMEOUT: Duration = Duration::from_secs(3);

/// The task of one prompt.
#[derive(Debug)]
pub(super) struct PromptTask {
    pub(super) port: SessionPort,
    pub(super) registry: Arc<Registry>,
    pub(super) starter: AgentStarter,
    editor: EditorConnection,
    token: CancellationToken,
}

impl PromptTask {
    pub(super) fn new(
        port: SessionPort,
        registry: Arc<Registry>,
        starter: AgentStarter,
        editor: EditorConnection,
        token: CancellationToken,
    ) -> Self {
        Self { port, registry, starter, editor, token }
    }

    /// Runs the prompt, and reports its end to the session after all its events.
    pub(super) async fn run(self, parts: Parts) {
        let ended = self.turn(parts).await;
        self.port.send(Command::PromptEnded(ended)).await;
    }

    async fn turn(&self, parts: Parts) -> Result<PromptResponse, Error> {
        let start = async {
            if let Some(command) = commands::Command::read(&parts.text) {
                self.run_command(command).await?;
                return Ok::<_, Error>(None);
            }
            Ok(Some(self.start(parts).await?))
        };
        let turn = tokio::select! {
            biased;
            () = self.token.cancelled() => return Ok(cancelled()),
            started = start => started?,
        };
        let Some(turn) = turn else { return Ok(PromptResponse::new(StopReason::EndTurn)) };
        let result = self.follow(turn).await?;
        operations::count_context(&self.port).await;
        let Some(result) = result else { return Ok(cancelled()) };
        let usage = result.usage.as_ref().map(usage::turn_usage);
        Ok(PromptResponse::new(stop_reason(&result)?).usage(usage))
    }

    /// Sends the prompt to the agent. An agent whose end was not noticed before is started again, once.
    async fn start(&self, mut parts: Parts) -> Result<Turn, Error> {
        if self.registry.client().fs.read_text_file {
            unsaved::attach(&self.editor, &mut parts).await;
        }
        let started = match self.send(&parts).await? {
            Err(error) if error.is_connection() && !self.token.is_cancelled() => {
                self.port.send(Command::AgentLost).await;
                self.send(&parts).await?
            }
            started => started,
        };
        match started {
            Ok(turn) => Ok(turn),
            Err(error) => Err(self.failed(&error).await),
        }
    }

    async fn send(&self, parts: &Parts) -> Result<musher::Result<Turn>, Error> {
        let agent = self.port.agent().await?;
        if !has_model(&agent) {
            return Err(self.registry.no_model());
        }
        let mut prompt = agent.send(parts.whole_text()).partial().cancel_token(self.token.clone());
        prompt = parts.images.iter().cloned().fold(prompt, musher::Prompt::image);
        if !parts.files.is_empty() {
            prompt.params_mut().files.get_or_insert_default().extend(parts.files.iter().cloned());
        }
        Ok(prompt.start().await)
    }

    /// Forwards the events of a turn. Returns nothing if it was cancelled and did not end in time.
    async fn follow(&self, mut turn: Turn) -> Result<Option<TurnResult>, Error> {
        let mut deadline = None;
        loop {
            let event = tokio::select! {
                // an editor that does not read makes the agent wait
                event = async { self.editor.room().await; turn.next().await } => event,
                () = self.token.cancelled(), if deadline.is_none() => {
                    deadline = Some(Instant::now() + CANCELLED_TURN_TIMEOUT);
                    continue;
                }
                // a turn that is dropped is interrupted, and the next one waits for it
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => return Ok(None),
            };
            match event {
                Some(Ok(Event::Result(result))) => return Ok(Some(*result)),
                Some(Ok(event)) => self.port.event(event).await,
                Some(Err(error)) => return Err(self.failed(&error).await),
                None => return Ok(None),
            }
        }
    }

    /// Returns a failure of the agent, after which it may have to be started again.
    async fn failed(&self, error: &musher::Error) -> Error {
        if error.is_connection() {
            self.port.send(Command::AgentLost).await;
        }
        internal(error)
    }
}

/// Returns how a turn ended, in the protocol's terms. A turn that failed is an error there.
fn stop_reason(result: &TurnResult) -> Result<StopReason, Error> {
    match &result.end {
        TurnEnd::Completed | TurnEnd::HandedOver | TurnEnd::Interrupted(StoppedBy::Denied) => {
            Ok(StopReason::EndTurn)
        }
        TurnEnd::Interrupted(_) => Ok(StopReason::Cancelled),
        TurnEnd::Failed(FailureKind::Refusal | FailureKind::Execution(Reason::PromptRejected)) => {
            Ok(StopReason::Refusal)
        }
        TurnEnd::Failed(FailureKind::Execution(reason) | FailureKind::StructuredOutput(reason)) => {
            let what = result.errors.last().map_or("the turn failed", |error| &error.message);
            Err(explained(&Error::internal_error(), format!("{what} ({reason})")))
        }
        // ends that a later version adds
        _ => Ok(StopReason::EndTurn),
    }
}
