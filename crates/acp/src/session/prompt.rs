//! One prompt, from the line it waits in to its answer.
//!
//! It is always answered: with how the turn ended, with an error if it failed, with `cancelled` if that was wished for,
//! whatever else happened.

use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{ContentBlock, PromptResponse, StopReason};
use musher::wire::AgentTurnCompletionReason as Reason;
use musher::{CancellationToken, Event, FailureKind, StoppedBy, Turn, TurnEnd, TurnResult};
use tokio::time::{Instant, sleep_until, timeout};

use super::process::has_model;
use super::{Session, internal, lock, opening_error};
use crate::commands::Command;
use crate::convert::content::{self, Parts};
use crate::convert::update::Scribe;
use crate::convert::usage;

/// How long the count of tokens may hold up an answer.
const COUNTING: Duration = Duration::from_secs(1);

/// How long the last words of a cancelled turn are waited for.
const LAST_WORDS: Duration = Duration::from_secs(3);

impl Session {
    /// Carries out a prompt when it is its turn.
    pub(crate) async fn prompt(
        &self,
        prompt: &[ContentBlock],
        token: &CancellationToken,
    ) -> Result<PromptResponse, Error> {
        let parts = content::parts(prompt)?;
        let ended = self.in_turn(parts, token).await;
        // what is still open will not end any more, and nobody may hear of it after the answer
        self.tell(Scribe::close);
        match ended {
            Ok(ended) if token.is_cancelled() => {
                Ok(PromptResponse::new(StopReason::Cancelled).usage(ended.usage))
            }
            Err(_) if token.is_cancelled() => Ok(PromptResponse::new(StopReason::Cancelled)),
            ended => ended,
        }
    }

    async fn in_turn(&self, parts: Parts, token: &CancellationToken) -> Result<PromptResponse, Error> {
        let beginning = async {
            let permit = self.line.acquire().await;
            *lock(&self.running) = token.clone();
            if let Some(command) = Command::read(&parts.text) {
                self.carry_out(command).await?;
                return Ok::<_, Error>((permit, None));
            }
            Ok((permit, Some(self.begin(parts, token).await?)))
        };
        let (_permit, turn) = tokio::select! {
            biased;
            () = token.cancelled() => return Ok(PromptResponse::new(StopReason::Cancelled)),
            begun = beginning => begun?,
        };
        let Some(turn) = turn else { return Ok(PromptResponse::new(StopReason::EndTurn)) };
        let result = self.follow_turn(turn, token).await?;
        self.count().await;
        let Some(result) = result else { return Ok(PromptResponse::new(StopReason::Cancelled)) };
        Ok(PromptResponse::new(stop_reason(&result)?).usage(result.usage.as_ref().map(usage::of_turn)))
    }

    /// Hands the prompt to the agent. One that died while nobody asked is noticed only now: then a new one gets it.
    async fn begin(&self, mut parts: Parts, token: &CancellationToken) -> Result<Turn, Error> {
        self.attach_unsaved(&mut parts).await;
        match self.hand_over(&parts, token).await? {
            Err(error) if error.is_connection() && !token.is_cancelled() => {
                self.lose();
                self.hand_over(&parts, token).await?
            }
            begun => begun,
        }
        .map_err(|error| self.failed(&error))
    }

    async fn hand_over(
        &self,
        parts: &Parts,
        token: &CancellationToken,
    ) -> Result<musher::Result<Turn>, Error> {
        let process = self.process().await.map_err(|error| opening_error(&error))?;
        if !has_model(&process) {
            return Err(self.desk.no_model());
        }
        let mut prompt = process.send(parts.whole_text()).partial().cancel_token(token.clone());
        prompt = parts.images.iter().cloned().fold(prompt, musher::Prompt::image);
        if !parts.files.is_empty() {
            prompt.params_mut().files.get_or_insert_default().extend(parts.files.iter().cloned());
        }
        Ok(prompt.start().await)
    }

    /// Follows a turn to its end; nothing if it was cancelled and did not end soon.
    async fn follow_turn(
        &self,
        mut turn: Turn,
        token: &CancellationToken,
    ) -> Result<Option<TurnResult>, Error> {
        let mut deadline = None;
        loop {
            let event = tokio::select! {
                // an editor that does not read makes the agent wait
                event = async { self.desk.link.room().await; turn.next().await } => event,
                () = token.cancelled(), if deadline.is_none() => {
                    deadline = Some(Instant::now() + LAST_WORDS);
                    continue;
                }
                // a turn that is let go is interrupted, and the next one waits for it
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => return Ok(None),
            };
            match event {
                Some(Ok(Event::Result(result))) => return Ok(Some(*result)),
                Some(Ok(event)) => {
                    self.tell(|scribe| scribe.event(&event));
                    if let Event::Usage(usage) = &event
                        // not those of an agent that works for this one
                        && usage.session_id.as_ref().is_none_or(|id| Some(id) == self.inner_id().as_ref())
                    {
                        let moved = lock(&self.gauge).called(usage);
                        self.send_all(moved);
                    }
                }
                Some(Err(error)) => return Err(self.failed(&error)),
                None => return Ok(None),
            }
        }
    }

    /// Tells how full the model's context is, if the agent says so at once.
    pub(super) async fn count(&self) {
        let Some(process) = self.running_process() else { return };
        if let Ok(Ok(stats)) = timeout(COUNTING, process.get_context_stats()).await {
            let counted = lock(&self.gauge).counted(stats.used.get(), stats.limit.get());
            self.send_all(counted);
        }
    }

    /// A failure of the agent, after which it may have to be started again.
    fn failed(&self, error: &musher::Error) -> Error {
        if error.is_connection() {
            self.lose();
        }
        internal(error)
    }
}

/// How a turn ended, in the protocol's words. A turn that failed is an error there.
fn stop_reason(result: &TurnResult) -> Result<StopReason, Error> {
    match &result.end {
        TurnEnd::Completed | TurnEnd::HandedOver | TurnEnd::Interrupted(StoppedBy::Denied) => {
            Ok(StopReason::EndTurn)
        }
        TurnEnd::Interrupted(_) => Ok(StopReason::Cancelled),
        TurnEnd::Failed(FailureKind::Execution(Reason::PromptRejected)) => Ok(StopReason::Refusal),
        TurnEnd::Failed(FailureKind::Execution(reason) | FailureKind::StructuredOutput(reason)) => {
            let what = result.errors.last().map_or("the turn failed", |error| &error.message);
            Err(Error::new(-32603, format!("{what} ({reason})")))
        }
        // the ways to end that there are not yet
        _ => Ok(StopReason::EndTurn),
    }
}
