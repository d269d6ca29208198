//! Plays the agent's side of a script against a client: pure, without a connection and without a clock.
//!
//! [`Player::take`] takes the client's frames, [`Player::next`] returns the agent's. A client that deviates from the
//! recording never gets an answer that was recorded for something else: the replay ends.

use std::collections::{HashMap, VecDeque};

use musher_wire::{CloseSession, Frame, Id, InterruptSession, Json, Method, Request, Response, RpcError};
use serde_json::Value;

use super::script::{Action, Script, Step};

/// The next step of the agent.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    Say(Box<Frame>),
    /// The client must do something first.
    Wait,
    Leave,
}

#[derive(Debug)]
pub(super) struct Player {
    steps: Vec<Step>,
    at: usize,
    is_strict: bool,
    /// Calls of the client that came before their step.
    held: VecDeque<Request>,
    /// Answers of the client that came before their step.
    answers: HashMap<String, Response>,
    /// Recorded ids of the client's calls, and the actual ones.
    calls: HashMap<String, Id>,
    /// Replacements in the agent's messages: recorded message ids, and the actual ones, in quotes.
    renamed: Vec<(String, String)>,
    /// The number of the client's calls and answers so far.
    pub(super) done: usize,
    /// Messages to send out of order, before the steps.
    extra: VecDeque<Frame>,
    is_closing: bool,
}

impl Player {
    pub(super) fn new(script: Script, is_strict: bool) -> Self {
        Self {
            steps: script.steps,
            at: 0,
            is_strict,
            held: VecDeque::new(),
            answers: HashMap::new(),
            calls: HashMap::new(),
            renamed: Vec::new(),
            done: 0,
            extra: VecDeque::new(),
            is_closing: false,
        }
    }

    /// Returns what the client must do for the replay to continue; `None` if all was played.
    pub(super) fn wants(&self) -> Option<String> {
        let mut rest = self.steps[self.at..].iter();
        let wanted = rest.find_map(|step| match &step.action {
            Action::Call { method, .. } => Some(format!("call `{method}` (line {})", step.line)),
            Action::Answer { id, .. } => Some(format!("answer the request `{id}` (line {})", step.line)),
            Action::Say { .. } | Action::Leave => None,
        })?;
        let early: Vec<_> = self.held.iter().map(|request| format!("`{}`", request.method)).collect();
        let instead =
            if early.is_empty() { String::new() } else { format!(", but it called {}", early.join(", ")) };
        Some(format!("the recorded client would now {wanted}{instead}"))
    }

    /// Returns the agent's next step.
    pub(super) fn next(&mut self) -> Result<Next, String> {
        loop {
            if let Some(frame) = self.extra.pop_front() {
                return Ok(Next::Say(Box::new(frame)));
            }
            if self.is_closing {
                return Ok(Next::Leave);
            }
            let Some(step) = self.steps.get(self.at) else { return Ok(Next::Wait) };
            match &step.action {
                Action::Leave => return Ok(Next::Leave),
                Action::Say { text, answers, .. } => {
                    let frame = self.said(text, answers.as_deref());
                    self.at += 1;
                    return Ok(Next::Say(Box::new(frame)));
                }
                Action::Call { method, .. } => {
                    let Some(at) = self.held.iter().position(|held| held.method == *method) else {
                        return Ok(Next::Wait);
                    };
                    let Some(request) = self.held.remove(at) else { return Ok(Next::Wait) };
                    self.called(request)?;
                }
                Action::Answer { id, .. } => {
                    let Some(response) = self.answers.remove(id) else { return Ok(Next::Wait) };
                    self.answered(&response)?;
                }
            }
        }
    }

    /// Takes a frame of the client. The error says what was not recorded.
    pub(super) fn take(&mut self, frame: Frame) -> Result<(), String> {
        match frame {
            Frame::Request(request) => self.call(request),
            Frame::Response(response) => self.answer(response),
            // the protocol has none from the client
            Frame::Notification(_) | Frame::Malformed(_) => Ok(()),
        }
    }

    fn call(&mut self, request: Request) -> Result<(), String> {
        let method = &*request.method;
        let rest = &self.steps[self.at..];
        let next =
            rest.iter().find(|step| matches!(step.action, Action::Call { .. } | Action::Answer { .. }));
        let is_next = next.is_some_and(
            |step| matches!(&step.action, Action::Call { method: wanted, .. } if wanted == method),
        );
        let is_close = method == CloseSession::NAME && !is_next;
        let is_harmless = method == InterruptSession::NAME && next.is_none();
        if is_close || is_harmless {
            // a session can be closed at any time, and there is nothing left to interrupt
            self.extra.push_back(Frame::Response(Response::new(request.id, Ok(Json::empty_object()))));
            self.is_closing |= is_close;
            return Ok(());
        }
        let recorded = rest
            .iter()
            .filter(|step| matches!(&step.action, Action::Call { method: it, .. } if it == method));
        let waiting = self.held.iter().filter(|held| held.method == request.method).count();
        if recorded.count() > waiting {
            self.held.push_back(request);
            return Ok(());
        }
        let wanted = self.wants().unwrap_or_else(|| "the recording is over".to_owned());
        let complaint = format!("the client called `{method}`, which was not recorded: {wanted}");
        let error = RpcError::new(RpcError::INVALID_REQUEST, complaint.clone());
        self.extra.push_back(Frame::Response(Response::new(request.id, Err(error))));
        Err(complaint)
    }

    fn answer(&mut self, response: Response) -> Result<(), String> {
        let id = response.id.to_string();
        let is_recorded = self.steps[self.at..]
            .iter()
            .any(|step| matches!(&step.action, Action::Answer { id: it, .. } if *it == id));
        if is_recorded {
            self.answers.insert(id, response);
            return Ok(());
        }
        let asked = self.steps[..self.at]
            .iter()
            .rposition(|step| matches!(&step.action, Action::Say { asks: Some(it), .. } if *it == id));
        let Some(asked) = asked else {
            return Err(format!("the client answered the request `{id}`, which the agent did not make"));
        };
        // the recorded client has moved on, and so has the agent: it ignores this answer
        let is_late = self.steps[asked..self.at]
            .iter()
            .any(|step| matches!(step.action, Action::Call { .. } | Action::Answer { .. }));
        if is_late {
            return Ok(());
        }
        let wanted = self.wants().unwrap_or_else(|| "the recording is over".to_owned());
        Err(format!("the client answered the request `{id}`, which the recorded one did not: {wanted}"))
    }

    /// Returns the error response to a call that was not recorded.
    pub(super) fn refusal(&mut self) -> Option<Frame> {
        self.extra.pop_back()
    }

    /// Records that the call of this step was made.
    fn called(&mut self, request: Request) -> Result<(), String> {
        let Step { line, action: Action::Call { method, id, params, message_id } } = &self.steps[self.at]
        else {
            return Ok(());
        };
        if self.is_strict {
            let (recorded, real) = (comparable(params.as_ref()), comparable(request.params.as_ref()));
            if recorded != real {
                let complaint = format!(
                    "the client called `{method}` with other arguments than in line {line}: {real} instead of {recorded}"
                );
                let error = RpcError::new(RpcError::INVALID_REQUEST, complaint.clone());
                self.extra.push_back(Frame::Response(Response::new(request.id, Err(error))));
                return Err(complaint);
            }
        }
        let real_id = request.params.and_then(|params| params.to_value().ok());
        let real_id = real_id.as_ref().and_then(|params| params["messageId"].as_str());
        if let (Some(recorded), Some(real)) = (message_id, real_id) {
            for prefix in ["", "context-"] {
                let quoted = |id: &str| Value::from(format!("{prefix}{id}")).to_string();
                self.renamed.push((quoted(recorded), quoted(real)));
            }
        }
        self.calls.insert(id.clone(), request.id);
        self.at += 1;
        self.done += 1;
        Ok(())
    }

    /// Records that the answer of this step was given.
    fn answered(&mut self, response: &Response) -> Result<(), String> {
        let Step { line, action: Action::Answer { id, outcome } } = &self.steps[self.at] else {
            return Ok(());
        };
        let (recorded, real) = (choice(outcome.as_ref()), choice(response.outcome.as_ref().ok()));
        if recorded != real {
            return Err(format!(
                "the client answered the request `{id}` with {real}, where line {line} of the recording has {recorded}"
            ));
        }
        self.at += 1;
        self.done += 1;
        Ok(())
    }

    fn said(&self, text: &str, answers: Option<&str>) -> Frame {
        let mut text = text.to_owned();
        for (recorded, real) in &self.renamed {
            if text.contains(recorded.as_str()) {
                text = text.replace(recorded.as_str(), real);
            }
        }
        let mut frame = Frame::parse(text.as_bytes());
        if let (Frame::Response(response), Some(id)) = (&mut frame, answers.and_then(|id| self.calls.get(id)))
        {
            response.id = id.clone();
        }
        frame
    }
}

/// Returns the arguments that must match the recording: all but the values that each client generates.
fn comparable(params: Option<&Json>) -> Value {
    let mut params = params.and_then(|params| params.to_value().ok()).unwrap_or(Value::Null);
    if let Some(fields) = params.as_object_mut() {
        for own in ["messageId", "machineId", "cwd", "tags"] {
            fields.remove(own);
        }
    }
    params
}

/// Returns the part of an answer that decides how the agent continues. An error counts as a denial.
fn choice(outcome: Option<&Json>) -> String {
    let outcome = outcome.and_then(|outcome| outcome.to_value().ok()).unwrap_or(Value::Null);
    match outcome["selectedOption"].as_str() {
        Some("cancel") => "a no".to_owned(),
        Some(option) => format!("`{option}`"),
        None if outcome["cancelled"].as_bool() == Some(true) || outcome.is_null() => "a no".to_owned(),
        None => "answers".to_owned(),
    }
}

#[cfg(test)]
mod tests;
