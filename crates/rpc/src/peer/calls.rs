//! The calls of one side, shared between those who make them and the task that reads the answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use musher_wire::{Id, Json, Malformed, RpcError, Word};
use tokio::sync::{Notify, oneshot};

use crate::connection::Ending;
use crate::{Closed, Error, Pending, Settled};

pub(super) type Answer = Result<Json, Failure>;
type Waiter = oneshot::Sender<Answer>;

/// Why a call failed, as the reader knows it.
#[derive(Debug)]
pub(super) enum Failure {
    Refused(RpcError),
    Malformed(Malformed),
    Closed(Closed),
}

impl Failure {
    pub(super) fn of(self, method: Word) -> Error {
        match self {
            Self::Refused(source) => Error::Rpc { method, source },
            Self::Malformed(malformed) => Error::Malformed { method, malformed: Box::new(malformed) },
            Self::Closed(closed) => Error::Closed(closed),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    state: Mutex<State>,
    /// Wakes the reader when somebody begins to wait.
    began: Notify,
    ending: Ending,
}

#[derive(Debug, Default)]
struct State {
    pending: Pending<Waiter>,
    closed: Option<Closed>,
    /// How many wait for the end of the connection.
    waiting_for_end: usize,
}

impl Calls {
    /// Adds a call, unless the connection is over.
    pub(super) fn insert(&self, id: Id, waiter: Waiter, watcher: Option<Waiter>) -> Result<(), Closed> {
        let mut state = self.state();
        if let Some(closed) = &state.closed {
            return Err(closed.clone());
        }
        match watcher {
            Some(watcher) => state.pending.insert_watched(id, waiter, watcher),
            None => state.pending.insert(id, waiter),
        }
        drop(state);
        self.began.notify_one();
        Ok(())
    }

    pub(super) fn settle(&self, id: &Id, is_error: bool) -> Settled<Waiter> {
        self.state().pending.settle(id, is_error)
    }

    pub(super) fn settle_the_only(&self) -> Option<Waiter> {
        self.state().pending.settle_the_only()
    }

    /// Fails all who wait, now and later, with one reason.
    pub(super) fn close(&self, reason: &Closed) {
        let waiters = {
            let mut state = self.state();
            state.closed.get_or_insert_with(|| reason.clone());
            state.pending.take_all()
        };
        for waiter in waiters {
            // a caller that is gone needs no answer
            waiter.send(Err(Failure::Closed(reason.clone()))).ok();
        }
        self.ending.settle(reason.clone());
    }

    /// Waits for the end of the connection.
    pub(super) async fn closed(&self) -> Closed {
        self.state().waiting_for_end += 1;
        self.began.notify_one();
        let _counted = WaitingForEnd(self);
        self.ending.wait().await
    }

    /// Whether somebody waits for what only the reader can bring.
    pub(super) fn is_anybody_waiting(&self) -> bool {
        let state = self.state();
        !state.pending.is_empty() || state.waiting_for_end > 0
    }

    /// Waits until somebody has begun to wait since the last call. For the reader only.
    pub(super) async fn began(&self) {
        self.began.notified().await;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // no code panics while it holds the lock
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct WaitingForEnd<'a>(&'a Calls);

impl Drop for WaitingForEnd<'_> {
    fn drop(&mut self) {
        self.0.state().waiting_for_end -= 1;
    }
}

/// Takes a call out of the table when it is dropped, if it is still there.
#[derive(Debug)]
pub(super) struct Forget {
    calls: Arc<Calls>,
    id: Id,
}

impl Forget {
    pub(super) fn new(calls: &Arc<Calls>, id: Id) -> Self {
        Self { calls: Arc::clone(calls), id }
    }

    pub(super) fn id(&self) -> &Id {
        &self.id
    }
}

impl Drop for Forget {
    fn drop(&mut self) {
        self.calls.state().pending.forget(&self.id);
    }
}
