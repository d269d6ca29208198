//! Compaction: a summary replaces the first messages of a conversation.
//!
//! A client asks for it, the conversation has become too long, or the model cannot read all of it. A task runs the hooks and calls the
//! model; the summary comes back as an input. No message is dropped before the summary is in the log. A compaction for a client becomes
//! a new session and leaves the open one as it is, like droid's; a compaction because of length stays in the session and keeps its last
//! messages.

use std::sync::Arc;

use musher_model::{ErrorClass, RetryPolicy, Usage};
use musher_store::Store;
use tokio_util::sync::CancellationToken;

use super::active_turn::ActiveTurn;
use super::fork::internal;
use super::hooks::{HookRunner, about_message};
use super::lists::{limit, message_tokens};
use super::side_call;
use super::state::{Session, compaction};
use super::summary::{request, shorter};
use super::tasks::{SessionInput, SessionSender, TurnInput};
use super::turn::{Next, Turn};
use crate::command::{CommandId, Reply};
use crate::event::{TurnEnd, WorkingState};
use crate::hooks::{HookEvent, HookProgress};
use crate::models::Model;
use crate::{Error, Event, HookRun, SessionId};
use musher_message::Message;

/// The part of the limit that the kept messages may fill: one fifth.
const KEPT_PART: u64 = 5;
/// The maximum size of the kept messages, in tokens.
const MAX_KEPT_TOKENS: u64 = 20_000;
/// The maximum number of attempts to get a summary, each with fewer messages.
const MAX_ATTEMPTS: u32 = 4;

/// The result of a compaction task.
#[derive(Debug)]
pub(crate) struct Summed {
    /// The number of messages, from the first on, that the summary replaces.
    removed: usize,
    /// The summary, or why there is none.
    outcome: Result<(String, Usage), String>,
}

/// Everything a compaction task needs.
pub(super) struct Job {
    model: Model,
    retries: RetryPolicy,
    /// The summary the conversation begins with.
    earlier: Option<String>,
    /// The messages to summarize.
    messages: Vec<Arc<Message>>,
    removed: usize,
    instructions: Option<String>,
    /// How much of the conversation the model reads, in bytes.
    room: usize,
    hooks: Option<HookRunner>,
    trigger: &'static str,
    message_count: usize,
    tokens: u64,
    last: Option<String>,
}

impl Job {
    fn event(&self) -> HookEvent<'_> {
        HookEvent::PreCompact {
            trigger: self.trigger,
            custom_instructions: self.instructions.as_deref(),
            message_count: self.message_count,
            estimated_tokens: self.tokens,
            message_id: self.last.as_deref(),
        }
    }

    /// Runs the hooks, then asks the model for a summary.
    async fn run<Done: Future<Output = ()>>(
        self,
        cancel: &CancellationToken,
        listener: impl FnMut(HookProgress) -> Done,
    ) -> Summed {
        let removed = self.removed;
        if let Some(hooks) = &self.hooks {
            let ids = self.last.as_deref().map_or_else(HookRun::default, about_message);
            let outcome = hooks.run(&self.event(), &ids, cancel, listener).await;
            if let Some(reason) = outcome.stop.or(outcome.block) {
                return Summed { removed, outcome: Err(reason) };
            }
        }
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err("cannot compact the conversation: cancelled".to_owned()),
            outcome = self.ask() => outcome,
        };
        Summed { removed, outcome }
    }

    async fn ask(&self) -> Result<(String, Usage), String> {
        let (earlier, instructions) = (self.earlier.as_deref(), self.instructions.as_deref());
        let mut room = self.room;
        for attempt in 1..=MAX_ATTEMPTS {
            let request = request(&self.model, earlier, &self.messages, instructions, room);
            match side_call::ask(Arc::clone(&self.model.provider), request, self.retries).await {
                Ok((text, _)) if text.trim().is_empty() => break,
                Ok((text, usage)) => return Ok((text.trim().to_owned(), usage)),
                Err(error) if error.class == ErrorClass::ContextLength && attempt < MAX_ATTEMPTS => room /= 3,
                Err(error) if error.class == ErrorClass::Empty => break,
                Err(error) => return Err(format!("cannot compact the conversation: {error}")),
            }
        }
        Err("cannot compact the conversation: the model returned no text".to_owned())
    }
}

impl Session {
    /// Returns what a task needs to replace the first messages by a summary. `removed` gets the number of messages that are replaced
    /// already, and returns the new number. `None` if there is nothing to replace, or no model.
    fn compaction_job(
        &self,
        trigger: &'static str,
        instructions: Option<String>,
        retries: RetryPolicy,
        removed: impl FnOnce(&Self, usize) -> usize,
    ) -> Option<Job> {
        let all = self.conversation().messages();
        let (earlier, rest) = self.conversation().visible();
        let before = all.len() - rest.len();
        let removed = removed(self, before);
        let messages = all.get(before..removed).filter(|messages| !messages.is_empty())?;
        let mut job = Job {
            model: self.model()?,
            retries,
            earlier: earlier.map(str::to_owned),
            messages: messages.to_vec(),
            removed,
            instructions,
            room: usize::try_from(limit(self).saturating_mul(2)).unwrap_or(usize::MAX),
            hooks: None,
            trigger,
            message_count: all.len(),
            tokens: rest.iter().map(|message| message_tokens(message)).sum(),
            last: self.conversation().last_id().map(str::to_owned),
        };
        job.hooks = self.hooks_for(&job.event());
        Some(job)
    }

    /// Starts a compaction for a client. Turns continue meanwhile.
    pub(super) fn start_compaction(
        &self,
        command_id: CommandId,
        instructions: Option<String>,
        retries: RetryPolicy,
        sender: SessionSender,
    ) -> Result<(), Error> {
        if self.model().is_none() {
            return Err(Error::Invalid(format!("Unknown model `{}`.", self.model_id())));
        }
        let all = |session: &Self, _| session.conversation().messages().len();
        let job = self.compaction_job("manual", instructions, retries, all).ok_or_else(|| {
            Error::Invalid("There is nothing to compact: the conversation is empty".to_owned())
        })?;
        let cancel = self.cancelled().clone();
        tokio::spawn(async move {
            let summed = job.run(&cancel, sender.hook_listener()).await;
            sender.send(SessionInput::Summed { command_id, summed }).await;
        });
        Ok(())
    }

    /// Creates a new session that starts with the summary that a client requested.
    pub(super) fn fork_compacted(
        &mut self,
        store: &Store,
        summary: String,
        removed: usize,
    ) -> Result<Reply, Error> {
        self.log().map_err(internal)?;
        self.save();
        let new = SessionId::random();
        store.compact(self.id(), &new, compaction(summary, removed, None), &[]).map_err(internal)?;
        Ok(Reply::Compacted { session: new, removed })
    }
}

impl Summed {
    /// The summary, its usage and the number of messages it replaces; or why there is none.
    pub(super) fn into_result(self) -> Result<(String, Usage, usize), Error> {
        let (text, usage) = self.outcome.map_err(Error::Internal)?;
        Ok((text, usage, self.removed))
    }
}

impl ActiveTurn<'_> {
    /// A step of the turn is done: continues, after a compaction if the conversation has become too long.
    pub(super) fn step_done(&mut self, next: Next) {
        if !(is_full(self.session) && self.compact(&next)) {
            self.continue_with(next);
        }
    }

    /// The model cannot read all of the conversation: compacts it and calls the model again, or gives up.
    pub(super) fn context_overflow(&mut self, error: String) {
        let next = Next::Retry { error };
        if !self.compact(&next) {
            self.continue_uncompacted(next);
        }
    }

    /// Starts a compaction, which the turn waits for. Returns whether there is something to compact.
    fn compact(&mut self, next: &Next) -> bool {
        let kept = |session: &Session, before| {
            let budget = (limit(session) / KEPT_PART).min(MAX_KEPT_TOKENS);
            shorter(session.conversation().messages(), before, budget)
        };
        let job = self.session.compaction_job("auto", None, self.environment.retries, kept);
        let Some(job) = job.filter(|_| self.running.can_compact()) else { return false };
        let (sender, cancel) = self.task();
        self.running.hold_for_compaction(next.clone());
        self.emit(Event::State(WorkingState::Compacting));
        sender.clone().spawn(async move {
            let summed = job.run(&cancel, sender.hook_listener()).await;
            sender.send(TurnInput::Summed(summed)).await;
        });
        true
    }

    /// The compaction has ended: continues with the summary, or without one.
    pub(super) fn summed(&mut self, summed: Summed) {
        let Some(next) = self.running.take_after_compaction() else { return };
        let compacted = summed.outcome.and_then(|(text, usage)| {
            let event = self.session.compact(text, summed.removed).map_err(|error| error.to_string())?;
            Ok((event, usage))
        });
        match compacted {
            Ok((event, usage)) => {
                self.emit(event);
                let breakdown = self.session.context_breakdown(&self.environment.tools);
                self.session.estimate_context(breakdown.used);
                self.running.turn.add_usage(usage);
                let event = self.session.record_summary(usage);
                self.emit(event);
                self.emit(Event::State(WorkingState::Streaming));
                self.continue_with(next);
            }
            Err(reason) => {
                tracing::warn!(%reason, "the conversation was not compacted");
                self.running.compaction_failed();
                self.continue_uncompacted(next);
            }
        }
    }

    /// Continues without a compaction, if that is possible.
    fn continue_uncompacted(&mut self, next: Next) {
        match next {
            Next::Retry { error } => self.step(|turn, effects| {
                turn.fail(error, Some("Error"), TurnEnd::ModelRequestRejected, effects);
            }),
            next => self.continue_with(next),
        }
    }

    fn continue_with(&mut self, next: Next) {
        match next {
            Next::CallModel => {
                self.join_waiting_prompts();
                self.emit(Event::State(WorkingState::Streaming));
                self.step(Turn::call_model);
            }
            Next::Retry { .. } => self.step(Turn::call_model),
            Next::Stop { message_id } => self.run_stop_hooks(message_id),
        }
    }
}

/// Whether the conversation is longer than it should be.
fn is_full(session: &Session) -> bool {
    // a tenth of a known window is left for the answer
    let window = session.model().and_then(|model| model.context_window).map(|window| window - window / 10);
    let max = limit(session).min(window.unwrap_or(u64::MAX));
    session.settings().compaction_check && session.usage().context_size() > max
}
