//! The task that reads a connection: answers go to who waits for them, the rest to the inbox.

use std::collections::VecDeque;
use std::sync::Arc;

use musher_wire::{Frame, Malformed, Response, RpcError};
use tokio::sync::oneshot;

use super::calls::{Calls, Failure};
use super::inbox::{InboxSender, Incoming, Stray};
use crate::connection::WeakFrameSender;
use crate::{Closed, FrameReceiver, Settled};

pub(super) async fn read(
    mut incoming: FrameReceiver,
    outgoing: WeakFrameSender,
    calls: Arc<Calls>,
    inbox: InboxSender,
    handles_gone: oneshot::Receiver<()>,
) {
    let all = async {
        let (mut frames, mut rest) = (VecDeque::new(), VecDeque::new());
        loop {
            until_wanted(&inbox, &calls).await;
            if let Err(closed) = incoming.recv_all(&mut frames).await {
                return closed;
            }
            for (frame, weight) in frames.drain(..) {
                // whoever gets an answer may rely on all that came before it being in the inbox
                if matches!(frame, Frame::Response(_)) {
                    pass_on(&mut rest, &inbox, &outgoing).await;
                }
                rest.extend(sort(frame, &calls).map(|incoming| (incoming, weight)));
            }
            pass_on(&mut rest, &inbox, &outgoing).await;
        }
    };
    let nobody_is_left = async {
        // it is never sent, only dropped
        handles_gone.await.ok();
        inbox.abandoned().await;
    };
    let reason = tokio::select! {
        reason = all => reason,
        () = nobody_is_left => Closed::Local,
    };
    calls.close(&reason);
    inbox.put(Incoming::Closed(reason)).await;
}

/// Puts what has come into the inbox; without a reader of the inbox, refuses what wants an answer.
async fn pass_on(rest: &mut VecDeque<(Incoming, usize)>, inbox: &InboxSender, outgoing: &WeakFrameSender) {
    if inbox.is_abandoned() {
        rest.drain(..).for_each(|(incoming, _)| refuse(incoming, outgoing));
    } else if !rest.is_empty() {
        inbox.put_all(rest).await;
    }
}

/// Waits until the inbox is low, or somebody waits for an answer that may come behind what fills it.
async fn until_wanted(inbox: &InboxSender, calls: &Calls) {
    while !inbox.is_low() && !calls.is_anybody_waiting() {
        tokio::select! {
            () = inbox.taken() => {}
            () = calls.began() => {}
        }
    }
}

/// Gives an answer to who waits for it, and gives back what is none.
fn sort(frame: Frame, calls: &Calls) -> Option<Incoming> {
    match frame {
        Frame::Request(request) => Some(Incoming::Request(request)),
        Frame::Notification(notification) => Some(Incoming::Notification(notification)),
        Frame::Response(response) => answer(response, calls),
        Frame::Malformed(malformed) => bad_answer(malformed, calls),
    }
}

fn answer(response: Response, calls: &Calls) -> Option<Incoming> {
    if let (musher_wire::Id::Null, Err(error)) = (&response.id, &response.outcome) {
        return match calls.settle_the_only() {
            Some(waiter) => {
                // a caller that is gone needs no answer
                waiter.send(Err(Failure::Refused(error.clone()))).ok();
                None
            }
            None => Some(Incoming::UnmatchedError(error.clone())),
        };
    }
    let stray = match calls.settle(&response.id, response.outcome.is_err()) {
        Settled::Answer(waiter) | Settled::LateError(waiter) => {
            // a caller that has gone in this moment needs no answer
            waiter.send(response.outcome.map_err(Failure::Refused)).ok();
            return None;
        }
        Settled::Duplicate => Stray::Duplicate,
        Settled::GivenUp => Stray::GivenUp,
        Settled::Unknown => Stray::Unknown,
    };
    Some(Incoming::Late(response, stray))
}

/// A line that is no message may still carry the id of a call: its caller need not wait for the deadline.
fn bad_answer(malformed: Malformed, calls: &Calls) -> Option<Incoming> {
    let id = malformed.id.as_ref();
    match id.map(|id| calls.settle(id, true)) {
        Some(Settled::Answer(waiter) | Settled::LateError(waiter)) => {
            waiter.send(Err(Failure::Malformed(malformed))).ok();
            None
        }
        _ => Some(Incoming::Malformed(malformed)),
    }
}

/// Nobody reads the inbox, so nobody would ever answer: silence would leave the peer waiting.
fn refuse(incoming: Incoming, outgoing: &WeakFrameSender) {
    if let (Incoming::Request(request), Some(outgoing)) = (incoming, outgoing.upgrade()) {
        let error = RpcError::new(RpcError::METHOD_NOT_FOUND, "nobody here answers calls");
        let response = Frame::Response(Response::new(request.id, Err(error)));
        if outgoing.try_send_now(response).is_err() {
            tracing::warn!(method = %request.method, "a call of the peer could not even be refused");
        }
    }
}
