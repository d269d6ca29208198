//! The MCP servers of a session, and what clients know of them.

use std::collections::HashSet;

use crate::Event;
use crate::mcp::{Mcp, ServerView};

/// The MCP servers of a session.
pub(crate) struct Servers {
    mcp: Mcp,
    /// The state of the servers that was last sent to clients.
    reported: Option<Vec<ServerView>>,
    /// Whether a turn has waited for the servers to connect.
    was_awaited: bool,
    /// The tools that are offered without a search, in order; `None` before the first call of the model. They do not change any more:
    /// the list of tools is at the beginning of every request, and a change would cost the vendor's cache.
    direct: Option<Vec<String>>,
    /// The tools whose names the model has.
    announced: HashSet<String>,
}

impl Servers {
    pub(super) fn new(mcp: Mcp) -> Self {
        Self { mcp, reported: None, was_awaited: false, direct: None, announced: HashSet::new() }
    }

    /// Returns the connections.
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

    /// Returns the tools that are offered without a search; `None` before the first call of the model.
    pub(crate) fn direct(&self) -> Option<&[String]> {
        self.direct.as_deref()
    }

    /// Sets the tools that are offered without a search.
    pub(crate) fn set_direct(&mut self, direct: Vec<String>) {
        self.announced.extend(direct.iter().cloned());
        self.direct = Some(direct);
    }

    /// Returns which of these names the model does not have yet, and counts them as sent.
    pub(crate) fn announce(&mut self, names: Vec<String>) -> Vec<String> {
        names.into_iter().filter(|name| self.announced.insert(name.clone())).collect()
    }
}
