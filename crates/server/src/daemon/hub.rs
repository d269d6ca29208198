//! What the clients and the sessions of a daemon share.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use musher_engine::SessionId;
use musher_rpc::FrameSender;
use tokio::sync::{Semaphore, broadcast};

use super::metrics::Metrics;
use super::options::{AgentSource, DaemonOptions};
use super::questions::Questions;
use super::registry::Registry;
use super::session::Control;
use super::worktree;
use crate::console::Console;

/// State changes that wait for a client that does not follow the session.
const MAX_STATES: usize = 1024;
/// Agents that are opened at once: engines are quick, programs take a second of CPU.
const OPENING_ENGINES: usize = 32;
const OPENING_PROGRAMS: usize = 3;

/// What the clients and the sessions of a daemon share.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) options: DaemonOptions,
    pub(crate) registry: Registry,
    pub(crate) questions: Questions,
    /// Browsers.
    pub(crate) console: Console,
    /// State changes for clients that do not follow the session.
    pub(crate) states: broadcast::Sender<Arc<StateChange>>,
    /// Limits the agents that are opened at once.
    pub(crate) opening: Arc<Semaphore>,
    /// One permit per running turn. First come, first served.
    pub(crate) turns: Arc<Semaphore>,
    pub(crate) metrics: Metrics,
    /// The connections, by client.
    senders: Mutex<HashMap<u64, FrameSender>>,
}

/// A change that every client sees.
#[derive(Debug)]
pub(crate) enum StateChange {
    /// A notification of a session, for clients that do not follow it.
    Session { session: SessionId, payload: String },
    /// A message for all clients.
    Everyone(musher_wire::Frame),
}

impl Hub {
    pub(crate) fn new(options: DaemonOptions) -> io::Result<Arc<Self>> {
        let questions = Questions::open(Arc::clone(&options.shared)).map_err(io::Error::other)?;
        let opening = match options.agents {
            AgentSource::Engine(_) => OPENING_ENGINES,
            AgentSource::Program { .. } => OPENING_PROGRAMS,
        };
        Ok(Arc::new(Self {
            registry: Registry::default(),
            questions,
            console: Console::new(&options.token),
            states: broadcast::Sender::new(MAX_STATES),
            opening: Arc::new(Semaphore::new(opening)),
            turns: Arc::new(Semaphore::new(options.max_turns.max(1))),
            metrics: Metrics::default(),
            senders: Mutex::default(),
            options,
        }))
    }

    /// A client is connected.
    pub(crate) fn connected(&self, client: u64, outgoing: FrameSender) {
        self.senders().insert(client, outgoing);
        self.metrics.connections.add(1);
    }

    /// A client is gone.
    pub(crate) fn disconnected(&self, client: u64) {
        self.senders().remove(&client);
        self.metrics.disconnections.add(1);
    }

    /// The bytes that wait to be sent to clients.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.senders().values().map(FrameSender::waiting_bytes).sum()
    }

    fn senders(&self) -> MutexGuard<'_, HashMap<u64, FrameSender>> {
        self.senders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Revives the sessions whose agents have not begun all their prompts, and withdraws questions of agents that have died with a
    /// former daemon.
    pub(crate) fn recover(self: &Arc<Self>) -> io::Result<()> {
        let waiting = self.options.shared.sessions_with_waiting().map_err(io::Error::other)?;
        for session in waiting {
            tracing::info!(%session, "prompts of a former daemon wait for their agent");
            if let Err(error) = self.registry.wake(self, &session) {
                tracing::warn!(%session, %error, "cannot revive a session");
            }
        }
        if self.options.worktrees.is_some() {
            let hub = Arc::clone(self);
            // beside the sessions; dropped with the runtime
            drop(tokio::spawn(async move { worktree::clean_up(&hub).await }));
        }
        for session in self.questions.interrupted() {
            // marked again when its turn continues
            self.questions.turn_is_over(session);
            if self.options.continues_turns {
                tracing::info!(%session, "continues the turn of a former daemon");
                if let Err(error) = self.registry.wake(self, session) {
                    tracing::warn!(%session, %error, "cannot continue a turn");
                }
            }
        }
        for session in self.questions.sessions() {
            // its task reports the turn that was interrupted
            if let Err(error) = self.registry.control_open(self, &session, Control::Look) {
                tracing::warn!(%session, %error, "cannot open a session");
            }
        }
        Ok(())
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
