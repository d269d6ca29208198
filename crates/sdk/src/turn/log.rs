//! Logs the turns of an agent in another process: ids, names, counts and times, never content. One line per turn, tool call and retry.
//!
//! An agent in this process writes the same lines itself, so those of the session would be a second time.

use std::collections::HashMap;

use tokio::time::Instant;

use super::tracker::Tracker;
use crate::{Event, PermissionRequest};

/// What is needed to log the end of what began.
#[derive(Debug, Default)]
pub(crate) struct TurnLog {
    /// The agent logs its turns in this process.
    is_logged: bool,
    calls: HashMap<String, Instant>,
}

impl TurnLog {
    /// Creates the log of a session. `is_logged`: whether the agent writes to the same log.
    pub(crate) fn new(is_logged: bool) -> Self {
        Self { is_logged, calls: HashMap::new() }
    }

    /// Logs an event of a turn.
    pub(crate) fn event(&mut self, event: &Event) {
        if self.is_logged {
            return;
        }
        match event {
            Event::ToolCall(call) => {
                self.calls.insert(call.id.clone(), Instant::now());
            }
            Event::ToolResult(outcome) => {
                let id = &outcome.tool_use_id;
                let (tool, is_error) = (outcome.tool_name.as_deref(), outcome.is_error);
                let duration = self.calls.remove(id).map(|began| tracing::field::debug(began.elapsed()));
                tracing::info!(tool, id, duration, is_error, "tool call");
            }
            Event::Retry(retry) => {
                let reason = retry.reason.as_str();
                tracing::info!(attempt = retry.attempt, reason, "retrying the model request");
            }
            _ => {}
        }
    }

    /// Logs a permission request.
    pub(crate) fn permission(&self, request: &PermissionRequest) {
        if !self.is_logged {
            let tools: Vec<&str> = request.tool_uses.iter().map(|call| call.tool_use.name.as_str()).collect();
            tracing::info!(?tools, "permission request");
        }
    }

    /// Logs the end of a turn.
    pub(crate) fn ended(&mut self, turn: &Tracker) {
        self.calls.clear();
        let result = turn.result();
        let (id, end, duration, steps) = (&result.turn_id, &result.end, result.duration, result.steps);
        let (tokens, errors) = (turn.tokens_used(), result.errors.len());
        if self.is_logged {
            tracing::debug!(turn = id, ?end, ?duration, steps, tokens, errors, "the turn is delivered");
        } else {
            tracing::info!(turn = id, ?end, ?duration, steps, tokens, errors, "turn ended");
        }
    }
}
