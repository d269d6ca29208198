//! A connection is a pair of bounded channels of frames; every transport returns the same pair.
//!
//! Nothing here reads or writes bytes: the tasks that do sit at the other end of the channels (`pump`). A transport is
//! noticed above only by the reason it gives when it ends.

use std::sync::Arc;
use std::time::Duration;

use musher_wire::{Envelope, Extra, Frame, Json};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::lines::DEFAULT_LINE_LIMIT;
use crate::queue::{Lane, NotNow, Receiver, Sender, WeakSender, queue};
use crate::{Bound, Closed};

/// How long a dying connection may take to say why it dies, and to deliver what is still on the way.
pub(crate) const LINGER: Duration = Duration::from_secs(2);

/// Frames from a peer and frames to it.
///
/// The directions are independent: when the peer has ended its side, ours still works, and the other way round.
#[derive(Debug)]
pub struct Connection {
    /// What the peer sends.
    pub incoming: FrameReceiver,
    /// What we send.
    pub outgoing: FrameSender,
}

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
pub struct FrameReceiver {
    queue: Receiver<Frame>,
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
#[derive(Debug, Clone)]
pub struct FrameSender {
    queue: Sender<Frame>,
    ending: Ending,
}

impl FrameReceiver {
    /// The next frame. After the last one: why there are no more, as often as asked. Loses nothing if dropped.
    pub async fn recv(&mut self) -> Result<Frame, Closed> {
        match self.queue.recv().await {
            Some(frame) => Ok(frame),
            None => Err(self.ending.settle(Closed::Ended)),
        }
    }

    pub(crate) async fn next(&mut self) -> Option<Frame> {
        self.queue.recv().await
    }

    pub(crate) fn try_next(&mut self) -> Option<Frame> {
        self.queue.try_recv()
    }
}

impl FrameSender {
    /// Sends a frame in order, when there is room for it. Not sent if the future is dropped before it is done.
    pub async fn send(&self, frame: Frame) -> Result<(), Closed> {
        self.send_in(Lane::Data, frame).await
    }

    /// Sends a frame ahead of all that wait in the ordered lane.
    pub async fn send_now(&self, frame: Frame) -> Result<(), Closed> {
        self.send_in(Lane::Control, frame).await
    }

    pub(crate) async fn send_in(&self, lane: Lane, frame: Frame) -> Result<(), Closed> {
        let weight = weight(&frame);
        match self.queue.send(lane, frame, weight).await {
            Ok(()) => Ok(()),
            Err(_gone) => Err(self.why_closed().await),
        }
    }

    /// Like [`send_now`](Self::send_now), but gives up if there is no room.
    pub(crate) fn try_send_now(&self, frame: Frame) -> Result<(), NotNow> {
        let weight = weight(&frame);
        self.queue.try_send(Lane::Control, frame, weight)
    }

    /// Takes no more frames, from any clone. What was sent before is still written, then the peer sees the end.
    pub fn close(&self) {
        self.queue.close();
    }

    /// Closes, and waits until everything sent before has been written. False if that was not so `within` this time.
    pub async fn finish(&self, within: Duration) -> bool {
        self.close();
        timeout(within, self.queue.receiver_gone()).await.is_ok()
    }

    /// Waits until nobody takes what we send any more.
    pub(crate) async fn receiver_gone(&self) {
        self.queue.receiver_gone().await;
    }

    pub(crate) fn downgrade(&self) -> WeakFrameSender {
        WeakFrameSender { queue: self.queue.downgrade(), ending: self.ending.clone() }
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

/// A sender that does not keep the connection open.
#[derive(Debug, Clone)]
pub(crate) struct WeakFrameSender {
    queue: WeakSender<Frame>,
    ending: Ending,
}

impl WeakFrameSender {
    pub(crate) fn upgrade(&self) -> Option<FrameSender> {
        Some(FrameSender { queue: self.queue.upgrade()?, ending: self.ending.clone() })
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
pub(crate) fn pair(near: Limits, far: Limits) -> ((Connection, Ending), (Connection, Ending)) {
    let (to_far, from_near) = queue(near.control, near.data);
    let (to_near, from_far) = queue(far.control, far.data);
    let (near_end, far_end) = (Ending::default(), Ending::default());
    let near = Connection {
        incoming: FrameReceiver { queue: from_far, ending: near_end.clone() },
        outgoing: FrameSender { queue: to_far, ending: near_end.clone() },
    };
    let far = Connection {
        incoming: FrameReceiver { queue: from_near, ending: far_end.clone() },
        outgoing: FrameSender { queue: to_near, ending: far_end.clone() },
    };
    ((near, near_end), (far, far_end))
}

/// About how many bytes a frame holds.
pub(crate) fn weight(frame: &Frame) -> usize {
    const OVERHEAD: usize = 128;
    let json = |json: &Json| json.text().len();
    let maybe = |value: &Option<Json>| value.as_ref().map_or(0, json);
    let extra = |extra: &Extra| extra.iter().map(|(key, value)| key.len() + json(value)).sum::<usize>();
    let envelope = |it: &Envelope| maybe(&it.meta) + extra(&it.extra);
    OVERHEAD
        + match frame {
            Frame::Request(it) => maybe(&it.params) + envelope(&it.envelope),
            Frame::Notification(it) => maybe(&it.params) + envelope(&it.envelope),
            Frame::Response(it) => match &it.outcome {
                Ok(result) => json(result) + envelope(&it.envelope),
                Err(error) => error.message.len() + maybe(&error.data) + envelope(&it.envelope),
            },
            Frame::Malformed(it) => it.raw.len(),
        }
}
