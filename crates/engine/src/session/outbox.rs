//! Events on their way to the client, in order.
//!
//! Adding an event never blocks. The actor checks for room before it reads more input of models and tools.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use super::event_log::EventLog;
use crate::event::WorkingState;
use crate::{Event, SessionEvent, SessionId};

/// The receiver of events was dropped.
#[derive(Debug)]
pub(crate) struct Disconnected;

pub(crate) struct Outbox {
    waiting: VecDeque<SessionEvent>,
    events: mpsc::Sender<SessionEvent>,
    limit: usize,
    state: WorkingState,
    log: EventLog,
}

impl Outbox {
    pub(crate) fn new(events: mpsc::Sender<SessionEvent>, limit: usize) -> Self {
        Self { waiting: VecDeque::new(), events, limit, state: WorkingState::Idle, log: EventLog::default() }
    }

    /// Adds an event. A working state that clients know already is left out.
    pub(crate) fn push(&mut self, session: Option<SessionId>, event: Event) {
        if let Event::State(state) = &event
            && std::mem::replace(&mut self.state, *state) == *state
        {
            return;
        }
        self.log.log(session.as_ref(), &event);
        self.waiting.push_back(SessionEvent { session, event });
    }

    /// Sets the trace that the next turn belongs to.
    pub(crate) fn set_trace_parent(&mut self, trace_parent: Option<String>) {
        self.log.set_trace_parent(trace_parent);
    }

    /// Adds the idle state, also if clients know it: they wait for it at the end of a turn.
    pub(crate) fn push_idle(&mut self, session: SessionId) {
        self.state = WorkingState::Idle;
        let event = Event::State(WorkingState::Idle);
        self.waiting.push_back(SessionEvent { session: Some(session), event });
    }

    /// Returns the working state as clients know it.
    pub(crate) fn state(&self) -> WorkingState {
        self.state
    }

    /// Resets the working state for another session: it begins idle.
    pub(crate) fn reset_state(&mut self) {
        self.state = WorkingState::Idle;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether there is room for more events. Events that answer controls are added in any case; they are few.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < self.limit
    }

    /// Sends all events. Cancel safe.
    pub(crate) async fn flush(&mut self) -> Result<(), Disconnected> {
        while !self.waiting.is_empty() {
            let Ok(permit) = self.events.reserve().await else { return Err(Disconnected) };
            if let Some(event) = self.waiting.pop_front() {
                permit.send(event);
            }
        }
        Ok(())
    }
}
