//! Decides what to do about a frame of the client: finds the method, and rejects input that is not a message.

use std::sync::Arc;

use musher_engine::{Command, CommandId, UserResponse};
use musher_wire::{Frame, Id, Json, Request, Response, RpcError};

use crate::convert::from_wire;
use crate::error_code;
use crate::handle;
use crate::pending::{Pending, ReplyShape};

/// What to do about a frame of the client.
#[derive(Debug)]
pub(crate) enum Action {
    /// Submit a command to the agent; its reply comes later.
    Submit(CommandId, Command),
    /// Pass the agent an answer to its question.
    Answer(String, UserResponse),
    /// Respond at once.
    Respond(Response),
    /// Do nothing.
    Ignore,
}

/// What a method does.
#[derive(Debug)]
pub(crate) enum MethodOutcome {
    /// Runs a command of the agent; the reply has this shape.
    Command(Command, ReplyShape),
    /// Returns a result that needs no agent.
    Result(Json),
}

/// The outcome of handling a method, or the error to respond with.
pub(crate) type Handled = Result<MethodOutcome, RpcError>;

/// Decides what to do about a frame. A request that goes to the agent is pending from here on.
pub(crate) fn dispatch(frame: Frame, pending: &Pending) -> Action {
    if let Err(reason) = frame.check_envelope() {
        // a malformed response settles the question that it names, because the client will not answer again
        let id = match &frame {
            Frame::Malformed(malformed) => malformed.id.as_ref(),
            Frame::Response(response) => Some(&response.id),
            Frame::Request(_) | Frame::Notification(_) => None,
        };
        if let (Some(id), Some(editor)) = (id.and_then(Id::as_str), &pending.editor)
            && editor.broken(id, &reason.to_string())
        {
            return Action::Ignore;
        }
        if let Some(id) = id.and_then(Id::as_str)
            && pending.table().take_question(id).is_some()
        {
            return Action::Answer(id.to_owned(), from_wire::broken_answer(&reason.to_string()));
        }
        return Action::Respond(Response::new(Id::Null, Err(error_code::malformed(&reason))));
    }
    match frame {
        Frame::Request(request) => self::request(&request, pending),
        Frame::Response(response) => answer(&response, pending),
        Frame::Notification(_) | Frame::Malformed(_) => Action::Ignore,
    }
}

fn request(request: &Request, pending: &Pending) -> Action {
    match handle::request(request, pending) {
        Ok(MethodOutcome::Command(command, shape)) => {
            let id: Arc<str> = request.id.as_str().unwrap_or_default().into();
            pending.table().add_request(Arc::clone(&id), shape);
            Action::Submit(CommandId(id), command)
        }
        Ok(MethodOutcome::Result(result)) => Action::Respond(Response::new(request.id.clone(), Ok(result))),
        Err(error) => Action::Respond(Response::new(request.id.clone(), Err(error))),
    }
}

fn answer(response: &Response, pending: &Pending) -> Action {
    if pending.editor.as_ref().is_some_and(|editor| editor.answered(response)) {
        return Action::Ignore;
    }
    let Some(id) = response.id.as_str() else { return Action::Ignore };
    let Some(asked) = pending.table().take_question(id) else {
        tracing::debug!(id, "ignored an answer to a question that is not pending");
        return Action::Ignore;
    };
    Action::Answer(id.to_owned(), from_wire::answer(&asked, &response.outcome))
}

#[cfg(test)]
mod tests;
