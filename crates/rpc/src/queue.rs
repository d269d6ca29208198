//! The bounded queue under every connection: two lanes, each limited by count and by bytes, closable from both ends.
//!
//! Order within a lane is kept and nothing is dropped: who finds a lane full waits. The control lane is emptied first.
//! Knows nothing of frames, tasks or IO.

mod room;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Notify, TryAcquireError, watch};

use room::{Held, Places, Room};

/// Which frames may overtake which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Overtakes what waits in the other lane.
    Control,
    /// In order with everything else that is sent this way.
    Data,
}

/// How much may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// At most this many messages.
    pub messages: usize,
    /// At most this many bytes, roughly. A single larger message passes alone.
    pub bytes: usize,
}

/// The queue was closed: the value is given up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Gone;

/// Why a value was not taken at once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotNow<T> {
    /// There is no room for it.
    Full(T),
    Gone,
}

pub(crate) fn queue<T>(control: Bound, data: Bound) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            control: VecDeque::new(),
            data: VecDeque::new(),
            bytes: 0,
            is_closed: false,
        }),
        control: Room::new(control),
        data: Room::new(data),
        arrived: Notify::new(),
        taken: Notify::new(),
        is_receiver_gone: watch::Sender::new(false),
    });
    (Sender { end: Arc::new(SendingEnd(Arc::clone(&shared))) }, Receiver { shared })
}

/// The end values are put in. The queue is closed when the last clone is gone.
#[derive(Debug)]
pub(crate) struct Sender<T> {
    end: Arc<SendingEnd<T>>,
}

/// A sender that does not keep the queue open.
#[derive(Debug, Clone)]
pub(crate) struct WeakSender<T> {
    end: Weak<SendingEnd<T>>,
}

/// The end values come out of.
#[derive(Debug)]
pub(crate) struct Receiver<T> {
    shared: Arc<Shared<T>>,
}

#[derive(Debug)]
struct SendingEnd<T>(Arc<Shared<T>>);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    control: Room,
    data: Room,
    /// Wakes the one receiver; a wake-up that finds it busy is kept.
    arrived: Notify,
    /// Wakes the one task that waits for the queue to get shorter.
    taken: Notify,
    is_receiver_gone: watch::Sender<bool>,
}

#[derive(Debug)]
struct State<T> {
    control: VecDeque<(T, usize)>,
    data: VecDeque<(T, usize)>,
    bytes: usize,
    is_closed: bool,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        // no code panics while it holds the lock, and a half-done change is not possible
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn room(&self, lane: Lane) -> &Room {
        match lane {
            Lane::Control => &self.control,
            Lane::Data => &self.data,
        }
    }

    fn put(&self, lane: Lane, value: T, weight: usize, places: Held<'_>) -> Result<(), Gone> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Gone);
        }
        places.use_up();
        state.bytes += weight;
        state.lane(lane).push_back((value, weight));
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Puts the first of `values` in, as many as have their place.
    fn put_many(
        &self,
        lane: Lane,
        values: &mut VecDeque<(T, usize)>,
        count: usize,
        places: Held<'_>,
    ) -> Result<(), Gone> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Gone);
        }
        places.use_up();
        state.bytes += values.iter().take(count).map(|(_, weight)| weight).sum::<usize>();
        state.lane(lane).extend(values.drain(..count));
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Puts in from `values` what there is room for now: one lock and one wake-up for many.
    fn put_fitting(&self, lane: Lane, values: &mut VecDeque<(T, usize)>) -> Result<(), Gone> {
        let room = self.room(lane);
        let fitting = room.fitting(weights(values));
        match room.try_take(fitting) {
            Ok(_none) if fitting.messages == 0 => Ok(()),
            Ok(places) => self.put_many(lane, values, fitting.messages, places),
            // another sender was faster
            Err(TryAcquireError::NoPermits) => Ok(()),
            Err(TryAcquireError::Closed) => Err(Gone),
        }
    }

    fn pop(&self) -> Popped<T> {
        let mut state = self.state();
        let (lane, (value, weight)) = if let Some(first) = state.control.pop_front() {
            (Lane::Control, first)
        } else if let Some(first) = state.data.pop_front() {
            (Lane::Data, first)
        } else {
            return if state.is_closed { Popped::Closed } else { Popped::Empty };
        };
        state.bytes -= weight;
        drop(state);
        let room = self.room(lane);
        room.give_back(room.one(weight));
        self.taken.notify_one();
        Popped::Value(value)
    }

    /// Adds to `taken` what there is, control lane first, until it is `enough` bytes; by swapping instead of moving where possible.
    fn pop_many(&self, taken: &mut VecDeque<(T, usize)>, enough: usize) -> Popped<()> {
        let mut state = self.state();
        if state.control.is_empty() && state.data.is_empty() {
            return if state.is_closed { Popped::Closed } else { Popped::Empty };
        }
        let mut left = enough;
        let [control, data] = [Lane::Control, Lane::Data].map(|lane| {
            let (room, waiting) = (self.room(lane), state.lane(lane));
            let (mut places, mut bytes) = (Places::default(), 0);
            for weight in weights(waiting) {
                if left == 0 {
                    break;
                }
                left = left.saturating_sub(weight.max(1));
                (places, bytes) = (places.and(room.one(weight)), bytes + weight);
            }
            if places.messages == waiting.len() && taken.is_empty() {
                std::mem::swap(taken, waiting);
            } else {
                taken.extend(waiting.drain(..places.messages));
            }
            state.bytes -= bytes;
            places
        });
        drop(state);
        self.control.give_back(control);
        self.data.give_back(data);
        self.taken.notify_one();
        Popped::Value(())
    }

    fn close(&self) {
        self.state().is_closed = true;
        self.control.close();
        self.data.close();
        self.arrived.notify_one();
        self.taken.notify_one();
    }
}

impl<T> State<T> {
    fn lane(&mut self, lane: Lane) -> &mut VecDeque<(T, usize)> {
        match lane {
            Lane::Control => &mut self.control,
            Lane::Data => &mut self.data,
        }
    }
}

fn weights<T>(values: &VecDeque<(T, usize)>) -> impl Iterator<Item = usize> {
    values.iter().map(|(_, weight)| *weight)
}

enum Popped<T> {
    Value(T),
    Empty,
    Closed,
}

impl<T> Sender<T> {
    /// Puts `value` in when there is room. Not sent if the future is dropped before it is done.
    pub(crate) async fn send(&self, lane: Lane, value: T, weight: usize) -> Result<(), Gone> {
        let shared = &self.end.0;
        let room = shared.room(lane);
        let places = room.take(room.one(weight)).await?;
        shared.put(lane, value, weight, places)
    }

    /// Puts all of `values` in, each with its weight, as there is room. What was not sent when the future is dropped is still in `values`.
    pub(crate) async fn send_all(&self, lane: Lane, values: &mut VecDeque<(T, usize)>) -> Result<(), Gone> {
        let shared = &self.end.0;
        let room = shared.room(lane);
        loop {
            shared.put_fitting(lane, values)?;
            let Some((_, first)) = values.front() else { return Ok(()) };
            let portion = room.portion(*first, weights(values));
            let places = room.take(portion).await?;
            shared.put_many(lane, values, portion.messages, places)?;
        }
    }

    /// Puts `value` in if there is room now.
    pub(crate) fn try_send(&self, lane: Lane, value: T, weight: usize) -> Result<(), NotNow<T>> {
        let shared = &self.end.0;
        let room = shared.room(lane);
        match room.try_take(room.one(weight)) {
            Ok(places) => shared.put(lane, value, weight, places).map_err(|Gone| NotNow::Gone),
            Err(TryAcquireError::NoPermits) => Err(NotNow::Full(value)),
            Err(TryAcquireError::Closed) => Err(NotNow::Gone),
        }
    }

    /// Takes nothing more, from any clone. What is in stays and can be received.
    pub(crate) fn close(&self) {
        self.end.0.close();
    }

    /// Whether nothing more is taken.
    pub(crate) fn is_closed(&self) -> bool {
        self.end.0.state().is_closed
    }

    /// Waits until nobody receives any more.
    pub(crate) async fn receiver_gone(&self) {
        let mut gone = self.end.0.is_receiver_gone.subscribe();
        // fails only if the sending half of the watch is gone, which lives as long as we do
        gone.wait_for(|is_gone| *is_gone).await.ok();
    }

    /// Whether nobody receives any more.
    pub(crate) fn is_receiver_gone(&self) -> bool {
        *self.end.0.is_receiver_gone.borrow()
    }

    /// Whether less than `bound` waits.
    pub(crate) fn is_below(&self, bound: Bound) -> bool {
        let state = self.end.0.state();
        state.control.len() + state.data.len() < bound.messages && state.bytes < bound.bytes
    }

    /// Waits until a value was taken out since the last call, or the queue was closed. For one task only.
    pub(crate) async fn taken(&self) {
        self.end.0.taken.notified().await;
    }

    pub(crate) fn downgrade(&self) -> WeakSender<T> {
        WeakSender { end: Arc::downgrade(&self.end) }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { end: Arc::clone(&self.end) }
    }
}

impl<T> WeakSender<T> {
    pub(crate) fn upgrade(&self) -> Option<Sender<T>> {
        self.end.upgrade().map(|end| Sender { end })
    }
}

impl<T> Receiver<T> {
    /// The next value, control lane first; `None` when the queue is closed and empty. Loses nothing if dropped.
    pub(crate) async fn recv(&mut self) -> Option<T> {
        loop {
            match self.shared.pop() {
                Popped::Value(value) => return Some(value),
                Popped::Closed => return None,
                Popped::Empty => self.shared.arrived.notified().await,
            }
        }
    }

    /// Waits for a value and takes all there are, control lane first; false when the queue is closed and empty.
    pub(crate) async fn recv_all(&mut self, taken: &mut VecDeque<(T, usize)>) -> bool {
        self.recv_many(taken, usize::MAX).await
    }

    /// Waits for a value and takes what there is, control lane first, until it is `enough` bytes; false when the queue is closed and empty.
    pub(crate) async fn recv_many(&mut self, taken: &mut VecDeque<(T, usize)>, enough: usize) -> bool {
        loop {
            match self.shared.pop_many(taken, enough) {
                Popped::Value(()) => return true,
                Popped::Closed => return false,
                Popped::Empty => self.shared.arrived.notified().await,
            }
        }
    }

    /// Takes what there is now, control lane first, until it is `enough` bytes; false if there is nothing.
    pub(crate) fn try_recv_many(&mut self, taken: &mut VecDeque<(T, usize)>, enough: usize) -> bool {
        matches!(self.shared.pop_many(taken, enough), Popped::Value(()))
    }
}

impl<T> Drop for SendingEnd<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.close();
        let (control, data) = {
            let mut state = self.shared.state();
            state.bytes = 0;
            (std::mem::take(&mut state.control), std::mem::take(&mut state.data))
        };
        // dropped outside the lock: a value may own the sending end of this very queue
        drop((control, data));
        self.shared.is_receiver_gone.send_replace(true);
    }
}

#[cfg(test)]
mod tests;
