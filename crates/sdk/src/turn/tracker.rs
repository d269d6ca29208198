//! Follows one turn: from notifications to events, and to exactly one result. Pure: no task, no clock, no channel.
//!
//! Versions differ in how a turn ends. New ones say `agent_turn_completed` with the id we gave the turn. Old ones only go
//! `idle`, maybe before the last message (0.36) and before the token counts (0.99), so an old turn ends when it is idle *and*
//! has nothing left to say, or some time after that. Notifications may come twice; each message and result counts once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use musher_wire::{
    AgentTurnCompleted, AgentTurnCompletionReason as Reason, ContentBlock, CreateMessage, DroidWorkingState,
    ErrorNotification, Json, Message, MessageRole, SessionNotification, SessionNotificationParams,
    ToolResult,
};

use super::dialect::Dialect;
use super::events;
use crate::{
    Cost, Event, FailureKind, SessionUsage, StoppedBy, TokenUsage, ToolOutcome, TurnEnd, TurnResult,
};

/// How long an old agent may take after `idle` for its last message and token counts.
const IDLE_TIMEOUT: Duration = Duration::from_millis(500);

/// The properties of a turn that its tracker needs.
#[derive(Debug, Clone)]
pub(crate) struct Expectation {
    /// Our id of the message, and so of the turn.
    pub(crate) turn_id: String,
    /// The turn is of another client, and was running before; its id is not known.
    pub(crate) is_followed: bool,
    pub(crate) session_id: String,
    /// The answer must be JSON.
    pub(crate) wants_output: bool,
    /// The tokens that the session had used before.
    pub(crate) usage_before: Option<TokenUsage>,
}

/// The state of one turn.
#[derive(Debug)]
pub(crate) struct Tracker {
    expected: Expectation,
    began: Instant,
    last_progress: Instant,

    state: DroidWorkingState,
    was_busy: bool,
    /// The number of the agent's requests that are not answered yet.
    open_questions: usize,
    /// Messages that have deltas but are not complete.
    unfinished: Vec<String>,
    /// The joined deltas of the newest of them.
    streamed: String,
    /// The agent is writing a message that has not come yet.
    owes_message: bool,
    /// An old agent went idle.
    idle_since: Option<Instant>,
    has_late_usage: bool,

    messages: HashMap<String, usize>,
    tools: HashMap<String, String>,
    results: HashSet<String>,

    stop: Option<StoppedBy>,
    was_denied: bool,
    session_usage: Option<TokenUsage>,
    result: TurnResult,
    is_over: bool,
}

impl Tracker {
    pub(crate) fn new(expected: Expectation, now: Instant) -> Self {
        let result = TurnResult {
            session_id: expected.session_id.clone(),
            turn_id: expected.turn_id.clone(),
            end: TurnEnd::Completed,
            text: String::new(),
            messages: Vec::new(),
            structured_output: None,
            usage: None,
            cost: None,
            duration: Duration::ZERO,
            steps: 0,
            errors: Vec::new(),
        };
        Self {
            expected,
            began: now,
            last_progress: now,
            state: DroidWorkingState::Idle,
            was_busy: false,
            open_questions: 0,
            unfinished: Vec::new(),
            streamed: String::new(),
            owes_message: false,
            idle_since: None,
            has_late_usage: false,
            messages: HashMap::new(),
            tools: HashMap::new(),
            results: HashSet::new(),
            stop: None,
            was_denied: false,
            session_usage: None,
            result,
            is_over: false,
        }
    }

    /// Returns whether the turn has its result.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(crate) fn turn_id(&self) -> &str {
        &self.expected.turn_id
    }

    /// Returns the session of the turn: another one after a plan was handed over.
    pub(crate) fn session_id(&self) -> &str {
        &self.result.session_id
    }

    /// Returns the time of the last progress. Retries and heartbeats are not progress, and the time of an open request does not count.
    pub(crate) fn last_progress(&self) -> Option<Instant> {
        (self.open_questions == 0).then_some(self.last_progress)
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Returns the number of the model's answers.
    pub(crate) fn steps(&self) -> usize {
        self.result.steps
    }

    /// Returns the tokens used since the turn began, as far as they are known.
    pub(crate) fn tokens_used(&self) -> u64 {
        let Some(now) = &self.session_usage else { return 0 };
        let before = self.expected.usage_before.as_ref().map_or(0, total);
        total(now).saturating_sub(before)
    }

    /// Follows a notification of the agent. Appends its events to `out`, and the result if the notification ends the turn.
    pub(crate) fn notification(
        &mut self,
        dialect: &mut Dialect,
        params: SessionNotificationParams,
        now: Instant,
        out: &mut Vec<Event>,
    ) {
        if self.is_over {
            return;
        }
        if !matches!(
            params.notification,
            SessionNotification::LlmRetry(_)
                | SessionNotification::AssistantMessageRetracted(_)
                | SessionNotification::ToolExecutionHeartbeat(_)
                | SessionNotification::McpStatusChanged(_)
                | SessionNotification::SessionTitleUpdated(_)
        ) {
            self.last_progress = now;
        }
        match params.notification {
            SessionNotification::AssistantTextDelta(delta) => {
                self.piece(&delta.message_id);
                self.streamed.push_str(&delta.text_delta);
                out.push(Event::TextDelta(delta.into()));
            }
            SessionNotification::ThinkingTextDelta(delta) => {
                self.piece(&delta.message_id);
                out.push(Event::ThinkingDelta(delta.into()));
            }
            SessionNotification::AssistantMessageRetracted(retracted) => {
                self.unfinished.retain(|id| *id != retracted.message_id);
                self.streamed.clear();
                out.push(Event::Retracted { message_id: retracted.message_id });
            }
            SessionNotification::CreateMessage(created) => self.message(*created, out),
            SessionNotification::ToolResult(result) => self.tool_result(result, out),
            SessionNotification::DroidWorkingStateChanged(changed) => {
                self.state(changed.new_state, *dialect, now, out);
            }
            SessionNotification::SessionTokenUsageChanged(usage) => {
                let usage = SessionUsage::from(*usage);
                self.session_usage = Some(usage.total);
                self.has_late_usage = true;
                out.push(Event::Usage(Box::new(usage)));
            }
            SessionNotification::StructuredOutput(output) => {
                if !output.structured_output.is_null() {
                    self.result.structured_output = Some(output.structured_output);
                }
            }
            SessionNotification::Error(error) => {
                self.result.errors.push((*error).clone());
                out.push(Event::Error(error));
            }
            SessionNotification::AgentTurnCompleted(completed) => {
                dialect.note_end();
                self.completed(*completed, params.session_id, now, out);
                return;
            }
            other => {
                if let SessionNotification::ToolCall(call) = &other {
                    self.tools.insert(call.tool_use.id.clone(), call.tool_use.name.clone());
                }
                events::from(other, out);
            }
        }
        self.end_if_silent(now, out);
    }

    /// Records a request of the agent.
    pub(crate) fn asked(&mut self) {
        self.open_questions += 1;
    }

    /// Records that a request was answered or withdrawn.
    pub(crate) fn answered(&mut self, was_denied: bool, now: Instant) {
        self.open_questions = self.open_questions.saturating_sub(1);
        self.last_progress = now;
        self.was_denied = was_denied;
    }

    /// Records that the turn is being stopped, and by whom. The first reason counts.
    pub(crate) fn stopping(&mut self, by: StoppedBy) {
        self.stop.get_or_insert(by);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_some()
    }

    /// Returns when the turn ends if no further notification comes.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        if self.is_over || self.open_questions > 0 {
            return None;
        }
        self.idle_since.map(|since| since + IDLE_TIMEOUT)
    }

    /// Ends the turn if its deadline has passed.
    pub(crate) fn tick(&mut self, now: Instant, out: &mut Vec<Event>) {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            self.finish(Reason::Completed, now, out);
        }
    }

    /// Ends the turn although the agent has not ended it.
    pub(crate) fn give_up(&mut self, now: Instant, out: &mut Vec<Event>) {
        self.finish(Reason::Cancelled, now, out);
    }

    /// Records a delta of a message.
    fn piece(&mut self, message_id: &str) {
        if self.unfinished.last().is_none_or(|last| last != message_id) {
            self.streamed.clear();
            if !self.unfinished.iter().any(|id| id == message_id) {
                self.unfinished.push(message_id.to_owned());
            }
        }
    }

    fn message(&mut self, created: CreateMessage, out: &mut Vec<Event>) {
        let message = Arc::new(created.message);
        let is_assistant = message.role == MessageRole::Assistant;
        self.unfinished.retain(|id| *id != message.id);
        if is_assistant {
            self.owes_message = false;
            self.was_denied = false;
            self.streamed.clear();
        }
        if let Some(at) = self.messages.get(&message.id) {
            // a duplicate, maybe with more content: the stream had the first, the result keeps the newest
            if is_assistant && *at + 1 == self.result.messages.len() {
                self.result.text = message.text();
            }
            self.result.messages[*at] = message;
            return;
        }
        self.messages.insert(message.id.clone(), self.result.messages.len());
        self.result.messages.push(Arc::clone(&message));
        match message.role {
            MessageRole::Assistant => {
                self.result.steps += 1;
                self.result.text = message.text();
                self.tool_calls(&message, out);
                out.push(Event::Assistant(message));
            }
            MessageRole::User if message.is_for_people() => out.push(Event::User(message)),
            MessageRole::System if message.is_for_people() => out.push(Event::System(message)),
            _ => {}
        }
    }

    fn tool_calls(&mut self, message: &Message, out: &mut Vec<Event>) {
        for block in &message.content {
            if let ContentBlock::ToolUse(call) = block {
                self.tools.insert(call.id.clone(), call.name.clone());
                out.push(Event::ToolCall(Box::new(call.clone().into())));
            }
        }
    }

    fn tool_result(&mut self, result: ToolResult, out: &mut Vec<Event>) {
        if self.results.insert(result.tool_use_id.clone()) {
            out.push(Event::ToolResult(ToolOutcome {
                tool_name: self.tools.get(&result.tool_use_id).cloned(),
                tool_use_id: result.tool_use_id,
                content: result.content,
                is_error: result.is_error.unwrap_or_default(),
            }));
        }
    }

    fn state(&mut self, new: DroidWorkingState, dialect: Dialect, now: Instant, out: &mut Vec<Event>) {
        if new == self.state && !(self.expected.is_followed && new == DroidWorkingState::Idle) {
            return;
        }
        if new == DroidWorkingState::Idle {
            // the end of a turn that is followed may have been announced before it was
            if self.expected.is_followed || (self.was_busy && !dialect.announces_ends()) {
                self.idle_since = Some(now);
            }
        } else {
            self.was_busy = true;
            self.idle_since = None;
            self.has_late_usage = false;
            if new == DroidWorkingState::StreamingAssistantMessage {
                self.owes_message = true;
            }
        }
        self.state = new.clone();
        out.push(Event::State(new));
    }

    /// Returns whether an old agent is done: it is idle, and no message or token count is missing.
    fn end_if_silent(&mut self, now: Instant, out: &mut Vec<Event>) {
        let is_silent = self.unfinished.is_empty() && !self.owes_message && self.has_late_usage;
        if self.idle_since.is_some() && self.open_questions == 0 && is_silent {
            self.finish(Reason::Completed, now, out);
        }
    }

    fn completed(
        &mut self,
        completed: AgentTurnCompleted,
        session_id: Option<String>,
        now: Instant,
        out: &mut Vec<Event>,
    ) {
        if self.expected.is_followed {
            if let Some(id) = completed.turn_id.clone() {
                (self.result.turn_id, self.expected.turn_id) = (id.clone(), id);
            }
        } else if completed.turn_id.as_ref().is_some_and(|id| *id != self.expected.turn_id) {
            // the turn of a session that took over the plan: this turn ends with `spec_handoff`, in that session
            if let Some(session_id) = session_id {
                self.result.session_id = session_id;
            }
            return;
        }
        self.result.usage = completed.token_usage.as_ref().map(Into::into);
        self.result.cost = Cost::of(&completed);
        if let Some(duration) = completed.duration_ms {
            self.result.duration = Duration::from_millis(duration.get());
        }
        self.finish(completed.reason, now, out);
    }

    fn finish(&mut self, reason: Reason, now: Instant, out: &mut Vec<Event>) {
        if self.is_over {
            return;
        }
        self.is_over = true;
        let mut result = self.result.clone();
        if result.duration.is_zero() {
            result.duration = now.saturating_duration_since(self.began);
        }
        if result.usage.is_none() {
            result.usage = self.usage_of_turn();
        }
        // an agent that does not announce ends does not announce interruptions either
        let reason = match reason {
            Reason::Completed if self.stop.is_some() && self.idle_since.is_some() => Reason::Cancelled,
            reason => reason,
        };
        if reason == Reason::Completed && self.expected.wants_output && result.structured_output.is_none() {
            result.structured_output = json_object(&result.text);
        }
        result.end = self.end(reason, result.structured_output.is_some());
        // an answer that was cut off or did not fit has no message, but users want to see its text
        let was_unusable = matches!(result.end, TurnEnd::Failed(FailureKind::StructuredOutput(_)));
        if result.text.is_empty() && (was_unusable || result.is_interrupted()) {
            result.text = std::mem::take(&mut self.streamed);
        }
        (self.result.end, self.result.duration) = (result.end.clone(), result.duration);
        out.push(Event::Result(Box::new(result)));
    }

    fn end(&self, reason: Reason, has_output: bool) -> TurnEnd {
        match reason {
            Reason::Completed if self.was_denied => TurnEnd::Interrupted(StoppedBy::Denied),
            Reason::Completed if self.expected.wants_output && !has_output => {
                TurnEnd::Failed(FailureKind::StructuredOutput(Reason::StructuredOutputMissing))
            }
            Reason::Completed => TurnEnd::Completed,
            Reason::SpecHandoff => TurnEnd::HandedOver,
            Reason::Cancelled => TurnEnd::Interrupted(self.stop.unwrap_or(StoppedBy::Peer)),
            Reason::PermissionRejected => TurnEnd::Interrupted(StoppedBy::Denied),
            Reason::StructuredOutputMissing
            | Reason::StructuredOutputInvalid
            | Reason::StructuredOutputSchemaInvalid => TurnEnd::Failed(FailureKind::StructuredOutput(reason)),
            Reason::ModelRequestRejected if self.is_refusal() => TurnEnd::Failed(FailureKind::Refusal),
            other => TurnEnd::Failed(FailureKind::Execution(other)),
        }
    }

    /// Returns whether the last error says that the model refused. The reason of a turn has no name for that.
    fn is_refusal(&self) -> bool {
        let cause = self.result.errors.last().and_then(|error| error.error.as_ref());
        cause.and_then(|cause| cause.name.as_deref()) == Some("ModelRefusal")
    }

    /// Old agents only count for the session.
    fn usage_of_turn(&self) -> Option<TokenUsage> {
        let now = self.session_usage?;
        Some(self.expected.usage_before.map_or(now, |before| now.since(&before)))
    }

    /// Returns the result, as far as it is known.
    pub(crate) fn result(&self) -> &TurnResult {
        &self.result
    }

    /// Notes an error of the turn that the agent did not announce.
    pub(crate) fn note_error(&mut self, message: String) {
        self.result.errors.push(ErrorNotification::new(message));
    }
}

/// Returns the tokens that count against a budget.
fn total(usage: &TokenUsage) -> u64 {
    usage.total().saturating_add(usage.thinking_tokens.unwrap_or_default())
}

/// Parses the text as JSON; `None` unless it is an object.
fn json_object(text: &str) -> Option<Json> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    value.is_object().then(|| Json::from(value))
}

#[cfg(test)]
mod tests;
