//! Whether the agent takes work, finishes what it has, or ends, and what holds up the next prompt. Pure: time is an argument.

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::command::{Reply, Ticket};

/// The life of an agent.
#[derive(Default)]
pub(super) struct Lifecycle {
    ending: Ending,
    starting: Option<Starting>,
    is_closing: bool,
    sessions: u64,
}

/// A session whose first hooks run: nothing is begun in it before they are over.
pub(super) struct Starting {
    /// Ends them.
    pub(super) cancel: CancellationToken,
    /// The reply to the command that opened the session, sent when they are over.
    pub(super) then: Option<(Ticket, Reply)>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Ending {
    #[default]
    No,
    /// No more input: end when the turn has ended, but not later than this.
    Drain(Instant),
    /// Only what is in the outbox, but not longer than this.
    Stop(Instant),
    Now,
}

impl Lifecycle {
    /// Whether commands are taken.
    pub(super) fn takes_commands(&self) -> bool {
        self.ending == Ending::No
    }

    /// Whether nobody can answer questions any more, although the turn still runs.
    pub(super) fn nobody_answers(&self) -> bool {
        matches!(self.ending, Ending::Drain(_))
    }

    /// Whether the next prompt may begin: hooks of a session that opens or closes run before it.
    pub(super) fn takes_prompts(&self) -> bool {
        !self.is_held_up() && matches!(self.ending, Ending::No | Ending::Drain(_))
    }

    fn is_held_up(&self) -> bool {
        self.starting.is_some() || self.is_closing
    }

    /// No more input comes. Returns whether that is new.
    pub(super) fn drain(&mut self, until: Instant) -> bool {
        let is_new = self.ending == Ending::No;
        if is_new {
            self.ending = Ending::Drain(until);
        }
        is_new
    }

    /// The agent stops. Returns whether that is new.
    pub(super) fn stop(&mut self, until: Instant) -> bool {
        let is_new = !matches!(self.ending, Ending::Stop(_) | Ending::Now);
        if is_new {
            self.ending = Ending::Stop(until);
        }
        is_new
    }

    /// The agent ends now: nobody reads its events.
    pub(super) fn end(&mut self) {
        self.ending = Ending::Now;
    }

    /// No turn runs and no prompt waits: an agent without input stops.
    pub(super) fn idle(&mut self, until: Instant) {
        if self.nobody_answers() && !self.is_held_up() {
            self.ending = Ending::Stop(until);
        }
    }

    /// A deadline has passed. Returns whether the turn must be stopped.
    pub(super) fn is_late(&mut self, now: Instant) -> bool {
        match self.ending {
            Ending::Drain(until) => now >= until,
            Ending::Stop(until) if now >= until => {
                self.ending = Ending::Now;
                false
            }
            _ => false,
        }
    }

    /// Whether the agent's task returns, given whether it has nothing to do and nothing to tell.
    pub(super) fn is_at_end(&self, is_done: bool) -> bool {
        match self.ending {
            Ending::Now => true,
            Ending::Stop(_) => is_done,
            Ending::No | Ending::Drain(_) => false,
        }
    }

    /// When [`is_late`](Self::is_late) has to be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.ending {
            Ending::No | Ending::Now => None,
            Ending::Drain(until) | Ending::Stop(until) => Some(until),
        }
    }

    /// The number of a session that is opened now.
    pub(super) fn next_session(&mut self) -> u64 {
        self.sessions += 1;
        self.sessions
    }

    /// The first hooks of a session begin.
    pub(super) fn start(&mut self, starting: Starting) {
        self.starting = Some(starting);
    }

    /// Whether they run.
    pub(super) fn is_starting(&self) -> bool {
        self.starting.is_some()
    }

    /// Cancels them. Their end comes back as an input.
    pub(super) fn cancel_start(&self) {
        if let Some(starting) = &self.starting {
            starting.cancel.cancel();
        }
    }

    /// They are over, or not waited for any longer. Returns the reply that has waited for them.
    pub(super) fn started(&mut self) -> Option<(Ticket, Reply)> {
        let starting = self.starting.take()?;
        starting.cancel.cancel();
        starting.then
    }

    /// The last hooks of the session begin.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
    }

    /// They are over.
    pub(super) fn closed(&mut self) {
        self.is_closing = false;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_agent_without_input_finishes_its_prompts_and_stops() {
        let now = Instant::now();
        let mut life = Lifecycle::default();
        assert!(life.takes_commands() && life.takes_prompts() && life.deadline().is_none());
        assert!(life.drain(now) && !life.drain(now));
        assert!(!life.takes_commands() && life.takes_prompts() && life.nobody_answers());
        assert!(!life.is_at_end(true), "its turn may still run");
        life.idle(now);
        assert!(!life.takes_prompts() && life.is_at_end(true) && !life.is_at_end(false));
    }

    #[test]
    fn each_stage_of_the_end_has_its_deadline() {
        let now = Instant::now();
        let (soon, later) = (now + Duration::from_secs(1), now + Duration::from_secs(2));
        let mut life = Lifecycle::default();
        life.drain(soon);
        assert!(!life.is_late(now) && life.is_late(soon), "the turn must be stopped");
        assert!(life.stop(later) && !life.stop(soon));
        assert_eq!(life.deadline(), Some(later));
        assert!(!life.is_late(later) && life.is_at_end(false));
    }

    #[test]
    fn hooks_of_a_session_that_opens_or_closes_hold_up_prompts_and_the_end() {
        let now = Instant::now();
        let mut life = Lifecycle::default();
        let cancel = CancellationToken::new();
        life.start(Starting { cancel: cancel.clone(), then: None });
        life.drain(now);
        life.idle(now);
        assert!(life.is_starting() && !life.takes_prompts() && life.nobody_answers());
        life.started();
        assert!(cancel.is_cancelled() && life.takes_prompts());
        life.close();
        assert!(!life.takes_prompts());
        life.closed();
        life.idle(now);
        assert!(life.is_at_end(true));
    }
}
