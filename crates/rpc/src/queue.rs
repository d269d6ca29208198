//! The bounded queue under every connection: two lanes, each limited by count and by bytes, closable from both ends.
//!
//! Order within a lane is kept and nothing is dropped: who finds a lane full waits. The control lane is emptied first.
//! Knows nothing of frames, tasks or IO.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Notify, Semaphore, SemaphorePermit, TryAcquireError, watch};

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

/// The free places of one lane. Semaphores are fair, so waiting senders go on in the order they came.
#[derive(Debug)]
struct Room {
    messages: Semaphore,
    bytes: Semaphore,
    max_bytes: usize,
}

impl Room {
    fn new(bound: Bound) -> Self {
        let max_bytes = bound.bytes.clamp(1, u32::MAX as usize / 2);
        Self { messages: Semaphore::new(bound.messages.max(1)), bytes: Semaphore::new(max_bytes), max_bytes }
    }

    fn share(&self, weight: usize) -> u32 {
        u32::try_from(weight.min(self.max_bytes)).unwrap_or(u32::MAX / 2)
    }

    async fn take(&self, weight: usize) -> Result<[SemaphorePermit<'_>; 2], Gone> {
        let message = self.messages.acquire().await.map_err(|_closed| Gone)?;
        let bytes = self.bytes.acquire_many(self.share(weight)).await.map_err(|_closed| Gone)?;
        Ok([message, bytes])
    }

    fn try_take(&self, weight: usize) -> Result<[SemaphorePermit<'_>; 2], TryAcquireError> {
        Ok([self.messages.try_acquire()?, self.bytes.try_acquire_many(self.share(weight))?])
    }

    /// How many of `values`, from the first on, there is room for now.
    fn fitting<T>(&self, values: &VecDeque<(T, usize)>) -> Taken {
        let (messages, bytes) = (self.messages.available_permits(), self.bytes.available_permits());
        let mut fitting = Taken { messages: 0, shares: 0 };
        for (_, weight) in values.iter().take(messages) {
            let shares = fitting.shares + self.share(*weight) as usize;
            if shares > bytes {
                break;
            }
            fitting = Taken { messages: fitting.messages + 1, shares };
        }
        fitting
    }

    fn try_take_many(&self, wanted: Taken) -> Result<[SemaphorePermit<'_>; 2], TryAcquireError> {
        let permits = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let messages = self.messages.try_acquire_many(permits(wanted.messages))?;
        Ok([messages, self.bytes.try_acquire_many(permits(wanted.shares))?])
    }

    fn give_back(&self, taken: Taken) {
        self.messages.add_permits(taken.messages);
        self.bytes.add_permits(taken.shares);
    }

    fn taken<T>(&self, entries: &VecDeque<(T, usize)>) -> Taken {
        let shares = entries.iter().map(|(_, weight)| self.share(*weight) as usize).sum();
        Taken { messages: entries.len(), shares }
    }

    fn close(&self) {
        self.messages.close();
        self.bytes.close();
    }
}

/// Places that are taken, or free again.
#[derive(Clone, Copy)]
struct Taken {
    messages: usize,
    shares: usize,
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

    fn put(
        &self,
        lane: Lane,
        value: T,
        weight: usize,
        permits: [SemaphorePermit<'_>; 2],
    ) -> Result<(), Gone> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Gone);
        }
        permits.into_iter().for_each(SemaphorePermit::forget);
        state.bytes += weight;
        match lane {
            Lane::Control => state.control.push_back((value, weight)),
            Lane::Data => state.data.push_back((value, weight)),
        }
        drop(state);
        self.arrived.notify_one();
        Ok(())
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
        room.give_back(Taken { messages: 1, shares: room.share(weight) as usize });
        self.taken.notify_one();
        Popped::Value(value)
    }

    /// Puts in from `values` what there is room for now: one lock and one wake-up for many.
    fn put_many(&self, lane: Lane, values: &mut VecDeque<(T, usize)>) -> Result<(), Gone> {
        let room = self.room(lane);
        let mut state = self.state();
        let fitting = room.fitting(values);
        let permits = match room.try_take_many(fitting) {
            Ok(permits) => permits,
            // another sender was faster
            Err(TryAcquireError::NoPermits) => return Ok(()),
            Err(TryAcquireError::Closed) => return Err(Gone),
        };
        if state.is_closed {
            return Err(Gone);
        }
        permits.into_iter().for_each(SemaphorePermit::forget);
        state.bytes += values.iter().take(fitting.messages).map(|(_, weight)| weight).sum::<usize>();
        let moved = values.drain(..fitting.messages);
        match lane {
            Lane::Control => state.control.extend(moved),
            Lane::Data => state.data.extend(moved),
        }
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Takes out all there is, control lane first, by swapping instead of moving where possible.
    fn pop_all(&self, taken: &mut VecDeque<(T, usize)>) -> Popped<()> {
        let mut state = self.state();
        if state.control.is_empty() && state.data.is_empty() {
            return if state.is_closed { Popped::Closed } else { Popped::Empty };
        }
        state.bytes = 0;
        let control = self.control.taken(&state.control);
        let data = self.data.taken(&state.data);
        if taken.is_empty() {
            std::mem::swap(taken, &mut state.control);
        } else {
            taken.append(&mut state.control);
        }
        if taken.is_empty() {
            std::mem::swap(taken, &mut state.data);
        } else {
            taken.append(&mut state.data);
        }
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

enum Popped<T> {
    Value(T),
    Empty,
    Closed,
}

impl<T> Sender<T> {
    /// Puts `value` in when there is room. Not sent if the future is dropped before it is done.
    pub(crate) async fn send(&self, lane: Lane, value: T, weight: usize) -> Result<(), Gone> {
        let shared = &self.end.0;
        let permits = shared.room(lane).take(weight).await?;
        shared.put(lane, value, weight, permits)
    }

    /// Puts all of `values` in, each with its weight, as there is room. What was not sent when the future is dropped is still in `values`.
    pub(crate) async fn send_all(&self, lane: Lane, values: &mut VecDeque<(T, usize)>) -> Result<(), Gone> {
        let shared = &self.end.0;
        loop {
            shared.put_many(lane, values)?;
            let Some((_, weight)) = values.front() else { return Ok(()) };
            let permits = shared.room(lane).take(*weight).await?;
            if let Some((first, weight)) = values.pop_front() {
                shared.put(lane, first, weight, permits)?;
            }
        }
    }

    /// Puts `value` in if there is room now.
    pub(crate) fn try_send(&self, lane: Lane, value: T, weight: usize) -> Result<(), NotNow<T>> {
        let shared = &self.end.0;
        match shared.room(lane).try_take(weight) {
            Ok(permits) => shared.put(lane, value, weight, permits).map_err(|Gone| NotNow::Gone),
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
        loop {
            match self.shared.pop_all(taken) {
                Popped::Value(()) => return true,
                Popped::Closed => return false,
                Popped::Empty => self.shared.arrived.notified().await,
            }
        }
    }

    /// Takes all there are now, control lane first.
    pub(crate) fn try_recv_all(&mut self, taken: &mut VecDeque<(T, usize)>) {
        self.shared.pop_all(taken);
    }

    /// The next value, if one is there.
    pub(crate) fn try_recv(&mut self) -> Option<T> {
        match self.shared.pop() {
            Popped::Value(value) => Some(value),
            Popped::Empty | Popped::Closed => None,
        }
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
