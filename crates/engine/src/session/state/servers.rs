//! The MCP servers of a session, and what clients know of them.

use crate::Event;
use crate::mcp::{Mcp, ServerView};

/// The MCP servers of a session.
pub(crate) struct Servers {
    mcp: Mcp,
    /// The state of the servers that was last sent to clients.
    reported: Option<Vec<ServerView>>,
    /// Whether a turn has waited for the servers to connect.
    was_awaited: bool,
}

impl Servers {
    pub(super) fn new(mcp: Mcp) -> Self {
        Self { mcp, reported: None, was_awaited: false }
    }

    /// The connections.
    pub(crate) fn mcp(&self) -> &Mcp {
        &self.mcp
    }

    /// Returns the event that reports the servers, unless clients know their state.
    pub(crate) fn report(&mut self) -> Option<Event> {
        let servers = self.mcp.servers();
        if self.reported.as_ref() == Some(&servers) {
            return None;
        }
        self.reported = Some(servers.clone());
        Some(Event::McpStatus(servers))
    }

    /// Returns whether the first call of the model still has to wait for the servers. True once.
    pub(crate) fn begin_wait(&mut self) -> bool {
        !std::mem::replace(&mut self.was_awaited, true)
    }
}
