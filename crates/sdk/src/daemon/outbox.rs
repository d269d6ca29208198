//! The messages that wait for one session: bounded, so that a slow reader costs a fixed amount of memory and delays no other session.
//!
//! The bound is where the link stops adding notifications. What is added with the message that crossed it, and the responses to calls, still fit.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use musher_rpc::{Bound, Closed};
use musher_wire::Frame;
use tokio::sync::Notify;

/// The default bound of a session.
pub(super) const BOUND: Bound = Bound { messages: 4096, bytes: 8 * 1024 * 1024 };

/// The queue of one session. Clones are the same queue.
#[derive(Debug, Clone)]
pub(super) struct Outbox {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
    bound: Bound,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<(Frame, usize)>,
    bytes: usize,
    closed: Option<Closed>,
    /// Nothing was added since it was full; the reader tells when it is empty.
    was_full: bool,
}

/// What the reader gets.
#[derive(Debug)]
pub(super) enum Taken {
    Frame(Frame),
    /// Everything is read after the queue was full.
    Drained,
    Closed(Closed),
}

impl Outbox {
    pub(super) fn new(bound: Bound) -> Self {
        Self { shared: Arc::new(Shared { state: Mutex::default(), changed: Notify::new(), bound }) }
    }

    /// Adds a message. Returns whether the queue is over its bound.
    pub(super) fn push(&self, frame: Frame) -> bool {
        let weight = weight(&frame);
        let mut state = self.state();
        state.bytes += weight;
        state.frames.push_back((frame, weight));
        let Bound { messages, bytes } = self.shared.bound;
        let is_full = state.frames.len() > messages || state.bytes > bytes;
        state.was_full |= is_full;
        drop(state);
        self.shared.changed.notify_one();
        is_full
    }

    /// Adds nothing more; what is there can still be read.
    pub(super) fn close(&self, why: Closed) {
        self.state().closed.get_or_insert(why);
        self.shared.changed.notify_one();
    }

    /// Waits for the next message. For one reader.
    pub(super) async fn take(&self) -> Taken {
        loop {
            let changed = self.shared.changed.notified();
            if let Some(taken) = self.state().take() {
                return taken;
            }
            changed.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // no code panics while it holds the lock
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self) -> Option<Taken> {
        if let Some((frame, weight)) = self.frames.pop_front() {
            self.bytes -= weight;
            return Some(Taken::Frame(frame));
        }
        if std::mem::take(&mut self.was_full) {
            return Some(Taken::Drained);
        }
        self.closed.clone().map(Taken::Closed)
    }
}

/// Returns roughly how much memory a message takes.
fn weight(frame: &Frame) -> usize {
    let payload = match frame {
        Frame::Request(request) => request.params.as_ref().map_or(0, |params| params.text().len()),
        Frame::Notification(notification) => {
            notification.params.as_ref().map_or(0, |params| params.text().len())
        }
        Frame::Response(response) => response.outcome.as_ref().map_or(0, |result| result.text().len()),
        Frame::Malformed(malformed) => malformed.raw.len(),
    };
    payload + 256
}

#[cfg(test)]
mod tests {
    use musher_wire::{Json, Notification};

    use super::*;

    fn frame() -> Frame {
        Frame::Notification(Notification::new("n", Json::empty_object()))
    }

    #[tokio::test]
    async fn reader_of_a_full_queue_gets_everything_and_learns_when_it_is_empty() {
        let outbox = Outbox::new(Bound { messages: 2, bytes: 1024 * 1024 });
        assert!(!outbox.push(frame()));
        assert!(!outbox.push(frame()));
        assert!(outbox.push(frame()));
        for _ in 0..3 {
            assert!(matches!(outbox.take().await, Taken::Frame(_)));
        }
        assert!(matches!(outbox.take().await, Taken::Drained));
        assert!(!outbox.push(frame()));
        outbox.close(Closed::Ended);
        assert!(matches!(outbox.take().await, Taken::Frame(_)));
        assert!(matches!(outbox.take().await, Taken::Closed(_)));
    }

    #[test]
    fn queue_is_bounded_in_bytes() {
        let outbox = Outbox::new(Bound { messages: 1000, bytes: 1000 });
        assert!(!outbox.push(frame()));
        assert_eq!((0..10).filter(|_| outbox.push(frame())).count(), 8);
    }
}
