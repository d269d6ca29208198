//! The task that reads a connection: responses go to their callers, everything else to the inbox.

use std::collections::VecDeque;
use std::sync::Arc;

use musher_wire::{Frame, Malformed, Response, RpcError};
use tokio::sync::oneshot;

use super::calls::{Calls, Failure};
use super::inbox::{InboxSender, Incoming, Stray};
use super::pending::Settled;
use crate::connection::WeakMessageSender;
use crate::queue::Weigh;
use crate::{Closed, FrameReceiver};

pub(super) async fn read(
    mut incoming: FrameReceiver,
    outgoing: WeakMessageSender<Frame>,
    calls: Arc<Calls>,
    inbox: InboxSender,
    handles_gone: oneshot::Receiver<()>,
) {
    let all = async {
        let (mut frames, mut rest) = (VecDeque::new(), VecDeque::new());
        loop {
            // a pending call lifts the low limit: its response may come behind the messages that fill the inbox
            tokio::select! {
                () = inbox.low() => {}
                () = calls.any_pending() => {}
            }
            if let Err(closed) = incoming.recv_batch(&mut frames).await {
                return closed;
            }
            for frame in frames.drain(..) {
                // a caller that gets a response finds everything that came before it in the inbox
                if matches!(frame, Frame::Response(_)) {
                    pass_on(&mut rest, &inbox, &outgoing).await;
                }
                let weight = frame.weight();
                rest.extend(settle(frame, &calls).map(|incoming| (incoming, weight)));
            }
            pass_on(&mut rest, &inbox, &outgoing).await;
        }
    };
    let all_handles_gone = async {
        // nothing is ever sent: it fails when the last handle is dropped
        handles_gone.await.ok();
        inbox.dropped().await;
    };
    let reason = tokio::select! {
        reason = all => reason,
        () = all_handles_gone => Closed::Local,
    };
    calls.close(&reason);
    inbox.close(reason);
}

/// Moves everything to the inbox; if that was dropped, refuses the requests.
async fn pass_on(
    rest: &mut VecDeque<(Incoming, usize)>,
    inbox: &InboxSender,
    outgoing: &WeakMessageSender<Frame>,
) {
    if inbox.is_dropped() {
        rest.drain(..).for_each(|(incoming, _)| refuse(incoming, outgoing));
    } else if !rest.is_empty() {
        inbox.put_all(rest).await;
    }
}

/// Refuses a request for which there is no inbox, so that the peer does not wait for a response.
fn refuse(incoming: Incoming, outgoing: &WeakMessageSender<Frame>) {
    if let (Incoming::Request(request), Some(outgoing)) = (incoming, outgoing.upgrade()) {
        let error = RpcError::new(RpcError::METHOD_NOT_FOUND, "calls are not served here");
        let response = Frame::Response(Response::new(request.id, Err(error)));
        if outgoing.try_send_now(response).is_err() {
            tracing::warn!(method = %request.method, "cannot refuse a request: send queue is full");
        }
    }
}

/// Gives a response to its caller. Returns every other frame.
fn settle(frame: Frame, calls: &Calls) -> Option<Incoming> {
    match frame {
        Frame::Request(request) => Some(Incoming::Request(request)),
        Frame::Notification(notification) => Some(Incoming::Notification(notification)),
        Frame::Response(response) => settle_response(response, calls),
        Frame::Malformed(malformed) => settle_malformed(malformed, calls),
    }
}

fn settle_response(response: Response, calls: &Calls) -> Option<Incoming> {
    if let (musher_wire::Id::Null, Err(error)) = (&response.id, &response.outcome) {
        return match calls.settle_only() {
            Some(waiter) => {
                // a caller that is gone needs no response
                waiter.send(Err(Failure::Refused(error.clone()))).ok();
                None
            }
            None => Some(Incoming::UnmatchedError(error.clone())),
        };
    }
    let stray = match calls.settle(&response.id, response.outcome.is_err()) {
        Settled::Answer(waiter) | Settled::LateError(waiter) => {
            // a caller that is gone by now needs no response
            waiter.send(response.outcome.map_err(Failure::Refused)).ok();
            return None;
        }
        Settled::Duplicate => Stray::Duplicate,
        Settled::GivenUp => Stray::GivenUp,
        Settled::Unknown => Stray::Unknown,
    };
    Some(Incoming::Late(response, stray))
}

/// Fails the call whose id a malformed line carries, so that its caller need not wait for the timeout.
fn settle_malformed(malformed: Malformed, calls: &Calls) -> Option<Incoming> {
    match malformed.id.as_ref().map(|id| calls.settle(id, true)) {
        Some(Settled::Answer(waiter) | Settled::LateError(waiter)) => {
            waiter.send(Err(Failure::Malformed(malformed))).ok();
            None
        }
        _ => Some(Incoming::Malformed(malformed)),
    }
}
