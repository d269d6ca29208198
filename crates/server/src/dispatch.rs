//! From a frame of the client to what has to be done: one list of methods, one place that says what is no message.

use std::sync::Arc;

use musher_engine::{Answer, Command, Ticket};
use musher_wire::{Frame, Id, Json, Request, Response, RpcError};

use crate::convert::from_wire;
use crate::error_code;
use crate::handle;
use crate::open::{Open, Shape};

/// What a frame of the client means.
#[derive(Debug)]
pub(crate) enum Order {
    /// Give the agent a command; its answer comes later.
    Submit(Ticket, Command),
    /// Give the agent an answer to its question.
    Answer(String, Answer),
    /// Answer at once.
    Respond(Response),
    /// Nothing.
    Ignore,
}

/// What a method asks for.
#[derive(Debug)]
pub(crate) enum Asked {
    /// Something of the agent, and how the answer looks.
    Of(Command, Shape),
    /// Something that can be answered without it.
    Known(Json),
}

/// A handled method, or the error it is answered with.
pub(crate) type Handled = Result<Asked, RpcError>;

/// Says what to do about a frame. A request that goes to the agent is open from here on.
pub(crate) fn dispatch(frame: Frame, open: &Open) -> Order {
    if let Err(reason) = frame.check_envelope() {
        // a broken answer settles the question it names: whoever sent it will not answer again
        let id = match &frame {
            Frame::Malformed(malformed) => malformed.id.as_ref(),
            Frame::Response(response) => Some(&response.id),
            Frame::Request(_) | Frame::Notification(_) => None,
        };
        if let Some(id) = id.and_then(Id::as_str)
            && open.table().settled(id).is_some()
        {
            return Order::Answer(id.to_owned(), from_wire::broken_answer(&reason.to_string()));
        }
        return Order::Respond(Response::new(Id::Null, Err(error_code::malformed(&reason))));
    }
    match frame {
        Frame::Request(request) => self::request(&request, open),
        Frame::Response(response) => answer(&response, open),
        Frame::Notification(_) | Frame::Malformed(_) => Order::Ignore,
    }
}

fn request(request: &Request, open: &Open) -> Order {
    match handle::request(request) {
        Ok(Asked::Of(command, shape)) => {
            let id: Arc<str> = request.id.as_str().unwrap_or_default().into();
            open.table().request(Arc::clone(&id), shape);
            Order::Submit(Ticket(id), command)
        }
        Ok(Asked::Known(result)) => Order::Respond(Response::new(request.id.clone(), Ok(result))),
        Err(error) => Order::Respond(Response::new(request.id.clone(), Err(error))),
    }
}

fn answer(response: &Response, open: &Open) -> Order {
    let Some(id) = response.id.as_str() else { return Order::Ignore };
    let Some(asked) = open.table().settled(id) else {
        tracing::debug!(id, "an answer to a question that is not open");
        return Order::Ignore;
    };
    Order::Answer(id.to_owned(), from_wire::answer(&asked, &response.outcome))
}

#[cfg(test)]
mod tests;
