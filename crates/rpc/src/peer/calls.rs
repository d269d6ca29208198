//! The pending calls of one side, shared between the callers and the task that reads the responses.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use musher_wire::{Id, Json, Malformed, RpcError, Word};
use tokio::sync::{Notify, SetOnce, oneshot};

use super::pending::{Pending, Settled};
use crate::{Closed, Error};

pub(super) type Outcome = Result<Json, Failure>;
type Waiter = oneshot::Sender<Outcome>;

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

impl From<Closed> for Failure {
    fn from(closed: Closed) -> Self {
        Self::Closed(closed)
    }
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    state: Mutex<State>,
    /// Wakes the reader when a call becomes pending.
    began: Notify,
    closed: SetOnce<Closed>,
}

#[derive(Debug, Default)]
struct State {
    pending: Pending<Waiter>,
    /// The number of tasks that wait for the end of the connection.
    waiting_for_end: usize,
}

impl Calls {
    /// Adds a call, unless the connection is closed. The call is removed when the guard is dropped.
    pub(super) fn insert(
        self: &Arc<Self>,
        id: Id,
        waiter: Waiter,
        watcher: Option<Waiter>,
    ) -> Result<CallGuard, Closed> {
        let mut state = self.state();
        // set under the lock, so a call is either refused here or failed by `close`
        if let Some(closed) = self.closed.get() {
            return Err(closed.clone());
        }
        state.pending.insert(id.clone(), waiter, watcher);
        drop(state);
        self.began.notify_one();
        Ok(CallGuard { calls: Arc::clone(self), id })
    }

    pub(super) fn settle(&self, id: &Id, is_error: bool) -> Settled<Waiter> {
        self.state().pending.settle(id, is_error)
    }

    pub(super) fn settle_only(&self) -> Option<Waiter> {
        self.state().pending.settle_only()
    }

    /// Fails all pending and all later calls with one reason.
    pub(super) fn close(&self, reason: &Closed) {
        let waiters = {
            let mut state = self.state();
            self.closed.set(reason.clone()).ok();
            state.pending.take_all()
        };
        for waiter in waiters {
            // a caller that is gone needs no response
            waiter.send(Err(Failure::Closed(reason.clone()))).ok();
        }
    }

    /// Waits for the end of the connection.
    pub(super) async fn closed(&self) -> Closed {
        self.state().waiting_for_end += 1;
        self.began.notify_one();
        let _counted = WaitingForEnd(self);
        self.closed.wait().await.clone()
    }

    /// Waits until a call is pending, or a task waits for the end: only the reader can bring either. For the reader only.
    pub(super) async fn any_pending(&self) {
        let is_any = || {
            let state = self.state();
            !state.pending.is_empty() || state.waiting_for_end > 0
        };
        while !is_any() {
            self.began.notified().await;
        }
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

/// Removes a call when it is dropped, if it is still pending.
#[derive(Debug)]
pub(super) struct CallGuard {
    calls: Arc<Calls>,
    id: Id,
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.calls.state().pending.forget(&self.id);
    }
}
