//! Summing up a conversation: because a client asks for it, because it has become too long, or because the model cannot read all of it.
//!
//! Tasks ask the hooks and the model; what came of it comes back as an input. Nothing is given up before the summary is in the log. What a
//! client asks for becomes a session of its own, and the one that is open goes on as it was: so does droid. What is summed up because of its
//! length stays in the same session; the last messages are kept as they are.

use std::sync::Arc;

use musher_model::{ErrorClass, RetryPolicy, Usage};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::actor::Actor;
use super::children::{FromSession, FromTurn, Input};
use super::hooking::{Kit, about_message, tell_session, tell_turn};
use super::lists::{limit, message_tokens, tokens, used};
use super::running::Running;
use super::side_call;
use super::state::{Session, sum};
use super::summary::{request, shorter};
use super::turn::{Next, Turn, now_ms};
use crate::command::{Reply, Ticket};
use crate::event::{TurnEnd, WorkingState};
use crate::hooks::{HookNews, Moment};
use crate::models::Model;
use crate::{Error, Happening, HookRun, SessionId};
use musher_message::{Message, Visibility};
use musher_store::{Compacted, Compaction, Record, StoreError};

/// Of what fits, one part in so many is kept as it is.
const KEPT_PART: u64 = 5;
/// But not more tokens than this.
const MOST_KEPT: u64 = 20_000;
/// So often a summary is asked for, each time with less to read.
const ATTEMPTS: u32 = 4;

/// What came of it.
#[derive(Debug)]
pub(crate) struct Summed {
    /// So many messages, from the first on, it stands for.
    removed: usize,
    /// The summary, or why there is none.
    outcome: Result<(String, Usage), String>,
}

/// Everything a task needs.
struct Job {
    model: Model,
    retries: RetryPolicy,
    earlier: Option<String>,
    /// What is summed up.
    messages: Vec<Arc<Message>>,
    removed: usize,
    instructions: Option<String>,
    /// So many bytes of the conversation are shown to the model.
    room: usize,
    kit: Option<Kit>,
    trigger: &'static str,
    message_count: usize,
    tokens: u64,
    last: Option<String>,
}

impl Job {
    fn moment(&self) -> Moment<'_> {
        Moment::PreCompact {
            trigger: self.trigger,
            custom_instructions: self.instructions.as_deref(),
            message_count: self.message_count,
            estimated_tokens: self.tokens,
            message_id: self.last.as_deref(),
        }
    }

    /// Asks the hooks, then the model.
    async fn run<Told: Future<Output = ()>>(
        self,
        cancel: &CancellationToken,
        listener: impl FnMut(HookNews) -> Told,
    ) -> Summed {
        let removed = self.removed;
        if let Some(kit) = &self.kit {
            let ids = self.last.as_deref().map_or_else(HookRun::default, about_message);
            let wants = kit.fire(&self.moment(), &ids, cancel, listener).await;
            if let Some(reason) = wants.stop.or(wants.block) {
                return Summed { removed, outcome: Err(reason) };
            }
        }
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err("summing up the conversation was cancelled".to_owned()),
            outcome = self.ask() => outcome,
        };
        Summed { removed, outcome }
    }

    async fn ask(&self) -> Result<(String, Usage), String> {
        let (earlier, instructions) = (self.earlier.as_deref(), self.instructions.as_deref());
        let mut room = self.room;
        for attempt in 1..=ATTEMPTS {
            let request = request(&self.model, earlier, &self.messages, instructions, room);
            match side_call::ask(Arc::clone(&self.model.provider), request, self.retries).await {
                Ok((text, _)) if text.trim().is_empty() => break,
                Ok((text, usage)) => return Ok((text.trim().to_owned(), usage)),
                Err(error) if error.class == ErrorClass::ContextLength && attempt < ATTEMPTS => room /= 3,
                Err(error) if error.class == ErrorClass::Empty => break,
                Err(error) => return Err(format!("the conversation could not be summed up: {error}")),
            }
        }
        Err("the conversation could not be summed up: the model gave no text".to_owned())
    }
}

impl Actor {
    /// What a task needs to sum up the first so many messages; nothing if there are none, or no model.
    fn job(
        &self,
        trigger: &'static str,
        instructions: Option<String>,
        removed: impl FnOnce(&Session, usize) -> usize,
    ) -> Option<Job> {
        let session = self.session.as_ref()?;
        let (earlier, rest) = session.conversation();
        let before = session.messages.len() - rest.len();
        let removed = removed(session, before);
        let messages = session.messages.get(before..removed).filter(|messages| !messages.is_empty())?;
        let mut job = Job {
            model: session.model()?,
            retries: self.environment.retries,
            earlier: earlier.map(str::to_owned),
            messages: messages.to_vec(),
            removed,
            instructions,
            room: usize::try_from(limit(session).saturating_mul(2)).unwrap_or(usize::MAX),
            kit: None,
            trigger,
            message_count: session.messages.len(),
            tokens: rest.iter().map(|message| message_tokens(message)).sum(),
            last: session.messages.last().map(|message| message.id.clone()),
        };
        job.kit = self.hooks_at(&job.moment());
        Some(job)
    }

    /// A client wants a session that begins with a summary of this one. Turns go on meanwhile.
    pub(super) fn compact(&mut self, ticket: Ticket, instructions: Option<String>) {
        let Some(session) = &self.session else { return self.reply(ticket, Err(Error::NoSession)) };
        if session.model().is_none() {
            let text = format!("There is no model `{}`.", session.model_id());
            return self.reply(ticket, Err(Error::Invalid(text)));
        }
        let (number, inputs, cancel) = (session.number, self.inputs.clone(), session.cancel.clone());
        let settings = Box::new(session.settings.clone());
        let Some(job) = self.job("manual", instructions, |session, _| session.messages.len()) else {
            let text = "There is nothing to compact: the conversation is empty".to_owned();
            return self.reply(ticket, Err(Error::Invalid(text)));
        };
        self.emit(Happening::Settings { settings, ticket: None });
        tokio::spawn(async move {
            let summed = job.run(&cancel, tell_session(number, &inputs)).await;
            let what = FromSession::Summed { ticket, summed };
            inputs.send(Input::Session { session: number, what }).await.ok();
        });
    }

    /// The summary a client asked for is there.
    pub(super) fn compacted(&mut self, ticket: Ticket, summed: Summed) {
        let outcome = self.new_compacted(summed);
        self.reply(ticket, outcome);
    }

    fn new_compacted(&mut self, summed: Summed) -> Result<Reply, Error> {
        let (text, usage) = summed.outcome.map_err(Error::Internal)?;
        self.count_summary(usage);
        let store = self.environment.store();
        let session = self.session.as_mut().ok_or(Error::NoSession)?;
        let internal = |error: StoreError| Error::Internal(error.to_string());
        session.log().map_err(internal)?;
        session.save();
        let new = SessionId::random();
        let summary = compaction(text, summed.removed, None);
        store.compact(&session.id, &new, summary, &[]).map_err(internal)?;
        Ok(Reply::Compacted { session: new, removed: summed.removed })
    }

    /// A step of the turn is done: goes on, after summing up if the conversation has become too long.
    pub(super) fn settled(&mut self, next: Next) {
        let is_full = self.session.as_ref().is_some_and(is_full);
        if !(is_full && self.sum_up(&next)) {
            self.go_on_with(next);
        }
    }

    /// The model cannot read all of the conversation: sums it up and asks again, or gives up.
    pub(super) fn overflowed(&mut self, error: String) {
        let next = Next::Retry { error };
        if !self.sum_up(&next) {
            self.give_up(next);
        }
    }

    /// Begins to sum up; the turn waits for it. Whether there is something to sum up.
    fn sum_up(&mut self, next: &Next) -> bool {
        let can_shrink = self.turns.running().is_some_and(Running::can_shrink);
        let job = self.job("auto", None, |session, before| {
            shorter(&session.messages, before, (limit(session) / KEPT_PART).min(MOST_KEPT))
        });
        let Some(job) = job.filter(|_| can_shrink) else { return false };
        let Some((back, cancel)) = self.child() else { return false };
        if let Some(running) = self.turns.running_mut() {
            running.hold(next.clone());
        }
        self.emit(Happening::State(WorkingState::Compacting));
        back.clone().spawn(async move {
            let summed = job.run(&cancel, tell_turn(&back)).await;
            back.send(FromTurn::Summed(summed)).await;
        });
        true
    }

    /// The conversation of the turn is summed up, or cannot be.
    pub(super) fn summed_up(&mut self, summed: Summed) {
        let Some(next) = self.turns.running_mut().and_then(Running::take_next) else { return };
        let shrunk = summed.outcome.and_then(|(text, usage)| {
            self.shrink(text, summed.removed).map_err(|error| error.to_string())?;
            Ok(usage)
        });
        match shrunk {
            Ok(usage) => {
                self.estimate();
                self.count_summary(usage);
                self.emit(Happening::State(WorkingState::Streaming));
                self.go_on_with(next);
            }
            Err(reason) => {
                tracing::warn!(%reason, "the conversation was not summed up");
                if let Some(running) = self.turns.running_mut() {
                    running.shrinking_failed();
                }
                self.give_up(next);
            }
        }
    }

    /// Puts a summary in the place of the first messages.
    fn shrink(&mut self, text: String, removed: usize) -> Result<(), StoreError> {
        let Some(session) = &mut self.session else { return Ok(()) };
        let last = removed.checked_sub(1).and_then(|last| session.messages.get(last));
        let summary = compaction(text, removed, last.map(|message| message.id.clone()));
        let log = session.log()?;
        log.append(&Record::Compaction(Box::new(summary.clone())))?;
        log.sync()?;
        let summary_id = summary.id.clone();
        session.compaction = Some(Compacted { summary, removed });
        let kept = session.messages.get(removed..).unwrap_or_default();
        let visible = kept.iter().find(|message| message.visibility == Visibility::Both);
        let boundary = visible.map(|message| message.id.clone());
        self.emit(Happening::Compacted { summary_id, removed, boundary });
        Ok(())
    }

    /// Without a summary: goes on if that is possible.
    fn give_up(&mut self, next: Next) {
        match next {
            Next::Retry { error } => self.with_turn(|turn, effects| {
                turn.fail(error, Some("Error"), TurnEnd::ModelRequestRejected, effects);
            }),
            next => self.go_on_with(next),
        }
    }

    fn go_on_with(&mut self, next: Next) {
        match next {
            Next::Ask => {
                self.join_waiting();
                self.emit(Happening::State(WorkingState::Streaming));
                self.with_turn(Turn::call_model);
            }
            Next::Retry { .. } => self.with_turn(Turn::call_model),
            Next::Stop { message_id } => self.stopping(message_id),
        }
    }

    /// Estimates how full the context is, until the next call of the model tells.
    fn estimate(&mut self) {
        let Ok(Reply::ContextBreakdown(breakdown)) = self.context_breakdown() else { return };
        if let Some(session) = &mut self.session {
            session.last_call = Some(Usage { input: breakdown.used, ..Usage::default() });
        }
    }

    /// Counts what a summary has used.
    fn count_summary(&mut self, usage: Usage) {
        if let Some(running) = self.turns.running_mut() {
            running.turn.usage = sum(running.turn.usage, usage);
        }
        let Some(session) = &mut self.session else { return };
        session.usage = sum(session.usage, usage);
        let (total, inclusive, last_call) = (session.usage, session.inclusive_usage(), session.last_call);
        self.emit(Happening::Usage { total, inclusive, last_call });
    }
}

/// Whether the conversation is longer than it should be.
fn is_full(session: &Session) -> bool {
    // of a window that is known, a tenth is left for the answer
    let window = session.model().and_then(|model| model.context_window).map(|window| window - window / 10);
    let most = limit(session).min(window.unwrap_or(u64::MAX));
    session.settings.compaction_check && used(session) > most
}

fn compaction(summary: String, removed: usize, last_removed: Option<String>) -> Compaction {
    Compaction {
        id: Uuid::new_v4().to_string(),
        at_ms: now_ms(),
        summary_tokens: tokens(summary.len()),
        summary,
        removed: u64::try_from(removed).unwrap_or(u64::MAX),
        last_removed,
        ..Compaction::default()
    }
}
