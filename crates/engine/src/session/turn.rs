//! What follows from what: the course of one turn as a pure state machine.
//!
//! In go the model's words, verdicts, results, answers and interrupts; out come [`Effect`]s, which the actor performs in their
//! order. Nothing here waits, reads or writes.

mod answers; // somebody answers a question
mod batch; // the calls of one answer, and how far each is
mod calls; // the part of a turn in which they run
mod ending; // how it ends
mod shaped; // an answer that must have a shape

use std::sync::Arc;
use std::time::Instant;

use musher_model::{FinishReason, ModelError, ModelEvent, ToolUse, Usage};
use musher_tools::{Access, Registry, ToolOutput};
use uuid::Uuid;

use super::answer::{Answer, Draft, Progress};
use super::plan::Plan;
use super::shape::Shape;
use super::state::sum;
use crate::event::{Question, TurnEnd, WorkingState};
use crate::permission::Policy;
use crate::{Answer as UserAnswer, Autonomy, Choice, Happening, Limits, PermissionRequest};
use musher_message::{Content, Message, Role, Visibility};

use batch::Batch;
pub(crate) use batch::id_of;

/// So often in a row an answer that was too long is gone on with.
const MOST_CONTINUATIONS: usize = 5;

/// So often in one turn hooks can make the model go on that wants to stop.
const MOST_HOLDS: usize = 20;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Tell clients.
    Emit(Happening),
    /// Put a message in the log, then tell clients.
    Append(Message),
    /// Put a message in the log; clients are told in another way.
    AppendQuietly(Message),
    /// Add to what the session has used, then tell clients.
    Used(Usage),
    /// Ask the model, and stop asking before.
    CallModel,
    /// Find out whether a call may run.
    Prepare { index: usize, call: ToolUse },
    /// Find out once more whether a call may run, since something may have changed.
    JudgeAgain { index: usize, call: ToolUse, rules: Option<Box<Policy>> },
    /// Somebody agreed: what follows for the session.
    Consented { request: Box<PermissionRequest>, choice: Choice },
    /// Run a call. Its file tools may go this far.
    Run { index: usize, call: ToolUse, access: Access, decision: Option<Decision> },
    /// A step is done: go on, unless the conversation has to be shortened first.
    Settled(Next),
    /// The model cannot read all of the conversation, and what it says to that.
    Overflow { error: String },
    /// The user has answered the question of a call that runs.
    Answered { index: usize, output: ToolOutput },
    /// Ask somebody. Another question is never open.
    Ask(Question),
    /// Carry out the plan in a new session with this autonomy level. Follows [`Effect::Finish`].
    HandOver { plan: Box<Plan>, autonomy: Autonomy },
    /// The turn is over, once everything it started has ended.
    Finish(TurnEnd),
}

/// How a turn goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// The results of tools are there: the model is asked.
    Ask,
    /// The model is asked the same once more, after this went wrong.
    Retry { error: String },
    /// The model is done: hooks may want it to go on.
    Stop { message_id: String },
}

/// What the user has decided about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) choice: Choice,
    pub(crate) edited_plan: Option<String>,
}

/// One turn.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) started: Instant,
    pub(crate) usage: Usage,
    pub(crate) child_usage: Usage,
    /// How many calls were run.
    pub(crate) tool_count: usize,
    /// The shape the answer has to have.
    pub(crate) shape: Option<Shape>,
    /// How often hooks have made the model go on.
    pub(crate) holds: usize,
    limits: Limits,
    tools: Registry,
    phase: Phase,
    model_calls: usize,
    continuations: usize,
    has_degenerated: bool,
    has_overflowed: bool,
    last_calls: String,
    identical_calls: usize,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Model(Draft),
    Tools(Batch),
    /// The conversation is shortened, since the model cannot read all of it.
    Shrinking,
    /// Hooks are asked whether it may end.
    Stopping,
    Over,
}

impl Turn {
    pub(crate) fn new(id: String, started: Instant, limits: Limits, tools: Registry) -> Self {
        Self {
            id,
            started,
            usage: Usage::default(),
            child_usage: Usage::default(),
            tool_count: 0,
            shape: None,
            holds: 0,
            limits,
            tools,
            phase: Phase::Idle,
            model_calls: 0,
            continuations: 0,
            has_degenerated: false,
            has_overflowed: false,
            last_calls: String::new(),
            identical_calls: 0,
        }
    }

    /// How many times the model was asked: events of an earlier call are stale.
    pub(crate) fn model_calls(&self) -> usize {
        self.model_calls
    }

    /// The question that is open.
    pub(crate) fn question(&self) -> Option<&Question> {
        match &self.phase {
            Phase::Tools(batch) => batch.question(),
            _ => None,
        }
    }

    /// Whether everything is decided and only children have to end.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// The user's message is in the log: asks the model.
    pub(crate) fn call_model(&mut self, out: &mut Vec<Effect>) {
        if self.model_calls >= self.limits.model_calls {
            let text = format!("The turn was stopped: it has asked the model {} times.", self.model_calls);
            return self.fail(text, None, TurnEnd::Error, out);
        }
        self.model_calls += 1;
        self.phase = Phase::Model(Draft::new(Uuid::new_v4().to_string().into()));
        out.push(Effect::Emit(Happening::State(WorkingState::Thinking)));
        out.push(Effect::CallModel);
    }

    /// The model said something, or failed.
    pub(crate) fn model(
        &mut self,
        event: Result<ModelEvent, ModelError>,
        now: Instant,
        out: &mut Vec<Effect>,
    ) {
        let Phase::Model(draft) = &mut self.phase else { return };
        let mut shown = Vec::new();
        let progress = match event {
            Ok(event) => draft.take(event, now, &mut shown),
            Err(error) => return self.model_failed(&error, out),
        };
        match progress {
            Progress::More => out.extend(shown.into_iter().map(Effect::Emit)),
            Progress::Degenerate => {
                draft.retract(&mut shown);
                out.extend(shown.into_iter().map(Effect::Emit));
                self.degenerated(out);
            }
            Progress::Complete(answer) => {
                out.extend(shown.into_iter().map(Effect::Emit));
                self.answered_by_model(*answer, out);
            }
        }
    }

    fn degenerated(&mut self, out: &mut Vec<Effect>) {
        if std::mem::replace(&mut self.has_degenerated, true) {
            let text = "The model repeats itself without end.".to_owned();
            return self.fail(text, Some("LLMOutputDegenerationError"), TurnEnd::Error, out);
        }
        self.call_model(out);
    }

    fn answered_by_model(&mut self, answer: Answer, out: &mut Vec<Effect>) {
        self.usage = sum(self.usage, answer.usage);
        if answer.calls.is_empty() && answer.reason != FinishReason::Length && self.shape.is_some() {
            return self.answered_in_shape(answer, out);
        }
        let Answer { message_id, content, calls, usage, reason } = answer;
        if !content.is_empty() {
            out.push(Effect::Append(message(
                message_id.to_string(),
                Role::Assistant,
                content,
                Visibility::Both,
            )));
        }
        out.push(Effect::Used(usage));
        if !calls.is_empty() {
            self.continuations = 0;
            return self.begin_tools(calls, out);
        }
        if reason == FinishReason::Length && self.continuations < MOST_CONTINUATIONS {
            self.continuations += 1;
            out.push(Effect::AppendQuietly(reminder(
                "Your answer was cut off by its length. Go on where it stopped.",
            )));
            return self.call_model(out);
        }
        self.phase = Phase::Stopping;
        out.push(Effect::Settled(Next::Stop { message_id: message_id.to_string() }));
    }

    /// Hooks have said whether the model may stop, and if not, why.
    pub(crate) fn stopped(&mut self, reason: Option<String>, out: &mut Vec<Effect>) {
        if !matches!(self.phase, Phase::Stopping) {
            return;
        }
        match reason.filter(|_| self.holds < MOST_HOLDS) {
            None => self.finish(TurnEnd::Completed, out),
            Some(reason) => {
                self.holds += 1;
                let content = vec![Content::Text(reason)];
                let id = Uuid::new_v4().to_string();
                out.push(Effect::Append(message(id, Role::User, content, Visibility::Both)));
                self.call_model(out);
            }
        }
    }

    fn finish(&mut self, reason: TurnEnd, out: &mut Vec<Effect>) {
        self.phase = Phase::Over;
        out.push(Effect::Finish(reason));
    }
}

/// A message of now.
pub(crate) fn message(id: String, role: Role, content: Vec<Content>, visibility: Visibility) -> Message {
    let now = now_ms();
    Message {
        id,
        role,
        content,
        created_at_ms: now,
        updated_at_ms: now,
        parent_id: None,
        visibility,
        model_id: None,
        reasoning_effort: None,
        extra: serde_json::Map::new(),
    }
}

/// Something only the model reads.
pub(crate) fn reminder(text: &str) -> Message {
    let id = format!("__internal__system-reminder__{}", Uuid::new_v4());
    let text = format!("<system-reminder>\n{text}\n</system-reminder>");
    message(id, Role::User, vec![Content::Text(text)], Visibility::LlmOnly)
}

/// What hooks say, as the model is told it.
pub(crate) fn hook_context(event: &str, text: &str) -> String {
    format!("<system-reminder>\nA {event} hook of the user says:\n{text}\n</system-reminder>")
}

/// Something only people read.
pub(crate) fn user_note(text: &str) -> Message {
    let id = Uuid::new_v4().to_string();
    message(id, Role::System, vec![Content::Text(text.to_owned())], Visibility::UserOnly)
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn new_id() -> Arc<str> {
    Uuid::new_v4().to_string().into()
}

#[cfg(test)]
mod tests;
