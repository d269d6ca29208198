//! The table of calls that wait for their response. A data structure: no task, no clock, no channel.
//!
//! It settles calls by id, recognises responses that come twice or too late, and has the rule for errors without an id.

use std::collections::{HashMap, VecDeque};

use musher_wire::Id;

/// How many settled ids are remembered, to tell a second response from one to an unknown call.
const MAX_REMEMBERED: usize = 256;

/// Calls by id, each with its waiting caller (`W`).
#[derive(Debug)]
pub(super) struct Pending<W> {
    waiting: HashMap<Id, Call<W>>,
    /// Watchers of calls that succeeded.
    watched: HashMap<Id, W>,
    /// The oldest first.
    settled: VecDeque<(Id, Fate)>,
}

#[derive(Debug)]
struct Call<W> {
    waiter: W,
    watcher: Option<W>,
}

#[derive(Debug, Clone, Copy)]
enum Fate {
    Answered,
    GivenUp,
}

/// What a response belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Settled<W> {
    /// The first response to a call, for its caller.
    Answer(W),
    /// An error after the call had succeeded, for its watcher.
    LateError(W),
    /// Another response to a call that was answered before.
    Duplicate,
    /// A response to a call whose caller no longer waits.
    GivenUp,
    /// A response to a call that was never made, or long ago.
    Unknown,
}

impl<W> Pending<W> {
    /// Adds a call. If the call may fail after it succeeded, its `watcher` gets the first such error.
    ///
    /// droid answers `add_user_message` without a session twice, with a result and then with an error. The watcher is added
    /// with the call, because the error may come right behind the result.
    pub(super) fn insert(&mut self, id: Id, waiter: W, watcher: Option<W>) {
        self.waiting.insert(id, Call { waiter, watcher });
    }

    /// Finds the caller of a response.
    pub(super) fn settle(&mut self, id: &Id, is_error: bool) -> Settled<W> {
        if let Some((id, call)) = self.waiting.remove_entry(id) {
            if let Some(watcher) = call.watcher.filter(|_| !is_error) {
                self.watched.insert(id.clone(), watcher);
            }
            self.remember(id, Fate::Answered);
            return Settled::Answer(call.waiter);
        }
        if is_error && let Some(watcher) = self.watched.remove(id) {
            return Settled::LateError(watcher);
        }
        match self.settled.iter().rfind(|(settled, _)| settled == id) {
            Some((_, Fate::Answered)) => Settled::Duplicate,
            Some((_, Fate::GivenUp)) => Settled::GivenUp,
            None => Settled::Unknown,
        }
    }

    /// Finds the caller of an error without an id: the only pending call, if there is exactly one.
    pub(super) fn settle_only(&mut self) -> Option<W> {
        if self.waiting.len() != 1 {
            return None;
        }
        let (id, call) = self.waiting.drain().next()?;
        self.remember(id, Fate::Answered);
        Some(call.waiter)
    }

    /// Removes a call whose caller no longer waits, and its watcher.
    pub(super) fn forget(&mut self, id: &Id) {
        self.watched.remove(id);
        if let Some((id, _)) = self.waiting.remove_entry(id) {
            self.remember(id, Fate::GivenUp);
        }
    }

    /// Removes all callers and watchers, at the end of the connection.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = W> + use<W> {
        let waiting = std::mem::take(&mut self.waiting).into_values();
        let watched = std::mem::take(&mut self.watched).into_values();
        waiting.flat_map(|call| [Some(call.waiter), call.watcher]).flatten().chain(watched)
    }

    /// Returns whether no call waits for its first response.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn remember(&mut self, id: Id, fate: Fate) {
        if self.settled.len() == MAX_REMEMBERED {
            self.settled.pop_front();
        }
        self.settled.push_back((id, fate));
    }
}

impl<W> Default for Pending<W> {
    fn default() -> Self {
        Self { waiting: HashMap::new(), watched: HashMap::new(), settled: VecDeque::new() }
    }
}

#[cfg(test)]
mod tests;
