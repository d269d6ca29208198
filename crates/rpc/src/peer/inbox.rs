//! Everything from the peer except responses to our calls, in order, bounded: back-pressure on the peer.
//!
//! It has two limits. With one, a caller that waits for a response and does not read its inbox meanwhile would wait forever behind
//! a full one. So reading from the peer stops at the low limit only while no caller waits for a response. While one does, it
//! continues to the high limit; beyond that the call can only time out. Nothing is dropped.

use std::collections::VecDeque;

use musher_wire::{Malformed, Notification, Request, Response, RpcError};

use crate::queue::{Lane, Receiver, Sender, queue};
use crate::{Bound, Closed};

/// What came from the peer.
#[derive(Debug)]
#[non_exhaustive]
pub enum Incoming {
    /// A call that has to be answered with [`Peer::respond`](crate::Peer::respond).
    Request(Request),
    /// A notification.
    Notification(Notification),
    /// A line that is not a valid message. A server answers it with an error and a null id.
    Malformed(Malformed),
    /// An error without an id, while not exactly one call was pending.
    UnmatchedError(RpcError),
    /// A response to no pending call.
    Late(Response, Stray),
    /// The last: the peer sends nothing more.
    Closed(Closed),
}

/// Why no call was pending for a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stray {
    /// The call was answered before.
    Duplicate,
    /// The caller no longer waits.
    GivenUp,
    /// There was no such call.
    Unknown,
}

/// The limits of an inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxLimits {
    /// From here on nothing is read from the peer while no call is pending.
    pub low: Bound,
    /// From here on nothing is read from the peer at all.
    pub high: Bound,
}

impl Default for InboxLimits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            low: Bound { messages: 1024, bytes: 8 * MIB },
            high: Bound { messages: 16 * 1024, bytes: 64 * MIB },
        }
    }
}

/// The receiving end. Once it is dropped, calls of the peer are refused and everything else is discarded.
#[derive(Debug)]
pub struct Inbox {
    queue: Receiver<(Incoming, usize)>,
    /// Taken from the queue together, with one lock.
    taken: VecDeque<(Incoming, usize)>,
    is_over: bool,
}

impl Inbox {
    /// Receives what came next; after [`Incoming::Closed`], `None`. Loses nothing if dropped.
    pub async fn recv(&mut self) -> Option<Incoming> {
        let mut received = Ok(());
        if self.taken.is_empty() {
            received = self.queue.recv_many(&mut self.taken, usize::MAX).await;
        }
        self.next(received)
    }

    /// Receives what has come already, without waiting for more.
    pub fn try_recv(&mut self) -> Option<Incoming> {
        let mut received = Ok(());
        if self.taken.is_empty() {
            received = self.queue.try_recv_many(&mut self.taken, usize::MAX)?;
        }
        self.next(received)
    }

    fn next(&mut self, received: Result<(), Closed>) -> Option<Incoming> {
        match received {
            Ok(()) => self.taken.pop_front().map(|(incoming, _)| incoming),
            Err(_) if self.is_over => None,
            Err(closed) => {
                self.is_over = true;
                Some(Incoming::Closed(closed))
            }
        }
    }
}

/// The end that the reader fills. Dropping it ends the inbox.
#[derive(Debug)]
pub(super) struct InboxSender {
    queue: Sender<(Incoming, usize)>,
    low: Bound,
}

pub(super) fn inbox(limits: InboxLimits) -> (InboxSender, Inbox) {
    let unused = Bound { messages: 1, bytes: 1 };
    let (sender, receiver) = queue(unused, limits.high);
    let inbox = Inbox { queue: receiver, taken: VecDeque::new(), is_over: false };
    (InboxSender { queue: sender, low: limits.low }, inbox)
}

impl InboxSender {
    /// Puts everything in, each with its weight, as there is room below the high limit. Discards it if the inbox was dropped.
    pub(super) async fn put_all(&self, incoming: &mut VecDeque<(Incoming, usize)>) {
        if self.queue.send_all(Lane::Data, incoming).await.is_err() {
            incoming.clear();
        }
    }

    /// Puts the reason of the end behind everything else.
    pub(super) fn close(&self, reason: Closed) {
        self.queue.close(reason);
    }

    pub(super) fn is_dropped(&self) -> bool {
        self.queue.is_receiver_gone()
    }

    /// Waits until the inbox is dropped.
    pub(super) async fn dropped(&self) {
        self.queue.receiver_gone().await;
    }

    /// Waits until the inbox is below the low limit, or dropped.
    pub(super) async fn low(&self) {
        self.queue.below(self.low).await;
    }
}
