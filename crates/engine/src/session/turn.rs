//! One turn as a pure state machine: inputs in, effects out.
//!
//! Inputs are model events, verdicts, results of calls, responses of the user and interrupts. [`Effect`]s are performed in their order by
//! [`ActiveTurn`](super::active_turn::ActiveTurn). Nothing here waits, reads or writes.

mod batch; // the calls of one model response, and the stage of each
mod calls; // the phase in which calls run
mod ending; // failures, interrupts, and the summary of a turn
mod incomplete; // responses that were refused, paused or cut off
mod responses; // responses of the user
mod structured; // responses that must match a schema

use std::sync::Arc;
use std::time::Instant;

use musher_model::{FinishReason, ModelError, ModelEvent, ToolUse, Usage};
use musher_tools::{Access, Registry, ToolOutput};
use uuid::Uuid;

use super::model_response::{Draft, ModelResponse, PlacedLabel, Progress};
use super::output_shape::Shape;
use super::plan::Plan;
use super::state::sum;
use super::thinking;
use crate::event::{TurnEnd, UserRequest, WorkingState};
use crate::permission::{Decision, Policy};
use crate::{Autonomy, Choice, Event, Limits, PermissionRequest};
use musher_message::{Content, Message, Role, Visibility};

use batch::Batch;
use incomplete::is_incomplete;

/// How often in one turn hooks may make the model continue.
const MAX_HOLDS: usize = 20;

/// A decision of the turn, to be carried out.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Emit an event.
    Emit(Event),
    /// Log a message, then emit it.
    Append(Message),
    /// Log a message without emitting it: clients get it in another form.
    AppendSilently(Message),
    /// Count used tokens, then emit the totals.
    Used(Usage),
    /// Call the model, and cancel the call before.
    CallModel,
    /// Run the hooks of a call, and find its verdict.
    Check { index: usize, call: ToolUse },
    /// Find the verdict on a call again, because something may have changed.
    Recheck { index: usize, call: ToolUse, policy: Option<Box<Policy>> },
    /// The user has allowed a call: apply what else the decision grants.
    Decided { request: Box<PermissionRequest>, choice: Choice },
    /// Run a call, with this access to files.
    Run { index: usize, call: ToolUse, access: Access, decision: Option<Decision> },
    /// A step is done: continue, after a compaction if the conversation is too long.
    StepDone(Next),
    /// The model cannot read all of the conversation, with this error.
    ContextOverflow { error: String },
    /// The vendor does not accept the reasoning in the conversation: it is not sent any more.
    DropThinking,
    /// The user has answered the question of a running call.
    Answered { index: usize, output: ToolOutput },
    /// Ask the user. No other request is open.
    AskUser(UserRequest),
    /// Carry out the plan in a new session with this autonomy level. Follows [`Effect::Finish`].
    HandOver { plan: Box<Plan>, autonomy: Autonomy },
    /// The turn ends once its tasks have ended.
    Finish(TurnEnd),
}

/// How a turn continues after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    /// Call the model with the results of the tools.
    CallModel,
    /// Call the model again after this error.
    Retry { error: String },
    /// The model has finished: run the `Stop` hooks.
    Stop { message_id: String, is_question: bool },
}

/// One turn.
#[derive(Debug)]
pub(crate) struct Turn {
    id: String,
    started: Instant,
    usage: Usage,
    subagent_usage: Usage,
    /// The number of calls that were run.
    tool_count: usize,
    /// The shape the final response must have.
    shape: Option<Shape>,
    /// How often hooks have made the model continue.
    holds: usize,
    limits: Limits,
    tools: Registry,
    phase: Phase,
    model_calls: usize,
    continuations: usize,
    has_degenerated: bool,
    has_overflowed: bool,
    /// Whether a call was repeated without reasoning.
    has_dropped_thinking: bool,
    /// Whether the model was reminded of open steps of its to-do list.
    was_reminded: bool,
    last_calls: String,
    identical_calls: usize,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Model(Draft),
    Tools(Batch),
    /// The conversation is compacted, because the model cannot read all of it.
    Compacting,
    /// The `Stop` hooks run.
    Stopping,
    Over,
}

impl Turn {
    pub(crate) fn new(id: String, started: Instant, limits: Limits, tools: Registry) -> Self {
        Self {
            id,
            started,
            usage: Usage::default(),
            subagent_usage: Usage::default(),
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
            has_dropped_thinking: false,
            was_reminded: false,
            last_calls: String::new(),
            identical_calls: 0,
        }
    }

    /// Returns the id of the turn: that of the user's message.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns when the turn began.
    pub(crate) fn started(&self) -> Instant {
        self.started
    }

    /// Returns the number of calls that were run.
    pub(crate) fn tool_count(&self) -> usize {
        self.tool_count
    }

    /// Returns whether hooks have made the model continue.
    pub(crate) fn was_held(&self) -> bool {
        self.holds > 0
    }

    /// Requires the final response to have this shape.
    pub(crate) fn expect_shape(&mut self, shape: Shape) {
        self.shape = Some(shape);
    }

    /// Returns whether the final response must have a shape.
    pub(crate) fn expects_shape(&self) -> bool {
        self.shape.is_some()
    }

    /// Counts tokens used for this turn outside of the conversation, such as for a summary.
    pub(crate) fn add_usage(&mut self, usage: Usage) {
        self.usage = sum(self.usage, usage);
    }

    /// Counts tokens used by a subagent the turn waits for.
    pub(crate) fn add_subagent_usage(&mut self, usage: Usage) {
        self.subagent_usage = sum(self.subagent_usage, usage);
    }

    /// Returns the number of model calls: events of an earlier call are stale.
    pub(crate) fn model_calls(&self) -> usize {
        self.model_calls
    }

    /// Returns the request that waits for a response of the user.
    pub(crate) fn open_request(&self) -> Option<&UserRequest> {
        match &self.phase {
            Phase::Tools(batch) => batch.open_request(),
            _ => None,
        }
    }

    /// Returns whether everything is decided and only tasks have to end.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Calls the model.
    pub(crate) fn call_model(&mut self, out: &mut Vec<Effect>) {
        if self.model_calls >= self.limits.model_calls {
            let text = format!("The turn was stopped after {} model calls.", self.model_calls);
            return self.fail(text, None, TurnEnd::Error, out);
        }
        self.model_calls += 1;
        self.phase = Phase::Model(Draft::new(Uuid::new_v4().to_string().into()));
        out.push(Effect::Emit(Event::State(WorkingState::Thinking)));
        out.push(Effect::CallModel);
    }

    /// Handles an event or a failure of the model.
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
            Progress::Complete(response) => {
                out.extend(shown.into_iter().map(Effect::Emit));
                self.complete_response(*response, out);
            }
        }
    }

    fn degenerated(&mut self, out: &mut Vec<Effect>) {
        if std::mem::replace(&mut self.has_degenerated, true) {
            let text = "The model repeats itself endlessly.".to_owned();
            return self.fail(text, Some("LLMOutputDegenerationError"), TurnEnd::Error, out);
        }
        self.call_model(out);
    }

    fn complete_response(&mut self, response: ModelResponse, out: &mut Vec<Effect>) {
        self.add_usage(response.usage);
        if response.reason == FinishReason::ContentFilter {
            return self.refused(response, out);
        }
        if response.calls.is_empty() && !is_incomplete(&response.reason) && self.shape.is_some() {
            return self.complete_shaped_response(response, out);
        }
        let is_question = response.text().trim_end().ends_with('?');
        let has_answer = response.has_answer();
        let ModelResponse { message_id, content, calls, labels, usage, reason, .. } = response;
        if !content.is_empty() {
            let answer = message(message_id.to_string(), Role::Assistant, content, Visibility::Both);
            out.push(Effect::Append(labelled(answer, &labels)));
        }
        out.push(Effect::Used(usage));
        if !calls.is_empty() {
            self.continuations = 0;
            return self.begin_tools(calls, out);
        }
        if is_incomplete(&reason) {
            return self.continue_response(&reason, has_answer, out);
        }
        self.phase = Phase::Stopping;
        out.push(Effect::StepDone(Next::Stop { message_id: message_id.to_string(), is_question }));
    }

    /// Returns whether the model may be reminded of open steps of its to-do list.
    pub(crate) fn can_remind(&self) -> bool {
        !self.was_reminded && matches!(self.phase, Phase::Stopping)
    }

    /// The model has stopped with open steps: calls it again with this reminder.
    pub(crate) fn remind(&mut self, text: &str, out: &mut Vec<Effect>) {
        if self.can_remind() {
            self.was_reminded = true;
            out.push(Effect::Append(reminder(text)));
            self.call_model(out);
        }
    }

    /// The `Stop` hooks have ended: ends the turn, or makes the model continue for this reason.
    pub(crate) fn stop(&mut self, reason: Option<String>, out: &mut Vec<Effect>) {
        if !matches!(self.phase, Phase::Stopping) {
            return;
        }
        match reason.filter(|_| self.holds < MAX_HOLDS) {
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

/// Returns a message created now.
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

/// Keeps the labels of a response with its message: under droid's names, and with their places if these matter.
fn labelled(mut message: Message, labels: &[PlacedLabel]) -> Message {
    for PlacedLabel { label, value, .. } in labels {
        message.extra.insert(label.name().to_owned(), value.clone().into());
    }
    if labels.len() > 1 {
        thinking::set_labels(&mut message, labels);
    }
    message
}

/// Returns a message only the model reads.
pub(crate) fn reminder(text: &str) -> Message {
    let id = format!("__internal__system-reminder__{}", Uuid::new_v4());
    let text = format!("<system-reminder>\n{text}\n</system-reminder>");
    message(id, Role::User, vec![Content::Text(text)], Visibility::LlmOnly)
}

/// Returns the output of a hook in the form for the model.
pub(crate) fn hook_context(event: &str, text: &str) -> String {
    format!("<system-reminder>\nThe user's {event} hook says:\n{text}\n</system-reminder>")
}

/// Returns a message only the user reads.
pub(crate) fn user_note(text: &str) -> Message {
    let id = Uuid::new_v4().to_string();
    message(id, Role::System, vec![Content::Text(text.to_owned())], Visibility::UserOnly)
}

/// Returns the time in milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

fn new_id() -> Arc<str> {
    Uuid::new_v4().to_string().into()
}

#[cfg(test)]
mod tests;
