//! The daemon: many sessions, many clients, one process. Official clients of `droid daemon` connect to it.
//!
//! A session is an agent behind a [`Connection`](musher_rpc::Connection): the engine in this process, or a worker program. One task owns
//! it. The path of a message:
//!
//! ```text
//!  client --- WebSocket --- client.rs ---- Call, Answer ---> session/ (one task each) ---- droid.* ---> agent
//!                               ^                               |  journal on disk, then topic
//!                               +------ pump.rs (one per client and session) <--- topic.rs
//! ```
//!
//! - **Nothing lost.** A session's task writes each notification to the journal before any client sees it. A pump reads the journal from
//!   the position of its client, so a replay and the live stream are the same loop: no gap, no duplicate, no buffer per client, and the
//!   agent waits for no client.
//! - **Nothing twice.** A prompt is on disk before the agent gets it, and known by its id after that.
//! - **One fault, one session.** A panic or a dead worker ends its session only; the next message revives it.
//!
//! Not here: what a session does (the engine), and where shared state is kept ([`store::shared`](musher_engine::store::shared)).

mod access;
mod agent;
mod client;
pub(crate) mod error;
pub(crate) mod http;
pub(crate) mod hub;
pub(crate) mod listen;
mod local;
mod metrics;
mod options;
pub(crate) mod params;
mod pump;
mod questions;
mod registry;
mod rewrite;
mod session;
mod tls;
mod topic;
mod worktree;

use std::io;
use std::sync::Arc;

pub use access::{Origins, Token};
pub use listen::{Address, AddressError, Listener};
pub use options::{AgentSource, DaemonOptions, SharedState, SpendingLimit, SpendingLimits};
pub use tls::{Tls, TlsError};

use hub::Hub;

/// A running daemon. Dropping it ends its sessions at once; [`stop`](Self::stop) lets them end in order.
#[derive(Debug)]
pub struct Daemon {
    hub: Arc<Hub>,
}

impl Daemon {
    /// Starts a daemon without listeners, and continues what a former one has left: prompts that were accepted but not delivered.
    pub fn start(options: DaemonOptions) -> io::Result<Self> {
        let hub = Hub::new(options)?;
        hub.recover()?;
        Ok(Self { hub })
    }

    /// Serves clients of a listener until the future is dropped.
    pub async fn serve(&self, listener: Listener) -> io::Result<()> {
        listen::serve(&self.hub, listener).await
    }

    /// Prepares to be replaced by another program: no turn begins, those that run end, and idle sessions end. Prompts are accepted and wait
    /// on disk; a turn that waits for a person continues with the next daemon. Returns whether that was so within a time limit;
    /// otherwise everything continues.
    pub async fn pause(&self, limit: std::time::Duration) -> bool {
        self.hub.pause(limit).await
    }

    /// Continues after [`pause`](Self::pause).
    pub fn go_on(&self) {
        self.hub.go_on();
    }

    /// Ends all sessions: interrupts their turns, and waits for the agents within a time limit.
    pub async fn stop(&self) {
        self.hub.registry.stop_all().await;
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.hub.console.close();
    }
}

#[cfg(test)]
mod tests;
