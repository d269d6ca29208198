//! A recording as steps: the agent's messages, and the client's calls and answers that it waits for. Pure.

use std::collections::HashSet;

use musher_wire::{
    AddUserMessage, Frame, InitializeSession, Json, LoadSession, MessageRole, Method, SessionNotification,
};
use serde_json::Value;

use super::line::{Direction, Line};
use crate::{Error, Result};

/// The steps of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The line number in the recording, for error messages.
    pub(super) line: usize,
    pub(super) action: Action,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    /// The agent sends this frame.
    Say {
        text: String,
        /// The id of the agent's request, if the frame is one.
        asks: Option<String>,
        /// The recorded id of the client's request that this answers.
        answers: Option<String>,
    },
    /// The client calls a method.
    Call {
        method: String,
        id: String,
        params: Option<Json>,
        /// The id of the message in this recording, given by the client or the agent.
        message_id: Option<String>,
    },
    /// The client answers a request of the agent.
    Answer { id: String, outcome: Option<Json> },
    /// The agent ends the connection.
    Leave,
}

impl Script {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut steps = Vec::new();
        for (index, text) in text.lines().enumerate() {
            if text.trim().is_empty() {
                continue;
            }
            let line = index + 1;
            let action = read_line(text)
                .map_err(|why| Error::invalid_input(format!("line {line} of the recording {why}")))?;
            steps.extend(action.map(|action| Step { line, action }));
        }
        wait_for_openings(&mut steps);
        name_messages(&mut steps);
        Ok(Self { steps })
    }
}

fn read_line(text: &str) -> Result<Option<Action>, String> {
    let line: Line = serde_json::from_str(text).map_err(|error| format!("cannot be read: {error}"))?;
    if line.end.is_some() {
        return Ok(Some(Action::Leave));
    }
    let Some(said) = line.said() else { return Err("has neither `msg` nor `raw` nor `end`".to_owned()) };
    let frame = Frame::parse(said.as_bytes());
    if line.dir == Direction::Agent {
        let (mut asks, mut answers) = (None, None);
        match frame {
            Frame::Request(request) => asks = Some(request.id.to_string()),
            Frame::Response(response) => answers = response.id.as_str().map(str::to_owned),
            Frame::Notification(_) | Frame::Malformed(_) => {}
        }
        return Ok(Some(Action::Say { text: said.to_owned(), asks, answers }));
    }
    match frame {
        Frame::Request(request) => Ok(Some(Action::Call {
            method: request.method.into_owned(),
            id: request.id.to_string(),
            params: request.params,
            message_id: None,
        })),
        Frame::Response(response) => {
            Ok(Some(Action::Answer { id: response.id.to_string(), outcome: response.outcome.ok() }))
        }
        Frame::Notification(_) => Ok(None),
        Frame::Malformed(_) => Err("has something from the client that is not a message".to_owned()),
    }
}

/// A client that follows the protocol waits for these answers before it continues. If the recorded one did not, the answers are
/// moved to where it should have waited.
fn wait_for_openings(steps: &mut Vec<Step>) {
    const OPENINGS: [&str; 3] = [InitializeSession::NAME, LoadSession::NAME, AddUserMessage::NAME];
    for at in 0..steps.len() {
        let Action::Call { method, id, .. } = &steps[at].action else { continue };
        if !OPENINGS.contains(&method.as_str()) {
            continue;
        }
        let is_answer = |step: &Step| matches!(&step.action, Action::Say { answers: Some(answered), .. } if answered == id);
        let Some(answer) = (at..steps.len()).find(|later| is_answer(&steps[*later])) else { continue };
        let next_call = (at + 1..answer).find(|later| matches!(steps[*later].action, Action::Call { .. }));
        if let Some(next_call) = next_call {
            let step = steps.remove(answer);
            steps.insert(next_call, step);
        }
    }
}

/// Finds the id of each message: given by the client, or by the agent, which then shows it in the echo or at the turn's end.
fn name_messages(steps: &mut [Step]) {
    let mut taken = HashSet::new();
    for at in 0..steps.len() {
        let (before, after) = steps.split_at_mut(at + 1);
        let Some(Step { action: Action::Call { method, params, message_id, .. }, .. }) = before.last_mut()
        else {
            continue;
        };
        if method != AddUserMessage::NAME {
            continue;
        }
        let params = params.as_ref().and_then(|params| params.to_value().ok()).unwrap_or(Value::Null);
        let text = params["text"].as_str().unwrap_or_default();
        let found = match params["messageId"].as_str() {
            Some(given) => Some(given.to_owned()),
            None => find_id(after, &taken, |notification| echo_of(notification, text))
                .or_else(|| find_id(after, &taken, turn_of)),
        };
        taken.extend(found.clone());
        *message_id = found;
    }
}

fn find_id(
    steps: &[Step],
    taken: &HashSet<String>,
    id_in: impl Fn(SessionNotification) -> Option<String>,
) -> Option<String> {
    let ids = steps.iter().filter_map(|step| match &step.action {
        Action::Say { text, asks: None, answers: None } => match Frame::parse(text.as_bytes()) {
            Frame::Notification(notification) => id_in(notification.session().ok()?.notification),
            _ => None,
        },
        _ => None,
    });
    ids.into_iter().find(|id| !taken.contains(id))
}

fn echo_of(notification: SessionNotification, prompt: &str) -> Option<String> {
    match notification {
        SessionNotification::CreateMessage(created) => {
            let message = created.message;
            (message.role == MessageRole::User && message.text() == prompt).then_some(message.id)
        }
        _ => None,
    }
}

fn turn_of(notification: SessionNotification) -> Option<String> {
    match notification {
        SessionNotification::AgentTurnCompleted(completed) => completed.turn_id,
        _ => None,
    }
}
