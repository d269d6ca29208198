//! What is known of one session on a daemon.

use std::collections::{HashMap, HashSet};

use musher_wire::{Id, Notification, Response};
use serde_json::Value;

/// How far a session is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// No session was requested yet.
    #[default]
    New,
    /// The call that opens it is on its way.
    Opening,
    /// Its notifications come.
    Attached,
    /// The connection is lost, or the reader was too slow.
    Detached,
    /// It is being loaded again.
    Reloading,
    /// The reader is too slow; its notifications are not passed on.
    Lagging,
}

/// One session.
#[derive(Debug, Default)]
pub(super) struct Route {
    pub(super) session: Option<String>,
    pub(super) phase: Phase,
    /// MCP servers of this session only, which a daemon that was restarted does not know.
    pub(super) mcp_servers: Option<Value>,
    /// The newest notification that was passed on, if the daemon counts them.
    pub(super) sequence: Option<u64>,
    /// The messages that the session knows.
    pub(super) seen: HashSet<String>,
    /// Requests of the agent.
    pub(super) asked: HashMap<Id, RequestState>,
    /// Prompts of this side whose turn has not ended.
    pub(super) prompts: Vec<String>,
    /// Notifications that came before the conversation.
    pub(super) held: Vec<Notification>,
    /// The number of failed attempts to load it again.
    pub(super) reloads: u32,
    /// It is loaded again because its reader was too slow.
    pub(super) was_slow: bool,
}

/// A request of the agent.
#[derive(Debug)]
pub(super) enum RequestState {
    /// The session decides.
    Open,
    /// The session has answered; the answer is kept until the daemon confirms it.
    Answered { response: Response, is_sent: bool },
}
