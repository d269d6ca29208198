//! The loopback server: accepts connections, answers them from a rehearsal, and stops on shutdown or drop.
//!
//! A thin shell: `exchange.rs` decides the answer with pure code, and `body.rs` only plays it.

mod body;
mod connection;
mod exchange;
mod origin;

use std::fmt;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use crate::recorder::{RecordedRequest, Recorder};
use crate::{Error, Rehearsal, Script};
use connection::{Shared, accept};

/// A scripted model served over HTTP until it is shut down or dropped.
///
/// ```
/// use std::time::Duration;
/// use musher_rehearse::{Reply, Script, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), musher_rehearse::Error> {
/// let server = Server::bind("127.0.0.1:0", Script::new().otherwise(Reply::text("Hello")))?;
/// // ... point an agent at server.url(), then:
/// assert!(server.requests().is_empty());
/// server.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    tasks: TaskTracker,
    stop: DropGuard,
}

impl Server {
    /// Serves on a loopback address such as `127.0.0.1:0`. Must be called within a tokio runtime.
    pub fn bind(address: &str, rehearsal: impl Into<Rehearsal>) -> Result<Self, Error> {
        Self::builder(rehearsal).bind(address)
    }

    /// Serves on a socket that is already bound, for instance in another network namespace.
    pub fn from_listener(listener: TcpListener, rehearsal: impl Into<Rehearsal>) -> Result<Self, Error> {
        Self::builder(rehearsal).from_listener(listener)
    }

    /// Creates a builder, for more options.
    pub fn builder(rehearsal: impl Into<Rehearsal>) -> ServerBuilder {
        ServerBuilder {
            rehearsal: rehearsal.into(),
            directory: None,
            on_request: None,
            is_remote_allowed: false,
        }
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the base URL, without a path: `http://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the running rehearsal.
    pub fn rehearsal(&self) -> &Rehearsal {
        &self.shared.rehearsal
    }

    /// Returns all requests so far, oldest first. Only the newest [`Recorder::MAX_REQUESTS`](crate::Recorder::MAX_REQUESTS) are kept.
    pub fn requests(&self) -> Vec<Arc<RecordedRequest>> {
        self.shared.recorder.requests()
    }

    /// Returns the model requests so far.
    pub fn calls(&self) -> Vec<Arc<RecordedRequest>> {
        self.requests().into_iter().filter(|request| request.is_call()).collect()
    }

    /// Waits until at least this many requests have arrived, and returns them.
    pub async fn wait_for_requests(
        &self,
        at_least: usize,
        deadline: Duration,
    ) -> Result<Vec<Arc<RecordedRequest>>, Error> {
        let wanted = format!("{at_least} requests");
        self.shared.recorder.wait_until(&wanted, deadline, |requests| requests.len() >= at_least).await
    }

    /// Waits until at least this many model requests have arrived, and returns them.
    pub async fn wait_for_calls(
        &self,
        at_least: usize,
        deadline: Duration,
    ) -> Result<Vec<Arc<RecordedRequest>>, Error> {
        let calls =
            |requests: &[Arc<RecordedRequest>]| requests.iter().filter(|request| request.is_call()).count();
        let wanted = format!("{at_least} model calls");
        self.shared.recorder.wait_until(&wanted, deadline, |requests| calls(requests) >= at_least).await?;
        Ok(self.calls())
    }

    /// Returns the number of open connections.
    pub fn open_connections(&self) -> usize {
        *self.shared.open.borrow()
    }

    /// Waits until no connection is open, so every client has disconnected.
    pub async fn wait_until_idle(&self, deadline: Duration) -> Result<(), Error> {
        let mut open = self.shared.open.subscribe();
        let outcome = tokio::time::timeout(deadline, open.wait_for(|count| *count == 0)).await;
        match outcome {
            Ok(_) => Ok(()),
            Err(_elapsed) => Err(Error::Deadline {
                waited: deadline,
                wanted: "all connections to close".to_owned(),
                seen: self.requests().len() as u64,
            }),
        }
    }

    /// Stops: no new connections, answers in flight are ended, and all tasks are gone when this returns.
    pub async fn shutdown(self) {
        let Self { tasks, stop, .. } = self;
        drop(stop);
        tasks.close();
        tasks.wait().await;
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl From<Script> for Rehearsal {
    fn from(script: Script) -> Self {
        Self::new(script)
    }
}

type OnRequest = Arc<dyn Fn(&RecordedRequest) + Send + Sync>;

/// Options of a server.
pub struct ServerBuilder {
    rehearsal: Rehearsal,
    directory: Option<PathBuf>,
    on_request: Option<OnRequest>,
    is_remote_allowed: bool,
}

impl ServerBuilder {
    /// Writes one JSON file per request into this directory, which is created if absent.
    #[must_use]
    pub fn record_to(self, directory: impl Into<PathBuf>) -> Self {
        Self { directory: Some(directory.into()), ..self }
    }

    /// Calls the observer for every request, before it is answered. It must not block.
    #[must_use]
    pub fn on_request(self, observer: impl Fn(&RecordedRequest) + Send + Sync + 'static) -> Self {
        Self { on_request: Some(Arc::new(observer)), ..self }
    }

    /// Allows an address that other machines can reach, and requests for any host. Those from web pages of other sites stay rejected.
    #[must_use]
    pub fn allow_remote(self) -> Self {
        Self { is_remote_allowed: true, ..self }
    }

    /// Serves on this address, an IP address or `localhost` with a port.
    pub fn bind(self, address: &str) -> Result<Server, Error> {
        let listen = |source| Error::Listen { address: address.to_owned(), source };
        let socket_address = parse_address(address).map_err(listen)?;
        self.check(socket_address)?;
        let listener = TcpListener::bind(socket_address).map_err(listen)?;
        self.from_listener(listener)
    }

    /// Serves on a socket that is already bound.
    pub fn from_listener(self, listener: TcpListener) -> Result<Server, Error> {
        let runtime = Handle::try_current().map_err(|_none| Error::NoRuntime)?;
        let listen = |source| Error::Listen { address: "the given socket".to_owned(), source };
        let address = listener.local_addr().map_err(listen)?;
        self.check(address)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(listen)?;

        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        let recorder = Recorder::new(self.directory)?;
        let shared = Arc::new(Shared::new(
            self.rehearsal,
            recorder,
            self.on_request,
            stop.clone(),
            self.is_remote_allowed,
        ));
        tasks.spawn_on(accept(listener, Arc::clone(&shared), tasks.clone()), &runtime);
        Ok(Server { address, shared, tasks, stop: stop.drop_guard() })
    }

    fn check(&self, address: SocketAddr) -> Result<(), Error> {
        if self.is_remote_allowed || address.ip().is_loopback() {
            Ok(())
        } else {
            Err(Error::NotLoopback(address))
        }
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ServerBuilder").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// Accepts only literal addresses and `localhost`: resolving other names would block and could leave the machine.
fn parse_address(address: &str) -> std::io::Result<SocketAddr> {
    let literal = match address.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => address.to_owned(),
    };
    literal.parse().map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidInput, error))
}
