//! Compaction: a summary replaces the first messages of a conversation.
//!
//! There are two ways to ask for it. The cached way sends the beginning of the next request, which the vendor has cached, and an
//! instruction. The other sends a shortened transcript. The cheaper one by estimate is tried first.
//!
//! A client asks for it, the conversation has become too long, or the model cannot read all of it. A task runs the hooks and calls the
//! model; the summary comes back as an input. No message is dropped before the summary is in the log. A compaction for a client becomes
//! a new session and leaves the open one as it is, like droid's; a compaction because of length stays in the session and keeps its last
//! messages.

use std::sync::Arc;

use musher_model::{ErrorClass, Message as ModelMessage, Price, Rates, Request, RetryPolicy, Usage};
use musher_store::Store;
use musher_tools::Registry;
use tokio_util::sync::CancellationToken;

use super::active_turn::ActiveTurn;
use super::hooks::{HookRunner, about_message};
use super::lists::{limit, message_tokens};
use super::side_call;
use super::state::{Session, compaction};
use super::summary::{MAX_SUMMARY_TOKENS, cached_instruction, facts, request_with_transcript, shorter};
use super::tasks::{SessionInput, SessionSender, TurnInput};
use super::turn::{Next, Turn, now_ms};
use super::{request, tool_selection};
use crate::budget::request_tokens;
use crate::command::{CommandId, Reply};
use crate::event::{TurnEnd, WorkingState};
use crate::hooks::{HookEvent, HookProgress};
use crate::models::Model;
use crate::{Error, Event, HookRun, SessionId};
use musher_message::{Message, Role};

/// The part of the limit that the kept messages may fill: one fifth.
const KEPT_PART: u64 = 5;
/// The maximum size of the kept messages, in tokens.
const MAX_KEPT_TOKENS: u64 = 20_000;
/// The maximum size of a transcript, in bytes: about 120,000 tokens.
const MAX_TRANSCRIPT: usize = 480 << 10;
/// How long vendors keep a conversation in the cache at least, less the time for a call, in milliseconds.
const CACHE_LIFETIME_MS: i64 = 4 * 60 * 1000;
/// The maximum number of attempts to get a summary, each with fewer messages.
const MAX_ATTEMPTS: u32 = 4;

/// The result of a compaction task.
#[derive(Debug)]
pub(crate) struct CompactionOutcome {
    /// The number of messages, from the first on, that the summary replaces.
    removed: usize,
    /// What the calls for it have used. Calls that broke off are not in it.
    used: Vec<Usage>,
    /// The summary, or why there is none.
    outcome: Result<String, String>,
}

/// Everything a compaction task needs.
pub(super) struct Job {
    model: Model,
    /// The request with the cached beginning of the conversation, if that is cheaper.
    cached: Option<Request>,
    /// What the summary must not lose: open to-dos, changed files, failing commands.
    facts: Option<String>,
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
    ) -> CompactionOutcome {
        let removed = self.removed;
        if let Some(hooks) = &self.hooks {
            let ids = self.last.as_deref().map_or_else(HookRun::default, about_message);
            let outcome = hooks.run(&self.event(), &ids, cancel, listener).await;
            if let Some(reason) = outcome.stop.or(outcome.block) {
                return CompactionOutcome { removed, used: Vec::new(), outcome: Err(reason) };
            }
        }
        let mut used = Vec::new();
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err("cannot compact the conversation: cancelled".to_owned()),
            outcome = self.ask(&mut used) => outcome,
        };
        CompactionOutcome { removed, used, outcome }
    }

    async fn ask(&self, used: &mut Vec<Usage>) -> Result<String, String> {
        let text = self.ask_model(used).await?;
        Ok(match &self.facts {
            Some(facts) => format!("{text}\n\n{facts}"),
            None => text,
        })
    }

    async fn ask_model(&self, used: &mut Vec<Usage>) -> Result<String, String> {
        if let Some(request) = &self.cached {
            match side_call::ask(Arc::clone(&self.model.provider), request.clone(), self.retries).await {
                Ok((text, usage)) => {
                    used.push(usage);
                    if !text.trim().is_empty() {
                        return Ok(text.trim().to_owned());
                    }
                    // it called a tool instead, or cannot read all of it
                }
                Err(error) => tracing::debug!(%error, "no summary from the cached conversation"),
            }
        }
        self.ask_with_transcript(used).await
    }

    async fn ask_with_transcript(&self, used: &mut Vec<Usage>) -> Result<String, String> {
        let mut room = self.room;
        for attempt in 1..=MAX_ATTEMPTS {
            let request = summary_request(self, room);
            match side_call::ask(Arc::clone(&self.model.provider), request, self.retries).await {
                Ok((text, usage)) => {
                    used.push(usage);
                    if text.trim().is_empty() {
                        break;
                    }
                    return Ok(text.trim().to_owned());
                }
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
        registry: &Registry,
        removed: impl FnOnce(&Self, usize) -> usize,
    ) -> Option<Job> {
        let all = self.conversation().messages();
        let (earlier, rest) = self.conversation().visible();
        let before = all.len() - rest.len();
        let removed = removed(self, before);
        let messages = all.get(before..removed).filter(|messages| !messages.is_empty())?;
        let mut job = Job {
            model: self.model()?,
            cached: None,
            facts: facts(all, removed, registry),
            retries,
            earlier: earlier.map(str::to_owned),
            messages: messages.to_vec(),
            removed,
            instructions,
            room: usize::try_from(limit(self).saturating_mul(2)).unwrap_or(usize::MAX).min(MAX_TRANSCRIPT),
            hooks: None,
            trigger,
            message_count: all.len(),
            tokens: rest.iter().map(|message| message_tokens(message)).sum(),
            last: self.conversation().last_id().map(str::to_owned),
        };
        job.hooks = self.hooks_for(&job.event());
        job.cached = self.cached_summary_request(&job, registry);
        Some(job)
    }

    /// Returns the request that asks for a summary of the cached conversation, if that is cheaper than to send a transcript.
    fn cached_summary_request(&self, job: &Job, registry: &Registry) -> Option<Request> {
        let last = self.usage().last_call()?;
        let age = now_ms().saturating_sub(self.conversation().updated_at_ms()?);
        let was_cached = last.cache_read.saturating_add(last.cache_write);
        if age > CACHE_LIFETIME_MS || was_cached == 0 {
            return None;
        }
        let tools = tool_selection::offered(registry, self);
        let (mut request, _origin) =
            request::build_to(self, &job.model, vec![self.system_text()], tools, job.removed);
        let instruction = cached_instruction(job.instructions.as_deref());
        let size = request_tokens(&request);
        request.messages.push(ModelMessage::user(instruction));
        // neither caching nor the proof of thinking depends on it
        request.max_output_tokens =
            Some(request.max_output_tokens.map_or(MAX_SUMMARY_TOKENS, |max| max.min(MAX_SUMMARY_TOKENS)));
        let is_fitting =
            job.model.input_limit.is_none_or(|limit| size.saturating_add(MAX_SUMMARY_TOKENS) < limit);
        let transcript = summary_request(job, job.room);
        let price = job.model.price.clone().unwrap_or_else(usual_price);
        let read = was_cached.min(size);
        let cached = Usage { input: size - read, cache_read: read, ..Usage::default() };
        let uncached = Usage { input: request_tokens(&transcript), ..Usage::default() };
        (is_fitting && price.cost(&cached) < price.cost(&uncached)).then_some(request)
    }

    /// Starts a compaction for a client. Turns continue meanwhile.
    pub(super) fn start_compaction(
        &self,
        command_id: CommandId,
        instructions: Option<String>,
        retries: RetryPolicy,
        registry: &Registry,
        sender: SessionSender,
    ) -> Result<(), Error> {
        if self.model().is_none() {
            return Err(Error::Invalid(format!("Unknown model `{}`.", self.model_id())));
        }
        let all = |session: &Self, _| session.conversation().messages().len();
        let job = self.compaction_job("manual", instructions, retries, registry, all).ok_or_else(|| {
            Error::Invalid("There is nothing to compact: the conversation is empty".to_owned())
        })?;
        let cancel = self.cancelled().clone();
        tokio::spawn(async move {
            let outcome = job.run(&cancel, sender.hook_listener()).await;
            sender.send(SessionInput::CompactionOutcome { command_id, outcome }).await;
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
        self.save();
        let new = SessionId::random();
        store.compact(self.id(), &new, compaction(summary, removed, None), &[])?;
        Ok(Reply::Compacted { session: new, removed })
    }
}

impl CompactionOutcome {
    /// Returns what the calls for it have used. Calls that broke off are not in it.
    pub(super) fn used(&self) -> &[Usage] {
        &self.used
    }

    /// Returns the summary and the number of messages it replaces, or why there is none.
    pub(super) fn into_result(self) -> Result<(String, usize), Error> {
        let text = self.outcome.map_err(Error::Internal)?;
        Ok((text, self.removed))
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
        let (retries, registry) = (self.environment.retries, &self.environment.tools);
        let job = self.session.compaction_job("auto", None, retries, registry, kept);
        let Some(mut job) = job.filter(|_| self.running.can_compact()) else { return false };
        if matches!(next, Next::Retry { .. }) {
            // the model cannot read the conversation as it is
            job.cached = None;
        }
        let (sender, cancel) = self.task();
        self.running.hold_for_compaction(next.clone());
        self.emit(Event::State(WorkingState::Compacting));
        sender.clone().spawn(async move {
            let outcome = job.run(&cancel, sender.hook_listener()).await;
            sender.send(TurnInput::CompactionOutcome(outcome)).await;
        });
        true
    }

    /// The compaction has ended: continues with the summary, or without one.
    pub(super) fn conversation_compacted(&mut self, outcome: CompactionOutcome) {
        for usage in &outcome.used {
            self.running.turn.add_usage(*usage);
        }
        let used = self.session.record_summary(&outcome.used);
        let Some(next) = self.running.take_after_compaction() else { return };
        let compacted = outcome.outcome.and_then(|text| {
            self.session.compact(text, outcome.removed).map_err(|error| error.with_causes().to_string())
        });
        match compacted {
            Ok(event) => {
                self.emit(event);
                let breakdown = self.session.context_breakdown(&self.environment.tools);
                self.session.estimate_context(breakdown.used);
                if used.is_some() {
                    // with the new size of the context
                    let event = self.session.usage().event();
                    self.emit(event);
                }
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
            Next::Stop { message_id, is_question } => {
                let reminder = if is_question || !self.running.turn.can_remind() {
                    None
                } else {
                    self.session.remind_of_todos(&self.environment.tools)
                };
                match reminder {
                    Some(text) => self.step(|turn, effects| turn.remind(&text, effects)),
                    None => self.run_stop_hooks(message_id),
                }
            }
        }
    }
}

/// Returns the request for a summary with a transcript of at most `room` bytes.
fn summary_request(job: &Job, room: usize) -> Request {
    let (earlier, instructions) = (job.earlier.as_deref(), job.instructions.as_deref());
    request_with_transcript(&job.model, earlier, &job.messages, instructions, room)
}

/// Returns the relation of prices that most vendors have, for a model without a known price.
fn usual_price() -> Price {
    Price::flat(Rates { input: 1.0, cache_read: Some(0.1), ..Rates::default() })
}

/// Returns whether the conversation is longer than it should be.
fn is_full(session: &Session) -> bool {
    let settings = session.settings();
    let of_model = session.config().settings.compaction_token_limit_per_model.get(session.model_id());
    let has_own_limit = settings.compaction_token_limit.is_some() || of_model.is_some();
    let model = session.model();
    let window = model.as_ref().and_then(|model| model.input_limit);
    let step = model.and_then(|model| model.price?.next_step(0)).filter(|_| !has_own_limit);
    let size = session.usage().context_size().saturating_add(unread(session));
    settings.compaction_check && size > trigger(limit(session), window, step)
}

/// Returns the estimated size of what no call of the model has read yet: the results of its last calls, and other messages behind its last
/// response.
fn unread(session: &Session) -> u64 {
    if session.usage().is_estimate() {
        return 0;
    }
    let (_, kept) = session.conversation().visible();
    let new = kept.iter().rev().take_while(|message| message.role != Role::Assistant);
    new.map(|message| message_tokens(message)).fold(0, u64::saturating_add)
}

/// Returns the size of the context beyond which it is compacted: the limit, but below what the model reads, and below the length from
/// which on the
/// vendor has a higher price. A tenth of these two is left for the answer.
fn trigger(limit: u64, window: Option<u64>, price_step: Option<u64>) -> u64 {
    [window, price_step].into_iter().flatten().map(|size| size - size / 10).fold(limit, u64::min)
}

#[cfg(test)]
mod tests {
    use musher_model::Catalog;

    use super::*;

    #[test]
    fn compaction_starts_below_the_input_limit_and_below_a_price_step() {
        // gpt-5.1 reads 272,000 tokens of its window of 400,000
        assert_eq!(trigger(400_000, Some(272_000), None), 244_800);
        // GPT-5.4 and later cost twice as much above 272,000 tokens
        assert_eq!(trigger(1_050_000, Some(922_000), Some(272_000)), 244_800);
        assert_eq!(trigger(100_000, Some(272_000), Some(200_000)), 100_000);
        assert_eq!(trigger(250_000, None, None), 250_000);
        // Claude Haiku 5.5 costs five times as much above 100,000 tokens of its window of a million
        let mut catalog = Catalog::default();
        catalog.add_environment(&|name| (name == "ANTHROPIC_API_KEY").then(|| "k".to_owned()));
        let haiku = catalog.find("claude-haiku-5-5").unwrap();
        let step = haiku.price.as_ref().and_then(|price| price.next_step(0));
        assert_eq!(trigger(1_000_000, haiku.input_limit(), step), 90_000);
    }
}
