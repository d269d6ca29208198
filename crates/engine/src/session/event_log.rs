//! Logs the events of a session: ids, names, counts and times, never content.
//!
//! The one place of the engine that does, so that a turn, a tool call, a permission request and a retry are one line each.

use std::collections::HashMap;
use std::time::Instant;

use tracing::Span;
use tracing::field::debug;

use crate::event::ToolPhase;
use crate::{Event, Message, Role, SessionId, UserRequest};

/// What is needed to log the end of what began.
#[derive(Debug)]
pub(super) struct EventLog {
    session: Option<SessionId>,
    /// Disabled while no session is open.
    session_span: Span,
    /// Disabled while no turn runs.
    turn_span: Span,
    has_turn: bool,
    /// The trace that the next turn belongs to.
    trace_parent: Option<String>,
    calls: HashMap<String, Call>,
}

/// A tool call whose result is pending.
#[derive(Debug)]
struct Call {
    name: String,
    started: Instant,
    /// Entered when the call starts to run, so that its duration is that of the run.
    span: Option<Span>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self {
            session: None,
            session_span: Span::none(),
            turn_span: Span::none(),
            has_turn: false,
            trace_parent: None,
            calls: HashMap::new(),
        }
    }
}

impl EventLog {
    /// Sets the trace that the next turn belongs to.
    pub(super) fn set_trace_parent(&mut self, trace_parent: Option<String>) {
        self.trace_parent = trace_parent;
    }

    /// Logs an event of a session.
    pub(super) fn log(&mut self, session: Option<&SessionId>, event: &Event) {
        match event {
            Event::Message { message, command_id: Some(_) } => self.begin_turn(session, message),
            Event::ToolCall { id, name, .. } => {
                let call = Call { name: name.clone(), started: Instant::now(), span: None };
                self.calls.insert(id.clone(), call);
            }
            // a call may have waited for a decision
            Event::ToolPhase { id, phase: ToolPhase::Executing, .. } => {
                let turn = self.span(session).clone();
                if let Some(call) = self.calls.get_mut(id) {
                    call.started = Instant::now();
                    call.span = Some(call_span(&turn, Some(&call.name), id));
                }
            }
            Event::ToolResult { id, is_error, .. } => {
                let mut call = self.calls.remove(id);
                let duration = call.as_ref().map(|call| debug(call.started.elapsed()));
                let span = call.as_mut().and_then(|call| call.span.take()).unwrap_or_else(|| {
                    call_span(self.span(session), call.as_ref().map(|call| call.name.as_str()), id)
                });
                tracing::info!(parent: &span, duration, is_error, "tool call");
            }
            Event::UserRequest(UserRequest::Permission { id, calls, .. }) => {
                let tools: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
                tracing::info!(parent: self.span(session), id, ?tools, "permission request");
            }
            Event::UserRequest(UserRequest::Questions { id, questions, .. }) => {
                let count = questions.len();
                tracing::info!(parent: self.span(session), id, count, "question to the user");
            }
            Event::PermissionResolved { request, choice, .. } => {
                tracing::info!(parent: self.span(session), id = request, ?choice, "permission decision");
            }
            Event::Retry { attempt, reason, .. } => {
                tracing::info!(parent: self.span(session), attempt, ?reason, "retrying the model request");
            }
            Event::Problem { message, kind, name } => {
                tracing::warn!(parent: self.span(session), kind, name, "{message}");
            }
            Event::SubagentStarted { session: child, subagent, .. } => {
                let child = child.as_str();
                tracing::info!(parent: self.span(session), child, subagent, "subagent started");
            }
            Event::Compacted { removed, .. } => {
                tracing::info!(parent: self.span(session), removed, "conversation compacted");
            }
            Event::State(state) => {
                tracing::debug!(parent: self.span(session), ?state, "state");
            }
            Event::TurnCompleted(turn) => {
                let (end, duration) = (turn.reason.name(), turn.took);
                let usage = &turn.usage;
                let (input, output) = (usage.input, usage.output);
                let turn = &turn.turn_id;
                tracing::info!(
                    parent: self.span(session), turn, end, ?duration, input, output, "turn ended"
                );
                self.turn_span = Span::none();
                self.has_turn = false;
                self.calls.clear();
            }
            _ => {}
        }
    }

    /// Opens the span of a turn with the prompt it answers. Prompts that join a turn are part of it.
    fn begin_turn(&mut self, session: Option<&SessionId>, prompt: &Message) {
        if self.has_turn || prompt.role != Role::User {
            return;
        }
        self.has_turn = true;
        let trace_parent = self.trace_parent.take();
        let session = self.session_span(session);
        self.turn_span =
            tracing::info_span!(parent: session, "turn", id = %prompt.id, traceparent = trace_parent);
        tracing::debug!(parent: &self.turn_span, "turn started");
    }

    fn span(&mut self, session: Option<&SessionId>) -> &Span {
        if self.has_turn { &self.turn_span } else { self.session_span(session) }
    }

    fn session_span(&mut self, session: Option<&SessionId>) -> &Span {
        if self.session.as_ref() != session {
            self.session = session.cloned();
            self.session_span = match session {
                Some(id) => tracing::info_span!(parent: None, "session", id = %id.as_str()),
                None => Span::none(),
            };
        }
        &self.session_span
    }
}

fn call_span(parent: &Span, tool: Option<&str>, id: &str) -> Span {
    tracing::info_span!(parent: parent, "tool_call", tool, id)
}
