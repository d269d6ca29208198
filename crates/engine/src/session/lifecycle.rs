//! The life of an agent: whether it takes commands, drains or ends, and what delays the next prompt. Pure: time is an argument.

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::command::{CommandId, Reply};

/// The life of an agent.
#[derive(Default)]
pub(super) struct Lifecycle {
    ending: Ending,
    starting: Option<Starting>,
    is_closing: bool,
    sessions: u64,
}

/// A session whose `SessionStart` hooks run. No turn begins before they have ended.
pub(super) struct Starting {
    /// Cancels the hooks.
    pub(super) cancel: CancellationToken,
    /// The reply to the command that has opened the session, sent when the hooks have ended.
    pub(super) reply: Option<(CommandId, Reply)>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Ending {
    #[default]
    No,
    /// The input has ended: the agent ends with its turn, at this time at the latest.
    Drain(Instant),
    /// The agent only sends the remaining events, until this time at the latest.
    Stop(Instant),
    Now,
}

impl Lifecycle {
    /// Returns whether commands are taken.
    pub(super) fn takes_commands(&self) -> bool {
        self.ending == Ending::No
    }

    /// Returns whether a turn may still run but no client can answer requests.
    pub(super) fn is_unattended(&self) -> bool {
        matches!(self.ending, Ending::Drain(_))
    }

    /// Returns whether the next turn may begin: not while hooks of a session that opens or closes run.
    pub(super) fn takes_prompts(&self) -> bool {
        !self.is_delayed() && matches!(self.ending, Ending::No | Ending::Drain(_))
    }

    fn is_delayed(&self) -> bool {
        self.starting.is_some() || self.is_closing
    }

    /// Notes that the input has ended. Returns whether that is new.
    pub(super) fn drain(&mut self, until: Instant) -> bool {
        let is_new = self.ending == Ending::No;
        if is_new {
            self.ending = Ending::Drain(until);
        }
        is_new
    }

    /// Notes that the agent stops. Returns whether that is new.
    pub(super) fn stop(&mut self, until: Instant) -> bool {
        let is_new = !matches!(self.ending, Ending::Stop(_) | Ending::Now);
        if is_new {
            self.ending = Ending::Stop(until);
        }
        is_new
    }

    /// The agent ends now, because its events are not received.
    pub(super) fn end(&mut self) {
        self.ending = Ending::Now;
    }

    /// No turn runs and no prompt waits: an agent whose input has ended stops.
    pub(super) fn idle(&mut self, until: Instant) {
        if self.is_unattended() && !self.is_delayed() {
            self.ending = Ending::Stop(until);
        }
    }

    /// Handles a deadline that has passed. Returns whether the turn must be stopped.
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

    /// Returns whether the agent's task returns. `is_done`: no turn runs, and no event waits.
    pub(super) fn is_at_end(&self, is_done: bool) -> bool {
        match self.ending {
            Ending::Now => true,
            Ending::Stop(_) => is_done,
            Ending::No | Ending::Drain(_) => false,
        }
    }

    /// Returns when [`is_late`](Self::is_late) has to be called.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.ending {
            Ending::No | Ending::Now => None,
            Ending::Drain(until) | Ending::Stop(until) => Some(until),
        }
    }

    /// Returns the number of the next session.
    pub(super) fn next_session(&mut self) -> u64 {
        self.sessions += 1;
        self.sessions
    }

    /// The `SessionStart` hooks begin.
    pub(super) fn start(&mut self, starting: Starting) {
        self.starting = Some(starting);
    }

    /// Returns whether `SessionStart` hooks run.
    pub(super) fn is_starting(&self) -> bool {
        self.starting.is_some()
    }

    /// Cancels the `SessionStart` hooks. Their end comes back as an input.
    pub(super) fn cancel_start(&self) {
        if let Some(starting) = &self.starting {
            starting.cancel.cancel();
        }
    }

    /// Notes that the `SessionStart` hooks have ended, or are not awaited any longer. Returns the delayed reply.
    pub(super) fn started(&mut self) -> Option<(CommandId, Reply)> {
        let starting = self.starting.take()?;
        starting.cancel.cancel();
        starting.reply
    }

    /// The `SessionEnd` hooks begin.
    pub(super) fn close(&mut self) {
        self.is_closing = true;
    }

    /// The `SessionEnd` hooks have ended.
    pub(super) fn closed(&mut self) {
        self.is_closing = false;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn agent_without_input_finishes_its_prompts_and_stops() {
        let now = Instant::now();
        let mut life = Lifecycle::default();
        assert!(life.takes_commands() && life.takes_prompts() && life.deadline().is_none());
        assert!(life.drain(now) && !life.drain(now));
        assert!(!life.takes_commands() && life.takes_prompts() && life.is_unattended());
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
    fn start_and_end_hooks_delay_prompts_and_the_end() {
        let now = Instant::now();
        let mut life = Lifecycle::default();
        let cancel = CancellationToken::new();
        life.start(Starting { cancel: cancel.clone(), reply: None });
        life.drain(now);
        life.idle(now);
        assert!(life.is_starting() && !life.takes_prompts() && life.is_unattended());
        life.started();
        assert!(cancel.is_cancelled() && life.takes_prompts());
        life.close();
        assert!(!life.takes_prompts());
        life.closed();
        life.idle(now);
        assert!(life.is_at_end(true));
    }
}
