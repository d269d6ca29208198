//! The free places of one lane of a queue, counted in messages and in bytes.
//!
//! Semaphores are fair, so waiting senders go on in the order they came.

use tokio::sync::{Semaphore, SemaphorePermit, TryAcquireError};

use super::{Bound, Gone};

#[derive(Debug)]
pub(super) struct Room {
    messages: Semaphore,
    bytes: Semaphore,
    max: Places,
}

/// Places that are wanted, taken, or free again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) messages: usize,
    bytes: usize,
}

/// Places that are held. Free again when dropped, unless they were [used](Held::use_up).
#[derive(Debug)]
pub(super) struct Held<'a>([SemaphorePermit<'a>; 2]);

impl Held<'_> {
    /// The places are taken until they are given back.
    pub(super) fn use_up(self) {
        self.0.into_iter().for_each(SemaphorePermit::forget);
    }
}

impl Room {
    pub(super) fn new(bound: Bound) -> Self {
        // a semaphore is asked for no more than a `u32` at once
        let limit = |wanted: usize| wanted.clamp(1, u32::MAX as usize / 2);
        let max = Places { messages: limit(bound.messages), bytes: limit(bound.bytes) };
        Self { messages: Semaphore::new(max.messages), bytes: Semaphore::new(max.bytes), max }
    }

    /// What one message takes. A very large one takes all the bytes, so that it passes alone.
    pub(super) fn one(&self, weight: usize) -> Places {
        Places { messages: 1, bytes: weight.min(self.max.bytes) }
    }

    /// What those of them take, from the first on, that there is room for now.
    pub(super) fn fitting(&self, weights: impl Iterator<Item = usize>) -> Places {
        let free =
            Places { messages: self.messages.available_permits(), bytes: self.bytes.available_permits() };
        self.within(free, weights)
    }

    /// What those of them take, from the first on, that are worth waiting for together: at least one, and a quarter of the room at most,
    /// so that neither every message is waited for by itself, nor a reader waits for a queue that has run empty.
    pub(super) fn portion(&self, first: usize, weights: impl Iterator<Item = usize>) -> Places {
        let quarter = Places { messages: self.max.messages / 4, bytes: self.max.bytes / 4 };
        let portion = self.within(quarter, weights);
        if portion.messages == 0 { self.one(first) } else { portion }
    }

    fn within(&self, limit: Places, weights: impl Iterator<Item = usize>) -> Places {
        let mut fitting = Places::default();
        for weight in weights {
            let more = fitting.and(self.one(weight));
            if more.messages > limit.messages || more.bytes > limit.bytes {
                break;
            }
            fitting = more;
        }
        fitting
    }

    pub(super) async fn take(&self, wanted: Places) -> Result<Held<'_>, Gone> {
        let [messages, bytes] = wanted.permits();
        let messages = self.messages.acquire_many(messages).await.map_err(|_closed| Gone)?;
        let bytes = self.bytes.acquire_many(bytes).await.map_err(|_closed| Gone)?;
        Ok(Held([messages, bytes]))
    }

    pub(super) fn try_take(&self, wanted: Places) -> Result<Held<'_>, TryAcquireError> {
        let [messages, bytes] = wanted.permits();
        Ok(Held([self.messages.try_acquire_many(messages)?, self.bytes.try_acquire_many(bytes)?]))
    }

    pub(super) fn give_back(&self, taken: Places) {
        if taken.messages > 0 {
            self.messages.add_permits(taken.messages);
            self.bytes.add_permits(taken.bytes);
        }
    }

    pub(super) fn close(&self) {
        self.messages.close();
        self.bytes.close();
    }
}

impl Places {
    pub(super) fn and(self, more: Self) -> Self {
        Self { messages: self.messages + more.messages, bytes: self.bytes + more.bytes }
    }

    /// Never more than there are in the room, so they fit.
    fn permits(self) -> [u32; 2] {
        [self.messages, self.bytes].map(|count| u32::try_from(count).unwrap_or(u32::MAX))
    }
}
