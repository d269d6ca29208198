//! What the clients and the sessions of a daemon share.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use musher_engine::SessionId;
use musher_rpc::FrameSender;
use tokio::sync::{Notify, Semaphore, broadcast};
use tokio::time::timeout;

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
    /// Whether no turn may begin.
    is_paused: AtomicBool,
    /// Turns have ended, or wait for a person.
    pub(crate) turns_changed: Notify,
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
            is_paused: AtomicBool::new(false),
            turns_changed: Notify::new(),
            senders: Mutex::default(),
            options,
        }))
    }

    /// See [`Daemon::pause`](super::Daemon::pause).
    pub(crate) async fn pause(self: &Arc<Self>, limit: Duration) -> bool {
        self.is_paused.store(true, Ordering::SeqCst);
        let is_quiet = async {
            loop {
                let mut changed = std::pin::pin!(self.turns_changed.notified());
                changed.as_mut().enable();
                if !self.is_busy() {
                    return;
                }
                changed.await;
            }
        };
        if timeout(limit, is_quiet).await.is_err() {
            tracing::warn!("turns still run; they go on");
            self.go_on();
            return false;
        }
        self.registry.stop_idle().await;
        true
    }

    pub(crate) fn go_on(self: &Arc<Self>) {
        self.is_paused.store(false, Ordering::SeqCst);
        if let Err(error) = self.wake_waiting() {
            tracing::error!(%error, "prompts wait for the next message of their session");
        }
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::SeqCst)
    }

    /// Whether turns run that do not wait for a person.
    fn is_busy(&self) -> bool {
        let opened = self.registry.opened();
        let working: Vec<_> = opened.iter().filter(|(_, info)| info.is_working()).collect();
        // a program cannot continue a turn, so it has to end
        let continues = self.options.agents.continues_turns();
        let waits = |session: &SessionId| {
            self.questions.of_session(session).iter().any(super::questions::Question::may_return)
        };
        let runs = working.iter().any(|(session, _)| !continues || !waits(session));
        // a turn may run whose agent has not said so yet
        let held = self.options.max_turns.max(1).saturating_sub(self.turns.available_permits());
        runs || held > working.len()
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
        // marked again when their turns continue, which may be as soon as a session is awake
        self.questions.interrupted().iter().for_each(|session| self.questions.turn_is_over(session));
        self.wake_waiting()?;
        if self.options.worktrees.is_some() {
            let hub = Arc::clone(self);
            // beside the sessions; dropped with the runtime
            drop(tokio::spawn(async move { worktree::clean_up(&hub).await }));
        }
        for session in self.questions.interrupted() {
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

    /// Opens the sessions with prompts that their agents have not begun.
    fn wake_waiting(self: &Arc<Self>) -> io::Result<()> {
        let waiting = self.options.shared.sessions_with_waiting().map_err(io::Error::other)?;
        for session in waiting {
            tracing::info!(%session, "prompts of a former daemon wait for their agent");
            if let Err(error) = self.registry.wake(self, &session) {
                tracing::warn!(%session, %error, "cannot revive a session");
            }
        }
        Ok(())
    }
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}
