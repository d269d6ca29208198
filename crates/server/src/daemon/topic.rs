//! The events of a session for any number of readers: the journal on disk, and its newest events in memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use musher_engine::SessionId;
use musher_engine::store::StoreError;
use musher_engine::store::shared::{Event, EventLog, Events};
use tokio::sync::watch;

/// Maximum size of the events in memory. Readers that are further behind read from disk.
const TAIL: usize = 128 * 1024;

/// The events of a session.
#[derive(Debug)]
pub(crate) struct Topic {
    session: SessionId,
    log: Box<dyn EventLog>,
    tail: Mutex<Tail>,
    /// The sequence of the last event that is on disk.
    last: watch::Sender<u64>,
}

/// The newest events.
#[derive(Debug, Default)]
struct Tail {
    events: VecDeque<Arc<Event>>,
    bytes: usize,
}

impl Topic {
    pub(crate) fn open(events: &dyn Events, session: &SessionId) -> Result<Self, StoreError> {
        let log = events.open_events(session)?;
        let last = watch::Sender::new(log.last());
        Ok(Self { session: session.clone(), log, tail: Mutex::default(), last })
    }

    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    /// Writes events to the journal, then announces them to the readers.
    pub(crate) fn publish(&self, payloads: &[&str]) -> Result<u64, StoreError> {
        if payloads.is_empty() {
            return Ok(self.last());
        }
        let last = self.log.append(payloads)?;
        let mut tail = self.tail();
        if self.last.receiver_count() == 0 {
            // without readers nothing is kept in memory
            *tail = Tail::default();
        } else {
            let first = last + 1 - payloads.len() as u64;
            for (sequence, payload) in (first..).zip(payloads) {
                tail.bytes += payload.len();
                tail.events.push_back(Arc::new(Event { sequence, payload: (*payload).to_owned() }));
            }
            while tail.bytes > TAIL && tail.events.len() > 1 {
                let oldest = tail.events.pop_front();
                tail.bytes -= oldest.map_or(0, |event| event.payload.len());
            }
        }
        drop(tail);
        self.last.send_replace(last);
        Ok(last)
    }

    /// Returns the events after a sequence, about `max_bytes` of them.
    pub(crate) fn read(&self, after: u64, max_bytes: usize) -> Result<Vec<Arc<Event>>, StoreError> {
        {
            let tail = self.tail();
            if let Some(oldest) = tail.events.front()
                && oldest.sequence <= after + 1
            {
                let skipped = usize::try_from(after + 1 - oldest.sequence).unwrap_or(usize::MAX);
                let mut bytes = 0;
                let fits = |event: &&Arc<Event>| {
                    let fits = bytes < max_bytes;
                    bytes += event.payload.len();
                    fits
                };
                return Ok(tail.events.iter().skip(skipped).take_while(fits).map(Arc::clone).collect());
            }
        }
        Ok(self.log.read(after, max_bytes)?.into_iter().map(Arc::new).collect())
    }

    pub(crate) fn last(&self) -> u64 {
        *self.last.borrow()
    }

    /// Returns the sequence of the oldest event that is kept.
    pub(crate) fn first(&self) -> u64 {
        self.log.first()
    }

    pub(crate) fn follow(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// Releases what an idle session does not need.
    pub(crate) fn rest(&self) {
        self.log.rest();
        let mut tail = self.tail();
        *tail = Tail::default();
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
