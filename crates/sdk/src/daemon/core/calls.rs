//! Calls of this side, and what becomes of them when the connection breaks.

use std::time::Duration;

use musher_wire::{AddUserMessage, CompactSession, InitializeSession, Json, Method, Request};
use serde::Deserialize;
use uuid::Uuid;

use super::RouteId;
use crate::daemon::translate::with_field;

/// A call that is not answered.
#[derive(Debug)]
pub(super) struct PendingCall {
    pub(super) route: RouteId,
    pub(super) request: Request,
    pub(super) kind: Kind,
    pub(super) is_sent: bool,
    /// Orders the calls.
    pub(super) at: u64,
    /// When its caller stops waiting; it must not be carried out after that.
    pub(super) expires: Duration,
}

impl PendingCall {
    /// Returns whether it opens or loads a session.
    pub(super) fn is_opening(&self) -> bool {
        matches!(self.kind, Kind::Open | Kind::Reload)
    }

    /// Returns whether it is this prompt.
    pub(super) fn is_prompt(&self, id: &str) -> bool {
        matches!(&self.kind, Kind::Prompt { message_id, .. } if message_id == id)
    }
}

/// What a call does if it is carried out twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Opens a session. The id is chosen by this side, so twice is once.
    Open,
    /// Loads a session that is open on this side.
    Reload,
    /// Sends a prompt: only a daemon that recognises the id runs it once.
    Prompt {
        message_id: String,
        /// It was sent on a connection that broke.
        is_uncertain: bool,
    },
    /// Closes the session.
    Close,
    /// Twice is once.
    Repeatable,
    /// Must not be repeated.
    Once,
}

impl Kind {
    pub(super) fn of(method: &str) -> Self {
        let name = method.split_once('.').map_or(method, |(_, name)| name);
        let is_question = ["list_", "get_", "search_", "validate_"].iter().any(|verb| name.starts_with(verb));
        match name {
            "initialize_session" | "load_session" => Self::Open,
            "add_user_message" => Self::Prompt { message_id: String::new(), is_uncertain: false },
            "close_session" => Self::Close,
            "interrupt_session"
            | "update_session_settings"
            | "rename_session"
            | "archive_session"
            | "unarchive_session" => Self::Repeatable,
            _ if is_question => Self::Repeatable,
            _ => Self::Once,
        }
    }

    /// Returns how long a caller waits for a call at least. A prompt that waits for another turn is the exception, and may wait for long.
    pub(super) fn timeout(&self, request: &Request) -> Duration {
        let waits = || {
            request.params.as_ref().is_some_and(|params| params.text().contains("\"waitForSession\":true"))
        };
        match self {
            Self::Prompt { .. } if waits() => Duration::MAX,
            Self::Open | Self::Reload => InitializeSession::TIMEOUT,
            Self::Once if request.method.ends_with("compact_session") => CompactSession::TIMEOUT,
            _ => AddUserMessage::TIMEOUT,
        }
    }

    /// Reads the id of a prompt; one without an id gets one.
    pub(super) fn prompt(request: &mut Request) -> Self {
        #[derive(Deserialize)]
        struct Params {
            #[serde(rename = "messageId")]
            message_id: Option<String>,
        }
        let params = request.params.as_ref().and_then(|params| params.to::<Params>().ok());
        let message_id = params.and_then(|params| params.message_id).unwrap_or_else(|| {
            let id = Uuid::new_v4().to_string();
            request.params =
                Some(with_field(request.params.as_ref().or(Some(&Json::empty_object())), "messageId", &id));
            id
        });
        Self::Prompt { message_id, is_uncertain: false }
    }
}
