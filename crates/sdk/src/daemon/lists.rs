//! The sessions of a daemon: open ones, those on its disk, and what they contain.

use musher_wire::{
    ArchiveSessionResult, GetSessionMessagesResult, ListSessionsResult, Message, SearchSessionsResult,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Daemon, SessionHits, SessionInfo};
use crate::{Error, Result};

/// The maximum number of entries that a daemon returns at once.
const PAGE: usize = 100;

impl Daemon {
    /// Lists the sessions that are open in the daemon, with their working states.
    ///
    /// ```no_run
    /// # async fn example(daemon: musher::Daemon) -> musher::Result<()> {
    /// for session in daemon.opened_sessions().await? {
    ///     println!("{} {:?}", session.session_id, session.working_state);
    /// }
    /// # Ok(()) }
    /// ```
    pub async fn opened_sessions(&self) -> Result<Vec<SessionInfo>> {
        let listed: ListSessionsResult = self.ask("daemon.list_opened_sessions", json!({})).await?;
        Ok(listed.sessions)
    }

    /// Lists the sessions on the daemon's disk, newest first, at most `limit`.
    pub async fn available_sessions(&self, limit: usize) -> Result<Vec<SessionInfo>> {
        let mut sessions = Vec::new();
        let mut cursor = Value::Null;
        while sessions.len() < limit {
            let mut params = json!({"limit": PAGE.min(limit - sessions.len())});
            if !cursor.is_null() {
                params["endBefore"] = cursor;
            }
            let page: ListSessionsResult = self.ask("daemon.list_available_sessions", params).await?;
            let is_empty = page.sessions.is_empty();
            sessions.extend(page.sessions);
            cursor = page.next_cursor.and_then(|cursor| cursor.to_value().ok()).unwrap_or_default();
            if is_empty || page.has_more != Some(true) || cursor.is_null() {
                break;
            }
        }
        sessions.truncate(limit);
        Ok(sessions)
    }

    /// Searches the messages of all sessions on the daemon's disk.
    pub async fn search_sessions(&self, query: &str) -> Result<Vec<SessionHits>> {
        let found: SearchSessionsResult = self.ask("daemon.search_sessions", json!({"query": query})).await?;
        Ok(found.sessions)
    }

    /// Returns the newest messages of a session, oldest first, at most `limit` and at most 100.
    pub async fn session_messages(&self, id: &str, limit: usize) -> Result<Vec<Message>> {
        let params = json!({"sessionId": id, "limit": limit.clamp(1, PAGE)});
        let page: GetSessionMessagesResult = self.ask("daemon.get_session_messages", params).await?;
        Ok(page.messages.into_iter().rev().collect())
    }

    /// Archives a session: lists leave it out.
    pub async fn archive_session(&self, id: &str) -> Result<()> {
        let params = json!({"sessionId": id});
        let result: ArchiveSessionResult = self.ask("daemon.archive_session", params).await?;
        succeeded(&result)
    }

    /// Restores an archived session.
    pub async fn unarchive_session(&self, id: &str) -> Result<()> {
        let params = json!({"sessionId": id});
        let result: ArchiveSessionResult = self.ask("daemon.unarchive_session", params).await?;
        succeeded(&result)
    }

    /// Calls a method of the daemon.
    pub(super) async fn ask<T: DeserializeOwned>(&self, method: &'static str, params: Value) -> Result<T> {
        Ok(self.client().call_raw(method, params).await?.read_as(method, "result")?)
    }
}

fn succeeded(result: &ArchiveSessionResult) -> Result<()> {
    if result.success { Ok(()) } else { Err(Error::session("the daemon did not change it")) }
}
