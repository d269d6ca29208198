//! A connection is a pair of bounded queues of messages; every transport returns the same pair.
//!
//! Nothing here reads or writes bytes: the tasks that do are at the other end of the queues (`pump`). Users of a connection
//! see its transport only in the reason of its end.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use musher_wire::Frame;
use tokio::time::timeout;

use crate::lines::DEFAULT_LINE_LIMIT;
use crate::message::{Message, RawLine};
use crate::queue::{Gone, Lane, Observer, Receiver, Sender, queue};
use crate::{Bound, Closed, NotSent};

/// How long a broken connection may take to find out why it broke, and to deliver what the peer sent before.
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// How many bytes are received at once, roughly. Not more, because received messages cannot be overtaken.
const BATCH: usize = 16 * 1024;

/// Messages from a peer and messages to it: [`Frame`]s, or [`RawLine`]s for a peer that speaks another protocol.
///
/// The directions are independent: after the peer has closed its side, ours still works, and the other way round.
#[derive(Debug)]
pub struct Connection<M = Frame> {
    /// Messages from the peer.
    pub incoming: MessageReceiver<M>,
    /// Messages to the peer.
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
    /// The maximum length of a line or message that is read, in bytes.
    pub line: usize,
    /// Messages that were read and not yet received.
    pub incoming: Bound,
    /// Messages that wait to be written in order.
    pub data: Bound,
    /// Messages that wait to be written ahead of the others.
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
pub struct MessageReceiver<M>(Receiver<M>);

/// The sending half of a [`Connection`]. Clones share one connection; dropping the last one closes it.
///
/// There are two lanes. Messages of [`send`](Self::send) arrive in the order they were sent. Messages of
/// [`send_now`](Self::send_now) overtake everything that still waits in the other lane, so that an interrupt or a response is not
/// stuck behind a stream of text; among themselves they keep their order too. The sender chooses the lane, because only the
/// sender knows: a response that must follow its notifications (as the one to a settings update follows `settings_updated`)
/// belongs in the lane of those notifications.
///
/// A full lane makes its senders wait. Nothing is dropped.
#[derive(Debug)]
pub struct MessageSender<M>(Arc<Sending<M>>);

/// A sender that does not keep the connection open.
#[derive(Debug)]
pub(crate) struct WeakMessageSender<M>(Weak<Sending<M>>);

#[derive(Debug)]
struct Sending<M> {
    queue: Sender<M>,
    /// The queue of the other direction: its close reason is the one of the connection.
    incoming: Observer<M>,
}

impl<M: Message> MessageReceiver<M> {
    /// Receives the next message. After the last one, returns why there are no more, on every call. Loses nothing if dropped.
    pub async fn recv(&mut self) -> Result<M, Closed> {
        self.0.recv().await
    }

    /// Waits for a message and adds all that have arrived to `batch`, up to about 16 KiB. Loses nothing if dropped.
    ///
    /// A batch takes one lock and one wake-up, not one per message.
    ///
    /// ```
    /// use std::collections::VecDeque;
    /// use musher_rpc::{Limits, RawLine, lines_over};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Closed> {
    /// let mut connection = lines_over(&b"one\ntwo\n"[..], tokio::io::sink(), Limits::default());
    /// let mut batch = VecDeque::new();
    /// connection.incoming.recv_batch(&mut batch).await?;
    /// assert_eq!(batch, ["one", "two"].map(|line| RawLine::from(line.to_owned())));
    /// # Ok(()) }
    /// ```
    pub async fn recv_batch(&mut self, batch: &mut VecDeque<M>) -> Result<(), Closed> {
        self.0.recv_many(batch, BATCH).await
    }

    /// [`recv_batch`](Self::recv_batch) without waiting.
    pub(crate) fn try_recv_batch(&mut self, batch: &mut VecDeque<M>) {
        self.0.try_recv_many(batch, BATCH);
    }
}

impl<M: Message> MessageSender<M> {
    /// Sends a message in order, once there is room for it. Sends nothing if the future is dropped before it completes.
    pub async fn send(&self, message: M) -> Result<(), Closed> {
        self.send_in(Lane::Data, message).await
    }

    /// Sends a message ahead of all that wait in the ordered lane.
    pub async fn send_now(&self, message: M) -> Result<(), Closed> {
        self.send_in(Lane::Control, message).await
    }

    /// Like [`send`](Self::send), but returns the message if there is no room for it.
    pub fn try_send(&self, message: M) -> Result<(), NotSent<M>> {
        self.0.queue.try_send(Lane::Data, message)
    }

    /// Like [`send_now`](Self::send_now), but returns the message if there is no room for it.
    pub(crate) fn try_send_now(&self, message: M) -> Result<(), NotSent<M>> {
        self.0.queue.try_send(Lane::Control, message)
    }

    pub(crate) async fn send_in(&self, lane: Lane, message: M) -> Result<(), Closed> {
        self.check(self.0.queue.send(lane, message).await).await
    }

    /// Sends all messages of `batch` in order. Unsent messages stay in it if the future is dropped.
    pub(crate) async fn send_batch(&self, batch: &mut VecDeque<M>) -> Result<(), Closed> {
        self.check(self.0.queue.send_all(Lane::Data, batch).await).await
    }

    /// Returns the size of the messages that wait to be written, in bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.0.queue.bytes()
    }

    /// Takes no more messages, from any clone. Messages sent before are still written, then the peer sees the end.
    pub fn close(&self) {
        self.close_because(Closed::Ended);
    }

    /// [`close`](Self::close) with a reason for the other end of a connection in memory.
    ///
    /// For a relay between two connections: the reason of the one becomes the reason of the other.
    pub fn close_because(&self, why: Closed) {
        self.0.queue.close(why);
    }

    /// Closes, and waits until everything sent before has been written. Returns whether that took no longer than `within`.
    pub async fn finish(&self, within: Duration) -> bool {
        self.close();
        timeout(within, self.closed()).await.is_ok()
    }

    /// Waits until messages are no longer written: writing failed, or everything was written after [`close`](Self::close).
    pub async fn closed(&self) {
        self.0.queue.receiver_gone().await;
    }

    pub(crate) fn downgrade(&self) -> WeakMessageSender<M> {
        WeakMessageSender(Arc::downgrade(&self.0))
    }

    async fn check(&self, sent: Result<(), Gone>) -> Result<(), Closed> {
        let Err(Gone) = sent else { return Ok(()) };
        if !self.0.queue.is_receiver_gone() {
            return Err(Closed::Local);
        }
        // Writing failed. The task that reads finds the reason, within `LINGER`.
        Err(timeout(LINGER * 2, self.0.incoming.closed()).await.unwrap_or(Closed::Ended))
    }
}

impl<M> Clone for MessageSender<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M> WeakMessageSender<M> {
    pub(crate) fn upgrade(&self) -> Option<MessageSender<M>> {
        self.0.upgrade().map(MessageSender)
    }
}

/// Creates two connections that are each other's peer. The limits of a side are those of what it sends.
pub(crate) fn pair<M>(near: Limits, far: Limits) -> (Connection<M>, Connection<M>) {
    let (to_far, from_near) = queue(near.control, near.data);
    let (to_near, from_far) = queue(far.control, far.data);
    let join = |from: Receiver<M>, to| Connection {
        outgoing: MessageSender(Arc::new(Sending { queue: to, incoming: from.observer() })),
        incoming: MessageReceiver(from),
    };
    (join(from_far, to_far), join(from_near, to_near))
}
