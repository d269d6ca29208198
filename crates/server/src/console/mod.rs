//! The console: a web page for watching and steering the sessions of a daemon, inside the program.
//!
//! Serves the page below `/console/`, logs browsers in, and opens their WebSocket, which then speaks what every client of the daemon
//! speaks. The page itself is in `web/`: ES modules, without a build step.
//!
//! - A link with a ticket in its fragment logs a browser in, once ([`login`]). The browser then has a cookie that no script can read.
//! - State changes only over the WebSocket, which needs the cookie and the page's own origin.
//!
//! Not here: what sessions do, and the calls of other clients (the daemon).

mod assets;
mod calls;
pub(crate) mod git;
mod http;
mod login;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use crate::daemon::hub::Hub;
use crate::daemon::listen;
use crate::daemon::{Address, Listener, Token};

pub(crate) use calls::handle;
pub(crate) use git::{handle as handle_git, is_known as is_git};
pub(crate) use http::{Kind, answer, kind};

/// Returns whether a call is for the console.
pub(crate) fn is_known(method: &str) -> bool {
    calls::is_known(method) || git::is_known(method)
}

/// What the daemon keeps for browsers.
#[derive(Debug)]
pub(crate) struct Console {
    tickets: Mutex<login::Tickets>,
    key: login::Key,
    listening: Mutex<Listening>,
}

/// Where browsers can connect.
#[derive(Debug, Default)]
struct Listening {
    address: Option<SocketAddr>,
    /// Serves a port that was opened for the console.
    task: Option<AbortHandle>,
}

impl Console {
    pub(crate) fn new(token: &Token) -> Self {
        Self { tickets: Mutex::default(), key: login::Key::derive(token), listening: Mutex::default() }
    }

    /// The daemon listens on this address.
    pub(crate) fn listens(&self, address: SocketAddr) {
        self.listening().address.get_or_insert(address);
    }

    /// Returns the address for browsers. Without one, listens on this port of this machine, or on any if that is not free.
    fn address(&self, hub: &Arc<Hub>, port: u16, or_any: bool) -> io::Result<SocketAddr> {
        let mut listening = self.listening();
        if let Some(address) = listening.address {
            return Ok(address);
        }
        let listener = match Listener::bind_loopback(port) {
            Err(error) if or_any => {
                tracing::debug!(%error, port, "the usual port of the console is not free");
                Listener::bind_loopback(0)?
            }
            bound => bound?,
        };
        let Address::Tcp(address) = *listener.address() else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let hub = Arc::clone(hub);
        let task = tokio::spawn(async move {
            if let Err(error) = listen::serve(&hub, listener).await {
                tracing::error!(%error, "the console is not served any more");
            }
        });
        *listening = Listening { address: Some(address), task: Some(task.abort_handle()) };
        Ok(address)
    }

    /// Stops to listen.
    pub(crate) fn close(&self) {
        if let Some(task) = self.listening().task.take() {
            task.abort();
        }
    }

    fn listening(&self) -> MutexGuard<'_, Listening> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a ticket, which logs one browser in.
    pub(crate) fn ticket(&self) -> String {
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner).create(login::now())
    }

    /// Takes a ticket and returns the value of a cookie.
    fn redeem(&self, ticket: &str) -> Option<String> {
        let mut tickets = self.tickets.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.take(ticket, login::now()).then(|| self.key.cookie(login::now()))
    }

    /// Returns whether a cookie was made by a daemon with this token, and is still valid.
    fn knows(&self, cookie: &str) -> bool {
        self.key.verify(cookie, login::now())
    }
}
