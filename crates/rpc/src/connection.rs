//! A connection is a pair of bounded channels of messages; every transport returns the same pair.
//!
//! Nothing here reads or writes bytes: the tasks that do sit at the other end of the channels (`pump`). A transport is
//! noticed above only by the reason it gives when it ends.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use musher_wire::Frame;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::lines::DEFAULT_LINE_LIMIT;
use crate::message::{Message, RawLine};
use crate::queue::{Lane, NotNow, Receiver, Sender, WeakSender, queue};
use crate::{Batch, Bound, Closed};

/// How long a dying connection may take to say why it dies, and to deliver what is still on the way.
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// Messages from a peer and messages to it: [`Frame`]s, or [`RawLine`]s for a peer that speaks another dialect.
///
/// The directions are independent: when the peer has ended its side, ours still works, and the other way round.
#[derive(Debug)]
pub struct Connection<M = Frame> {
    /// What the peer sends.
    pub incoming: MessageReceiver<M>,
    /// What we send.
    pub outgoing: MessageSender<M>,
}

/// A connection whose messages are plain lines.
pub type LineConnection = Connection<RawLine>;
/// The receiving half of a connection of frames.
pub type FrameReceiver = MessageReceiver<Frame>;
/// The sending half of a connection of frames.
pub type FrameSender = MessageSender<Frame>;
/// The receiving half of a connection of lines.
pub type LineReceiver = MessageReceiver<RawLine>;
/// The sending half of a connection of lines.
pub type LineSender = MessageSender<RawLine>;

/// The limits of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest line or message that is read, in bytes.
    pub line: usize,
    /// Frames that were read and wait for us.
    pub incoming: Bound,
    /// Frames that wait to be written in order.
    pub data: Bound,
    /// Frames that wait to be written ahead of the others.
    pub control: Bound,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: usize = 1024 * 1024;
        Self {
            line: DEFAULT_LINE_LIMIT,
            incoming: Bound { messages: 256, bytes: 8 * MIB },
            data: Bound { messages: 4096, bytes: 8 * MIB },
            control: Bound { messages: 256, bytes: MIB },
        }
    }
}

/// The receiving half of a [`Connection`].
#[derive(Debug)]
pub struct MessageReceiver<M> {
    queue: Receiver<M>,
    ending: Ending,
}

/// The sending half of a [`Connection`]. Clones share one connection, and the last one closes it.
///
/// There are two lanes. What goes through [`send`](Self::send) arrives in the order it was sent. What goes through
/// [`send_now`](Self::send_now) overtakes everything that still waits in the other lane, so that an interrupt or an answer is not
/// stuck behind a stream of text; among themselves such frames keep their order too. The sender chooses, because only the
/// sender knows: a response that must follow its notifications (as the one of a settings update follows `settings_updated`)
/// belongs in the lane of those notifications.
///
/// A full lane makes its senders wait. Nothing is dropped.
#[derive(Debug)]
pub struct MessageSender<M> {
    queue: Sender<M>,
    ending: Ending,
    /// Why the other end sees the end.
    far_ending: Ending,
}

/// Why a message was not taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSent {
    /// Too much waits already.
    #[error("too much waits to be written already")]
    Full,
    /// The connection is over.
    #[error("the connection is over")]
    Closed,
}

impl<M: Message> MessageReceiver<M> {
    /// The next message. After the last one: why there are no more, as often as asked. Loses nothing if dropped.
    pub async fn recv(&mut self) -> Result<M, Closed> {
        match self.queue.recv().await {
            Some(message) => Ok(message),
            None => Err(self.ending.settle(Closed::Ended)),
        }
    }

    /// Waits for a message and takes all there are, each with its weight. Loses nothing if dropped.
    pub(crate) async fn recv_all(&mut self, taken: &mut VecDeque<(M, usize)>) -> Result<(), Closed> {
        if self.queue.recv_all(taken).await { Ok(()) } else { Err(self.ending.settle(Closed::Ended)) }
    }

    /// Waits for a message and adds all that are there to `batch`, up to some dozen kilobytes. Loses nothing if dropped.
    pub async fn recv_batch(&mut self, batch: &mut Batch<M>) -> Result<(), Closed> {
        let is_open = self.queue.recv_many(&mut batch.0, Batch::<M>::ENOUGH).await;
        if is_open { Ok(()) } else { Err(self.ending.settle(Closed::Ended)) }
    }

    /// [`recv_batch`](Self::recv_batch) without waiting; false if there is nothing.
    pub(crate) fn try_recv_batch(&mut self, batch: &mut Batch<M>) -> bool {
        self.queue.try_recv_many(&mut batch.0, Batch::<M>::ENOUGH)
    }
}

impl<M: Message> MessageSender<M> {
    /// Sends a message in order, when there is room for it. Not sent if the future is dropped before it is done.
    pub async fn send(&self, message: M) -> Result<(), Closed> {
        self.send_in(Lane::Data, message).await
    }

    /// Sends a message ahead of all that wait in the ordered lane.
    pub async fn send_now(&self, message: M) -> Result<(), Closed> {
        self.send_in(Lane::Control, message).await
    }

    /// Like [`send`](Self::send), but gives up if there is no room: for one who must not wait for this peer.
    pub fn try_send(&self, message: M) -> Result<(), NotSent> {
        match self.offer(message) {
            Ok(None) => Ok(()),
            Ok(Some(_message)) => Err(NotSent::Full),
            Err(gone) => Err(gone),
        }
    }

    /// Like [`try_send`](Self::try_send), but gives the message back if there is no room, to wait with it.
    pub fn offer(&self, message: M) -> Result<Option<M>, NotSent> {
        let weight = message.weight();
        match self.queue.try_send(Lane::Data, message, weight) {
            Ok(()) => Ok(None),
            Err(NotNow::Full(message)) => Ok(Some(message)),
            Err(NotNow::Gone) => Err(NotSent::Closed),
        }
    }

    /// Sends all messages of `batch` in order, as there is room for them. What was not sent when the future is dropped is still there.
    pub(crate) async fn send_batch(&self, batch: &mut Batch<M>) -> Result<(), Closed> {
        match self.queue.send_all(Lane::Data, &mut batch.0).await {
            Ok(()) => Ok(()),
            Err(_gone) => Err(self.why_closed().await),
        }
    }

    pub(crate) async fn send_in(&self, lane: Lane, message: M) -> Result<(), Closed> {
        let weight = message.weight();
        match self.queue.send(lane, message, weight).await {
            Ok(()) => Ok(()),
            Err(_gone) => Err(self.why_closed().await),
        }
    }

    /// Like [`send_now`](Self::send_now), but gives up if there is no room.
    pub(crate) fn try_send_now(&self, message: M) -> Result<(), NotNow<M>> {
        let weight = message.weight();
        self.queue.try_send(Lane::Control, message, weight)
    }

    /// Takes no more frames, from any clone. What was sent before is still written, then the peer sees the end.
    pub fn close(&self) {
        self.queue.close();
    }

    /// [`close`](Self::close), and the other end of a connection in memory learns that this is why.
    ///
    /// For who stands between two ends: what ended the one is what ends the other.
    pub fn close_because(&self, why: Closed) {
        self.far_ending.settle(why);
        self.close();
    }

    /// Closes, and waits until everything sent before has been written. False if that was not so `within` this time.
    pub async fn finish(&self, within: Duration) -> bool {
        self.close();
        timeout(within, self.queue.receiver_gone()).await.is_ok()
    }

    /// Waits until nobody takes what we send any more, because writing failed or all was written after [`close`](Self::close).
    pub async fn closed(&self) {
        self.queue.receiver_gone().await;
    }

    pub(crate) fn downgrade(&self) -> WeakSenderOf<M> {
        WeakSenderOf {
            queue: self.queue.downgrade(),
            ending: self.ending.clone(),
            far_ending: self.far_ending.clone(),
        }
    }

    async fn why_closed(&self) -> Closed {
        if !self.queue.is_receiver_gone() {
            return Closed::Local;
        }
        // The writer failed. The reader knows better why, and it will not be long: see `pump`.
        match timeout(LINGER * 2, self.ending.wait()).await {
            Ok(reason) => reason,
            Err(_elapsed) => self.ending.settle(Closed::Ended),
        }
    }
}

impl<M> Clone for MessageSender<M> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), ending: self.ending.clone(), far_ending: self.far_ending.clone() }
    }
}

/// A sender that does not keep the connection open.
#[derive(Debug)]
pub(crate) struct WeakSenderOf<M> {
    queue: WeakSender<M>,
    ending: Ending,
    far_ending: Ending,
}

/// The one for frames.
pub(crate) type WeakFrameSender = WeakSenderOf<Frame>;

impl<M> WeakSenderOf<M> {
    pub(crate) fn upgrade(&self) -> Option<MessageSender<M>> {
        Some(MessageSender {
            queue: self.queue.upgrade()?,
            ending: self.ending.clone(),
            far_ending: self.far_ending.clone(),
        })
    }
}

/// Why something ended. The first reason stays.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ending(Arc<watch::Sender<Option<Closed>>>);

impl Ending {
    /// Gives the reason, unless there is one, and returns the one that counts.
    pub(crate) fn settle(&self, reason: Closed) -> Closed {
        let mut settled = reason;
        self.0.send_if_modified(|current| {
            if let Some(earlier) = current {
                settled = earlier.clone();
                return false;
            }
            *current = Some(settled.clone());
            true
        });
        settled
    }

    /// Waits for a reason.
    pub(crate) async fn wait(&self) -> Closed {
        let mut changes = self.0.subscribe();
        match changes.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(reason)) => reason.clone(),
            // not possible: the value was checked, and we hold the sending half
            Ok(None) | Err(_) => Closed::Ended,
        }
    }
}

/// Two ends joined directly, each with its own reason to end. The limits of a side are those of what it sends.
pub(crate) fn pair<M>(near: Limits, far: Limits) -> ((Connection<M>, Ending), (Connection<M>, Ending)) {
    let (to_far, from_near) = queue(near.control, near.data);
    let (to_near, from_far) = queue(far.control, far.data);
    let (near_end, far_end) = (Ending::default(), Ending::default());
    let near = Connection {
        incoming: MessageReceiver { queue: from_far, ending: near_end.clone() },
        outgoing: MessageSender { queue: to_far, ending: near_end.clone(), far_ending: far_end.clone() },
    };
    let far = Connection {
        incoming: MessageReceiver { queue: from_near, ending: far_end.clone() },
        outgoing: MessageSender { queue: to_near, ending: far_end.clone(), far_ending: near_end.clone() },
    };
    ((near, near_end), (far, far_end))
}
