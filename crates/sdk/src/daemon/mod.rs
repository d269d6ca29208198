//! Sessions on a daemon: a process that outlives its clients, and is shared by them.
//!
//! A session there is the same [`Session`](crate::Session) as elsewhere: it speaks exec mode on a connection in memory. `link.rs` is the
//! task that moves its messages over the one WebSocket, `core` decides, purely, `socket.rs` connects.

mod address;
mod connect;
mod core;
mod inbox;
mod link;
mod lists;
mod outbox;
mod socket;
mod translate;

use std::pin::Pin;
use std::sync::Arc;

use musher_rpc::{Connection, Peer};
use musher_wire::Notification;
pub use musher_wire::{SessionHits, SessionInfo};
use tokio::sync::{broadcast, watch};

pub use connect::ConnectDaemon;
pub use inbox::{InboxItem, InboxRequest};
pub(crate) use translate::GAP;

use crate::{Agent, Client, Connector, Result, ResumeBuilder, Session, SessionBuilder};
use link::Link;

/// The maximum number of events that wait for a slow subscriber before the oldest are dropped.
const MAX_EVENTS: usize = 1024;

/// A connection to a daemon, which holds any number of sessions. Clones are the same connection.
///
/// The sessions live in the daemon: they continue when this side is gone, and other clients can hold them, too. When the connection
/// breaks it is made again, all sessions are loaded again, and what they missed is replayed; turns just continue. `musher daemon` replays
/// everything; a `droid daemon` cannot, so [`Event::Gap`](crate::Event::Gap) tells that pieces are missing.
///
/// No prompt is sent twice: one that was on its way when the connection broke is sent again only to a daemon that recognises it. To others it
/// is not, and fails unless the session has it.
///
/// ```no_run
/// # async fn example() -> musher::Result<()> {
/// use musher::Daemon;
///
/// let daemon = Daemon::connect().await?;
/// let session = daemon.session().cwd("/workspace").open().await?;
/// println!("{}", session.send("Run the tests.").await?.text);
/// // the daemon keeps it; later: daemon.resume(id).open()
/// session.detach().await;
/// # Ok(()) }
/// ```
///
/// A session whose reader is slow gets no more notifications once 4096 messages or 8 MiB wait for it; others are not affected. When it has caught
/// up, what it missed is replayed, or told as a gap. Requests of the agent that no turn of this side and no handler takes stay open,
/// for another client to answer: nothing is denied by a client that does not look.
#[derive(Debug, Clone)]
pub struct Daemon {
    link: Link,
    client: Client,
    state: watch::Receiver<DaemonState>,
    events: broadcast::WeakSender<Arc<Notification>>,
    address: Arc<str>,
}

/// The state of the connection to a daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DaemonState {
    /// It is there.
    Connected,
    /// It broke, and is made again.
    Reconnecting {
        /// The number of this attempt, from 1.
        attempt: u32,
    },
    /// It was closed, or could not be made again. All its sessions have ended on this side.
    Closed,
}

/// Notifications of a daemon that concern no session of this side: the states and titles of other sessions, and changes of the inbox.
#[derive(Debug)]
pub struct DaemonNotifications {
    receiver: broadcast::Receiver<Arc<Notification>>,
}

impl DaemonNotifications {
    /// Returns the next notification, or `None` when the connection was closed. One who reads too slowly misses some. Cancel-safe.
    pub async fn next(&mut self) -> Option<Arc<Notification>> {
        loop {
            match self.receiver.recv().await {
                Ok(notification) => return Some(notification),
                Err(broadcast::error::RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "notifications of the daemon");
                }
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

impl Daemon {
    /// Returns the options of a connection, to be awaited. By default it is the user's own `musher daemon`, on the socket in its home.
    pub fn connect() -> ConnectDaemon {
        ConnectDaemon::default()
    }

    /// Returns the options of a new session in the daemon. The directory is one of its machine.
    pub fn session(&self) -> SessionBuilder {
        Session::builder().shared_agent(self.agent())
    }

    /// Returns the options to attach to a session: one that is open in the daemon, maybe with a turn that runs, or one on its disk.
    ///
    /// [`Session::follow`] then shows the running turn, with the requests that wait for an answer.
    pub fn resume(&self, id: impl Into<String>) -> ResumeBuilder {
        Session::resume(id).shared_agent(self.agent())
    }

    /// Returns the sessions of the daemon as an agent, for code that takes an [`Agent`].
    pub fn agent(&self) -> Agent {
        Agent::connector(OnDaemon(self.link.clone()))
    }

    /// Returns the client for methods of the daemon, such as `daemon.list_files`, by [`Client::call_raw`].
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the address that is connected to.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the state of the connection.
    pub fn state(&self) -> DaemonState {
        *self.state.borrow()
    }

    /// Returns a receiver of changes of the connection.
    pub fn watch_state(&self) -> watch::Receiver<DaemonState> {
        self.state.clone()
    }

    /// Subscribes to what concerns no session of this side, from now on.
    pub fn notifications(&self) -> DaemonNotifications {
        // of a connection that is closed, nothing more comes
        let receiver =
            self.events.upgrade().map_or_else(|| broadcast::channel(1).1, |events| events.subscribe());
        DaemonNotifications { receiver }
    }

    /// Closes the connection. Its sessions end on this side, and continue in the daemon.
    pub async fn close(&self) {
        self.link.close().await;
    }

    async fn over(
        link: Link,
        state: watch::Receiver<DaemonState>,
        events: broadcast::WeakSender<Arc<Notification>>,
        address: String,
    ) -> Result<Self> {
        let (peer, _inbox) = Peer::start(link.connect_as(core::CONTROL).await?);
        Ok(Self { link, client: Client::new(peer), state, events, address: address.into() })
    }
}

/// Connects sessions to the daemon.
#[derive(Debug)]
struct OnDaemon(Link);

impl Connector for OnDaemon {
    fn connect(&self) -> Pin<Box<dyn Future<Output = Result<Connection>> + Send + '_>> {
        Box::pin(self.0.connect())
    }
}
