//! Events on their way out, in order. Never blocks who puts one in; who reads models and tools asks first if there is room.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use crate::event::WorkingState;
use crate::{Event, Happening, SessionId};

/// The receiver of events is gone.
#[derive(Debug)]
pub(crate) struct Gone;

pub(crate) struct Outbox {
    waiting: VecDeque<Event>,
    events: mpsc::Sender<Event>,
    limit: usize,
    state: WorkingState,
}

impl Outbox {
    pub(crate) fn new(events: mpsc::Sender<Event>, limit: usize) -> Self {
        Self { waiting: VecDeque::new(), events, limit, state: WorkingState::Idle }
    }

    /// Puts an event behind the others. A state that clients know already is left out.
    pub(crate) fn push(&mut self, session: Option<SessionId>, what: Happening) {
        if let Happening::State(state) = &what
            && std::mem::replace(&mut self.state, *state) == *state
        {
            return;
        }
        self.waiting.push_back(Event { session, what });
    }

    /// Tells that nothing runs, also if it is known: clients wait for it at the end of a turn.
    pub(crate) fn push_idle(&mut self, session: SessionId) {
        self.state = WorkingState::Idle;
        let what = Happening::State(WorkingState::Idle);
        self.waiting.push_back(Event { session: Some(session), what });
    }

    /// The state as clients were last told of it.
    pub(crate) fn state(&self) -> WorkingState {
        self.state
    }

    /// Another session is told of from now on: it begins idle.
    pub(crate) fn forget_state(&mut self) {
        self.state = WorkingState::Idle;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether more should be made. Answers to controls are put in all the same: they are few.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < self.limit
    }

    /// Hands over what can be handed over. Safe to drop at any moment.
    pub(crate) async fn flush(&mut self) -> Result<(), Gone> {
        while !self.waiting.is_empty() {
            let Ok(permit) = self.events.reserve().await else { return Err(Gone) };
            if let Some(event) = self.waiting.pop_front() {
                permit.send(event);
            }
        }
        Ok(())
    }
}
