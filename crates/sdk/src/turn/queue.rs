//! The bounded queue from a session to the reader of a turn: back-pressure on the agent.
//!
//! A slow reader costs at most [`CAPACITY`] events: then deltas of one block are joined, and if that is not enough, the
//! session stops reading from the agent. Nothing is dropped.
//!
//! It is not the queue of `musher-rpc`, which moves messages as they are, in two lanes, bounded in bytes, for tasks that await. Here the
//! last event in the queue grows, room is asked for by a task that must do other things meanwhile, and the reader polls a stream and
//! takes all events under one lock. One type for both would have each of these as an option that only one of them uses.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use tokio::sync::Notify;

use crate::{Event, Result};

/// The maximum number of queued events.
pub(crate) const CAPACITY: usize = 1024;

type Item = Result<Event>;

pub(crate) fn queue() -> (Sender, Receiver) {
    let shared = Arc::new(Shared {
        waiting: Mutex::new(VecDeque::new()),
        reader: AtomicWaker::new(),
        room: Notify::new(),
        is_ended: AtomicBool::new(false),
        is_abandoned: AtomicBool::new(false),
    });
    (Sender(Arc::clone(&shared)), Receiver { shared, taken: VecDeque::new() })
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<VecDeque<Item>>,
    reader: AtomicWaker,
    /// Wakes the one sender when there is room or the reader is gone.
    room: Notify,
    is_ended: AtomicBool,
    is_abandoned: AtomicBool,
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, VecDeque<Item>> {
        // nothing panics while it is held
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session's half. When it is dropped, the stream of the reader ends.
#[derive(Debug)]
pub(crate) struct Sender(Arc<Shared>);

impl Sender {
    /// Moves events out of `events` while there is room; the others must wait for [`room`](Self::room).
    pub(crate) fn push(&self, events: &mut VecDeque<Event>) {
        if events.is_empty() {
            return;
        }
        let mut waiting = self.0.waiting();
        // under the lock: the reader sets it before it empties the queue for the last time
        if self.is_abandoned() {
            drop(waiting);
            events.clear();
            return;
        }
        while let Some(event) = events.pop_front() {
            let event = match waiting.back_mut() {
                // a reader that lags gets fewer, larger pieces
                Some(Ok(last)) => last.absorb(event),
                _ => Some(event),
            };
            let Some(event) = event else { continue };
            if waiting.len() >= CAPACITY {
                events.push_front(event);
                break;
            }
            waiting.push_back(Ok(event));
        }
        drop(waiting);
        self.0.reader.wake();
    }

    /// Sends an error as the last item: the turn cannot continue.
    pub(crate) fn fail(&self, error: crate::Error) {
        self.0.waiting().push_back(Err(error));
        self.0.reader.wake();
    }

    /// Waits until there may be room, or the reader is gone.
    pub(crate) async fn room(&self) {
        while !self.is_abandoned() && self.0.waiting().len() >= CAPACITY {
            self.0.room.notified().await;
        }
    }

    /// Waits until the reader is gone.
    pub(crate) async fn abandoned(&self) {
        while !self.is_abandoned() {
            self.0.room.notified().await;
        }
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.0.is_abandoned.load(Ordering::Acquire)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.is_ended.store(true, Ordering::Release);
        self.0.reader.wake();
    }
}

/// The turn's half.
#[derive(Debug)]
pub(crate) struct Receiver {
    shared: Arc<Shared>,
    /// Events that were taken together: one lock for many events.
    taken: VecDeque<Item>,
}

impl Receiver {
    pub(crate) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Item>> {
        if let Some(item) = self.taken.pop_front() {
            return Poll::Ready(Some(item));
        }
        if let Some(item) = self.take() {
            return Poll::Ready(Some(item));
        }
        self.shared.reader.register(context.waker());
        // the end first: it is set after the last item
        let is_ended = self.shared.is_ended.load(Ordering::Acquire);
        match self.take() {
            Some(item) => Poll::Ready(Some(item)),
            None if is_ended => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    fn take(&mut self) -> Option<Item> {
        let mut waiting = self.shared.waiting();
        let was_full = waiting.len() >= CAPACITY;
        std::mem::swap(&mut *waiting, &mut self.taken);
        drop(waiting);
        if was_full {
            self.shared.room.notify_one();
        }
        self.taken.pop_front()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.is_abandoned.store(true, Ordering::Release);
        // unread requests are denied now, not when the turn has ended
        let unread = std::mem::take(&mut *self.shared.waiting());
        drop(unread);
        self.shared.room.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::{PendingPermission, PermissionRequest, TextDelta};

    fn delta(message: &str, text: &str) -> Event {
        Event::TextDelta(TextDelta::new(message, 0, text))
    }

    #[tokio::test]
    async fn deltas_of_one_block_are_joined_while_reader_is_idle() {
        let (sender, mut receiver) = queue();
        for text in ["a", "b", "c"] {
            sender.push(&mut VecDeque::from([delta("m", text)]));
        }
        sender.push(&mut VecDeque::from([delta("other", "d")]));
        drop(sender);
        assert_eq!(poll_fn(|context| receiver.poll_next(context)).await.unwrap().unwrap(), delta("m", "abc"));
        assert_eq!(
            poll_fn(|context| receiver.poll_next(context)).await.unwrap().unwrap(),
            delta("other", "d")
        );
        assert!(poll_fn(|context| receiver.poll_next(context)).await.is_none());
    }

    #[tokio::test]
    async fn full_queue_keeps_the_rest_until_there_is_room() {
        let (sender, mut receiver) = queue();
        let mut events: VecDeque<_> = (0..CAPACITY + 10).map(|n| delta(&n.to_string(), "x")).collect();
        sender.push(&mut events);
        assert_eq!(events.len(), 10);
        let waiting = tokio::spawn(async move {
            sender.room().await;
            sender.push(&mut events);
            events.len()
        });
        for n in 0..CAPACITY + 10 {
            let event = poll_fn(|context| receiver.poll_next(context)).await.unwrap().unwrap();
            assert_eq!(event, delta(&n.to_string(), "x"));
        }
        assert_eq!(waiting.await.unwrap(), 0);
    }

    #[tokio::test]
    async fn unread_request_is_dropped_with_the_reader() {
        let (sender, receiver) = queue();
        let request = || PendingPermission::new(PermissionRequest::new(Vec::new(), Vec::new()));
        let (unread, waiting) = request();
        sender.push(&mut VecDeque::from([Event::Permission(unread)]));
        drop(receiver);
        assert_eq!(waiting.answer().await, None);
        let (late, waiting) = request();
        sender.push(&mut VecDeque::from([Event::Permission(late)]));
        assert_eq!(waiting.answer().await, None);
    }

    #[tokio::test]
    async fn reader_that_leaves_frees_the_sender() {
        let (sender, receiver) = queue();
        sender.push(&mut (0..CAPACITY).map(|n| delta(&n.to_string(), "x")).collect());
        let waiting = tokio::spawn(async move {
            sender.room().await;
            sender.is_abandoned()
        });
        drop(receiver);
        assert!(waiting.await.unwrap());
    }
}
