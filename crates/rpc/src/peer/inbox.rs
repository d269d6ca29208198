//! What comes from the peer and is no answer, in order, bounded.
//!
//! Two limits, because one would be a trap: a caller who waits for an answer and does not read the inbox meanwhile would wait for
//! ever behind a full one. So the reader stops at the low limit only while nobody waits for an answer. While somebody does,
//! it goes on to the high limit; beyond that the call can only run into its own deadline. Nothing is dropped.

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
    /// News.
    Notification(Notification),
    /// A line that is no message. Who serves calls answers it with an error and a null id.
    Malformed(Malformed),
    /// An error without an id, and not exactly one call it could belong to.
    UnmatchedError(RpcError),
    /// An answer that nobody waits for.
    Late(Response, Stray),
    /// The last: the peer sends nothing more.
    Closed(Closed),
}

/// Why nobody waits for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stray {
    /// The call was answered before.
    Duplicate,
    /// The caller has stopped to wait.
    GivenUp,
    /// There was no such call.
    Unknown,
}

/// How much may wait in an inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxLimits {
    /// From here on nothing is read from the peer while nobody waits for an answer.
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

/// The receiving end. If it is dropped, calls of the peer are refused and everything else is thrown away.
#[derive(Debug)]
pub struct Inbox {
    queue: Receiver<Incoming>,
    /// What was taken over in one go.
    taken: VecDeque<(Incoming, usize)>,
}

impl Inbox {
    /// The next thing that came; after [`Incoming::Closed`] nothing. Loses nothing if dropped.
    pub async fn recv(&mut self) -> Option<Incoming> {
        if self.taken.is_empty() {
            self.queue.recv_all(&mut self.taken).await;
        }
        self.taken.pop_front().map(|(incoming, _)| incoming)
    }

    /// What has come already, without waiting for more.
    pub fn try_recv(&mut self) -> Option<Incoming> {
        if self.taken.is_empty() {
            self.queue.try_recv_many(&mut self.taken, usize::MAX);
        }
        self.taken.pop_front().map(|(incoming, _)| incoming)
    }
}

/// The end the reader fills.
#[derive(Debug)]
pub(super) struct InboxSender {
    queue: Sender<Incoming>,
    low: Bound,
}

pub(super) fn inbox(limits: InboxLimits) -> (InboxSender, Inbox) {
    let unused = Bound { messages: 1, bytes: 1 };
    let (sender, receiver) = queue(unused, limits.high);
    (InboxSender { queue: sender, low: limits.low }, Inbox { queue: receiver, taken: VecDeque::new() })
}

impl InboxSender {
    /// Puts something in, when there is room below the high limit. Does nothing if nobody reads any more.
    pub(super) async fn put(&self, incoming: Incoming) {
        self.queue.send(Lane::Data, incoming, 0).await.ok();
    }

    /// Puts all of it in, each with its weight, as there is room below the high limit.
    pub(super) async fn put_all(&self, incoming: &mut VecDeque<(Incoming, usize)>) {
        if self.queue.send_all(Lane::Data, incoming).await.is_err() {
            incoming.clear();
        }
    }

    pub(super) fn is_abandoned(&self) -> bool {
        self.queue.is_receiver_gone()
    }

    pub(super) async fn abandoned(&self) {
        self.queue.receiver_gone().await;
    }

    pub(super) fn is_low(&self) -> bool {
        self.queue.is_below(self.low) || self.queue.is_closed()
    }

    /// Waits until something was taken out.
    pub(super) async fn taken(&self) {
        self.queue.taken().await;
    }
}
