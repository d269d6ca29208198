//! The table of calls that wait for an answer. A data structure: no task, no clock, no channel.
//!
//! It settles by id, knows answers that come twice or too late, and keeps the rule for errors without an id.

use std::collections::{HashMap, VecDeque};

use musher_wire::Id;

/// How many settled ids are remembered, to tell a second answer from one to a question never asked.
const REMEMBERED: usize = 256;

/// Calls by id, each with someone who waits (`W`).
///
/// ```
/// use musher_rpc::{Pending, Settled};
///
/// let mut pending = Pending::new();
/// pending.insert("1".into(), "first caller");
/// assert_eq!(pending.settle(&"1".into(), false), Settled::Answer("first caller"));
/// assert_eq!(pending.settle(&"1".into(), false), Settled::Duplicate);
/// assert_eq!(pending.settle(&"2".into(), false), Settled::Unknown);
/// ```
#[derive(Debug)]
pub struct Pending<W> {
    waiting: HashMap<Id, Call<W>>,
    /// Calls that were answered well, and whose owner wants to hear of a later error.
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

/// What an answer belongs to.
#[derive(Debug, PartialEq, Eq)]
pub enum Settled<W> {
    /// The first answer to a call: give it to this one.
    Answer(W),
    /// An error after the call had been answered well: give it to this one, who asked for that.
    LateError(W),
    /// Another answer to a call that was answered before.
    Duplicate,
    /// An answer to a call nobody waits for any more.
    GivenUp,
    /// An answer to a call that was never made, or long ago.
    Unknown,
}

impl<W> Pending<W> {
    /// A table without calls.
    pub fn new() -> Self {
        Self { waiting: HashMap::new(), watched: HashMap::new(), settled: VecDeque::new() }
    }

    /// Adds a call.
    pub fn insert(&mut self, id: Id, waiter: W) {
        self.waiting.insert(id, Call { waiter, watcher: None });
    }

    /// Adds a call that may fail after it was answered well: the `watcher` gets the first such error.
    ///
    /// droid answers `add_user_message` without a session twice, with a result and then with an error. Both are known from the
    /// start, because the second may come right behind the first.
    pub fn insert_watched(&mut self, id: Id, waiter: W, watcher: W) {
        self.waiting.insert(id, Call { waiter, watcher: Some(watcher) });
    }

    /// Finds who an answer is for.
    pub fn settle(&mut self, id: &Id, is_error: bool) -> Settled<W> {
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

    /// Finds who an error without an id is for: the only call that waits, if there is exactly one.
    pub fn settle_the_only(&mut self) -> Option<W> {
        if self.waiting.len() != 1 {
            return None;
        }
        let id = self.waiting.keys().next().cloned()?;
        match self.settle(&id, true) {
            Settled::Answer(waiter) => Some(waiter),
            _ => None,
        }
    }

    /// Nobody waits for this call any more, nor for a later error of it.
    pub fn forget(&mut self, id: &Id) {
        self.watched.remove(id);
        if let Some((id, _)) = self.waiting.remove_entry(id) {
            self.remember(id, Fate::GivenUp);
        }
    }

    /// Takes out all who wait, for the end of the connection.
    pub fn take_all(&mut self) -> impl Iterator<Item = W> + use<W> {
        let waiting = std::mem::take(&mut self.waiting).into_values();
        let watched = std::mem::take(&mut self.watched).into_values();
        waiting.flat_map(|call| [Some(call.waiter), call.watcher]).flatten().chain(watched)
    }

    /// How many calls wait for their first answer.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no call waits for its first answer.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn remember(&mut self, id: Id, fate: Fate) {
        if self.settled.len() == REMEMBERED {
            self.settled.pop_front();
        }
        self.settled.push_back((id, fate));
    }
}

impl<W> Default for Pending<W> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
