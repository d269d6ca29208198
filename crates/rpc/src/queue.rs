//! The queue under every connection: two lanes, each bounded in messages and bytes, closable from both ends.
//! Its bounds are the back-pressure of the transport.
//!
//! A mutex guards the lanes, and notifications tell the other end to look again. A lane keeps its order and drops nothing: a sender
//! that finds its lane full waits behind the senders that came before it. The receiver empties the control lane first.
//!
//! Two `tokio::sync::mpsc` channels would need most of this code around them: a channel is not bounded in bytes, cannot be received
//! from up to a number of bytes, and only its receiver can close it, so senders that wait for room would outlive a close.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, Semaphore, SetOnce};

use crate::Closed;

/// Which messages may overtake which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Overtakes messages that wait in the other lane.
    Control,
    /// In order with all other data.
    Data,
}

/// The size of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// The maximum number of messages.
    pub messages: usize,
    /// The maximum number of bytes, roughly. A single larger message passes alone.
    pub bytes: usize,
}

/// How many bytes of its lane a message takes up.
pub trait Weigh {
    #[doc(hidden)]
    fn weight(&self) -> usize;
}

impl<T> Weigh for (T, usize) {
    fn weight(&self) -> usize {
        self.1
    }
}

/// Why a message was not taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotSent<M> {
    /// There is no room; the message comes back.
    #[error("send queue is full")]
    Full(M),
    /// The connection is closed.
    #[error("the connection is closed")]
    Closed,
}

/// An end of the queue is gone: the message is lost.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// Creates a queue. Dropping either end closes it.
pub(crate) fn queue<T>(control: Bound, data: Bound) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        lanes: Mutex::new([control, data].map(Waiting::new)),
        turns: [Semaphore::new(1), Semaphore::new(1)],
        arrived: Notify::new(),
        freed: Notify::new(),
        closed: SetOnce::new(),
        receiver_gone: SetOnce::new(),
    });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// The sending end.
#[derive(Debug)]
pub(crate) struct Sender<T>(Arc<Shared<T>>);

/// The receiving end.
#[derive(Debug)]
pub(crate) struct Receiver<T>(Arc<Shared<T>>);

/// Reads why a queue was closed, without being one of its ends.
#[derive(Debug)]
pub(crate) struct Observer<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    lanes: Mutex<[Waiting<T>; 2]>,
    /// One permit per lane: senders that wait for room line up here, first come, first served.
    turns: [Semaphore; 2],
    /// Wakes the receiver: the queue is no longer empty, or closed.
    arrived: Notify,
    /// Wakes the first sender of each lane: messages were taken out, or an end is gone.
    freed: Notify,
    /// Checked by senders under the mutex, and by the receiver before it takes the mutex: if it is set and the lanes are empty, they
    /// stay empty.
    closed: SetOnce<Closed>,
    receiver_gone: SetOnce<()>,
}

/// The messages of one lane.
#[derive(Debug)]
struct Waiting<T> {
    bound: Bound,
    messages: VecDeque<(T, usize)>,
    bytes: usize,
}

impl<T> Waiting<T> {
    fn new(bound: Bound) -> Self {
        let bound = Bound { messages: bound.messages.max(1), bytes: bound.bytes.max(1) };
        Self { bound, messages: VecDeque::new(), bytes: 0 }
    }

    /// Returns the message if there is no room for it.
    fn push(&mut self, message: T) -> Result<(), T>
    where
        T: Weigh,
    {
        let weight = message.weight().min(self.bound.bytes);
        if self.messages.len() >= self.bound.messages || weight > self.bound.bytes - self.bytes {
            return Err(message);
        }
        self.bytes += weight;
        self.messages.push_back((message, weight));
        Ok(())
    }

    fn pop(&mut self) -> Option<(T, usize)> {
        let (message, weight) = self.messages.pop_front()?;
        self.bytes -= weight;
        Some((message, weight))
    }
}

impl<T> Shared<T> {
    fn lanes(&self) -> MutexGuard<'_, [Waiting<T>; 2]> {
        // no code panics while it holds the lock
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, why: Closed) {
        // the first reason stays
        self.closed.set(why).ok();
        self.arrived.notify_one();
        self.freed.notify_waiters();
    }

    /// Checks after each notification whether `check` has a result.
    async fn until<R>(&self, changed: &Notify, mut check: impl FnMut() -> Option<R>) -> R {
        loop {
            // created before the check, so that a change between check and wait is not missed
            let notified = changed.notified();
            if let Some(result) = check() {
                return result;
            }
            notified.await;
        }
    }
}

impl<T: Weigh> Shared<T> {
    /// Runs `push` on a lane and wakes the receiver, unless an end is gone.
    fn push<R>(&self, lane: Lane, push: impl FnOnce(&mut Waiting<T>) -> R) -> Result<R, Gone> {
        let mut lanes = self.lanes();
        if self.closed.initialized() || self.receiver_gone.initialized() {
            return Err(Gone);
        }
        let was_empty = lanes.iter().all(|lane| lane.messages.is_empty());
        let result = push(&mut lanes[lane as usize]);
        drop(lanes);
        if was_empty {
            self.arrived.notify_one();
        }
        Ok(result)
    }

    /// Takes messages until they are `enough` bytes, control lane first. Returns whether there were any.
    fn take(&self, enough: usize, mut keep: impl FnMut(T)) -> bool {
        let mut bytes = 0;
        let mut lanes = self.lanes();
        for lane in lanes.iter_mut() {
            while bytes < enough
                && let Some((message, weight)) = lane.pop()
            {
                bytes += weight.max(1);
                keep(message);
            }
        }
        drop(lanes);
        if bytes > 0 {
            self.freed.notify_waiters();
        }
        bytes > 0
    }
}

impl<T: Weigh> Sender<T> {
    /// Sends a message once there is room for it. Sends nothing if the future is dropped before.
    pub(crate) async fn send(&self, lane: Lane, message: T) -> Result<(), Gone> {
        let _turn = self.0.turns[lane as usize].acquire().await;
        let mut message = Some(message);
        let attempt = || match self.try_send(lane, message.take()?) {
            Ok(()) => Some(Ok(())),
            Err(NotSent::Closed) => Some(Err(Gone)),
            Err(NotSent::Full(back)) => {
                message = Some(back);
                None
            }
        };
        self.0.until(&self.0.freed, attempt).await
    }

    /// Sends all messages in order, each once there is room for it. Unsent messages stay in `messages` if the future is dropped.
    pub(crate) async fn send_all(&self, lane: Lane, messages: &mut VecDeque<T>) -> Result<(), Gone> {
        let _turn = self.0.turns[lane as usize].acquire().await;
        let mut fill = |lane: &mut Waiting<T>| {
            while let Some(message) = messages.pop_front() {
                if let Err(message) = lane.push(message) {
                    messages.push_front(message);
                    return None;
                }
            }
            Some(())
        };
        self.0.until(&self.0.freed, || self.0.push(lane, &mut fill).transpose()).await
    }

    /// Sends a message if there is room for it now.
    pub(crate) fn try_send(&self, lane: Lane, message: T) -> Result<(), NotSent<T>> {
        match self.0.push(lane, |lane| lane.push(message)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(message)) => Err(NotSent::Full(message)),
            Err(Gone) => Err(NotSent::Closed),
        }
    }
}

impl<T> Sender<T> {
    /// Takes no more messages. Messages that wait can still be received; then the receiver learns the reason.
    pub(crate) fn close(&self, why: Closed) {
        self.0.close(why);
    }

    /// Waits until the receiver is dropped.
    pub(crate) async fn receiver_gone(&self) {
        self.0.receiver_gone.wait().await;
    }

    /// Returns the size of the messages that wait, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.lanes().iter().map(|lane| lane.bytes).sum()
    }

    pub(crate) fn is_receiver_gone(&self) -> bool {
        self.0.receiver_gone.initialized()
    }

    /// Waits until less than `bound` waits in the data lane, or an end is gone.
    pub(crate) async fn below(&self, bound: Bound) {
        let is_below = || {
            let [_, data] = &*self.0.lanes();
            data.messages.len() < bound.messages && data.bytes < bound.bytes
        };
        let is_over = || self.0.closed.initialized() || self.is_receiver_gone();
        self.0.until(&self.0.freed, || (is_over() || is_below()).then_some(())).await;
    }
}

impl<T: Weigh> Receiver<T> {
    /// Receives the next message, control lane first; the reason of the close after the last one. Loses nothing if dropped.
    pub(crate) async fn recv(&mut self) -> Result<T, Closed> {
        let next = || {
            let mut message = None;
            self.0.take(1, |taken| message = Some(taken));
            message
        };
        self.0.until(&self.0.arrived, || self.attempt(next)).await
    }

    /// Waits for a message and takes those that wait, control lane first, until they are `enough` bytes. Loses nothing if dropped.
    pub(crate) async fn recv_many(&mut self, taken: &mut VecDeque<T>, enough: usize) -> Result<(), Closed> {
        let mut next = || self.0.take(enough, |message| taken.push_back(message)).then_some(());
        self.0.until(&self.0.arrived, || self.attempt(&mut next)).await
    }

    /// [`recv_many`](Self::recv_many) without waiting. `None` if it would wait.
    pub(crate) fn try_recv_many(
        &mut self,
        taken: &mut VecDeque<T>,
        enough: usize,
    ) -> Option<Result<(), Closed>> {
        self.attempt(|| self.0.take(enough, |message| taken.push_back(message)).then_some(()))
    }

    fn attempt<R>(&self, take: impl FnOnce() -> Option<R>) -> Option<Result<R, Closed>> {
        // looked at before the lanes: see `Shared::closed`
        let closed = self.0.closed.get();
        take().map(Ok).or_else(|| closed.cloned().map(Err))
    }
}

impl<T> Receiver<T> {
    pub(crate) fn observer(&self) -> Observer<T> {
        Observer(Arc::clone(&self.0))
    }
}

impl<T> Observer<T> {
    /// Waits until the queue is closed.
    pub(crate) async fn closed(&self) -> Closed {
        self.0.closed.wait().await.clone()
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.close(Closed::Ended);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.receiver_gone.set(()).ok();
        let messages = self.0.lanes().each_mut().map(|lane| std::mem::take(&mut lane.messages));
        // without the lock: a message may own an end of this queue
        drop(messages);
        self.0.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests;
