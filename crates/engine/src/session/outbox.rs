//! Events on their way out, in order. Never blocks who puts one in; who reads models and tools asks first if there is room.

use std::collections::VecDeque;

use tokio::sync::mpsc;

use crate::{Event, Happening, SessionId};

/// The receiver of events is gone.
#[derive(Debug)]
pub(crate) struct Gone;

pub(crate) struct Outbox {
    waiting: VecDeque<Event>,
    events: mpsc::Sender<Event>,
    limit: usize,
}

impl Outbox {
    pub(crate) fn new(events: mpsc::Sender<Event>, limit: usize) -> Self {
        Self { waiting: VecDeque::new(), events, limit }
    }

    pub(crate) fn push(&mut self, session: Option<SessionId>, what: Happening) {
        self.waiting.push_back(Event { session, what });
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
