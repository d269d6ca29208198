//! The daemon dialect: the same calls under `daemon.`, each addressed to a session, and some of its own.

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::object::object;
use crate::{Audit, Count, DroidWorkingState, Extra, Findings, Json, Message, Object, Tag};

/// The params of a call or notification, with the session it is about.
///
/// ```
/// use musher_wire::{Addressed, RenameSessionParams};
///
/// let text = r#"{"sessionId":"s1","title":"T"}"#;
/// let params: Addressed<RenameSessionParams> = serde_json::from_str(text)?;
/// assert_eq!(params.session_id.as_deref(), Some("s1"));
/// assert_eq!(params.inner.title, "T");
/// assert_eq!(serde_json::to_string(&params)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Addressed<P> {
    /// `sessionId`
    pub session_id: Option<String>,
    /// `token`: the credential, again, where a session is opened
    pub token: Option<String>,
    /// The params as in exec mode.
    pub inner: P,
}

impl<P: Audit> Audit for Addressed<P> {
    fn audit(&self, found: &mut Findings) {
        self.inner.audit(found);
    }
}

impl<P: Object> Serialize for Addressed<P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in [("sessionId", &self.session_id), ("token", &self.token)] {
            if let Some(value) = value {
                map.serialize_entry(key, value)?;
            }
        }
        self.inner.print_fields(&mut map)?;
        map.end()
    }
}

impl<'de, P: Object + DeserializeOwned> Deserialize<'de> for Addressed<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut inner = P::deserialize(deserializer)?;
        // params that name these fields themselves keep them
        let session_id = take_string(inner.extra_mut(), "sessionId");
        let token = take_string(inner.extra_mut(), "token");
        Ok(Self { session_id, token, inner })
    }
}

fn take_string(extra: &mut Extra, key: &str) -> Option<String> {
    let text = extra.get(key)?.to().ok()?;
    extra.remove(key);
    Some(text)
}

object! {
    /// Arguments of `daemon.authenticate`. The credential may stand in either field.
    pub struct AuthenticateParams {
        caller: String = "caller",
    } optional {
        token: String = "token",
        api_key: String = "apiKey",
        connection_id: String = "connectionId",
        metadata: Json = "metadata",
        act_as_grant: Json = "actAsGrant",
    }
}

object! {
    /// Answer of `daemon.authenticate`.
    pub struct AuthenticateResult {
        user_id: String = "userId",
        org_id: String = "orgId",
    }
}

object! {
    /// Answer of calls a daemon only takes note of.
    pub struct Accepted {
        accepted: bool = "accepted",
    }
}

object! {
    /// Params of `daemon.connection_status`, sent some time after authentication.
    pub struct ConnectionStatus {} optional {
        supports_request_cwd: bool = "supportsRequestCwd",
        is_droid_cli_in_path: bool = "isDroidCLIInPath",
        droid_cli_version: String = "droidCLIVersion",
        homedir: String = "homedir",
        platform: String = "platform",
        host_id: String = "hostId",
    }
}

object! {
    /// Params of `daemon.session.archive_state_changed`.
    pub struct ArchiveStateChanged {
        session_id: String = "sessionId",
    } optional {
        archived_at: String = "archivedAt",
    }
}

object! {
    /// Arguments of the calls that name one session.
    pub struct SessionIdParams {
        session_id: String = "sessionId",
    }
}

object! {
    /// Answer of `daemon.archive_session` and `daemon.unarchive_session`.
    pub struct ArchiveSessionResult {
        success: bool = "success",
    } optional {
        archived_at: String = "archivedAt",
    }
}

object! {
    /// Arguments of the calls that list sessions.
    pub struct ListSessionsParams {} optional {
        limit: Count = "limit",
        end_before: Json = "endBefore",
        include_mission_metadata: bool = "includeMissionMetadata",
        filter: Json = "filter",
    }
}

object! {
    /// Answer of `daemon.list_opened_sessions` and `daemon.list_available_sessions`.
    pub struct ListSessionsResult {
        sessions: Vec<SessionInfo> = "sessions",
    } optional {
        has_more: bool = "hasMore",
        next_cursor: Json = "nextCursor",
    }
}

object! {
    /// A session a daemon knows.
    pub struct SessionInfo {
        session_id: String = "sessionId",
    } optional {
        host_id: String = "hostId",
        title: String = "title",
        cwd: String = "cwd",
        working_state: DroidWorkingState = "workingState",
        /// Seconds since 1970.
        created_at: Count = "createdAt",
        /// Seconds since 1970.
        updated_at: Count = "updatedAt",
        messages_count: Count = "messagesCount",
        archived_at: String = "archivedAt",
        tags: Vec<Tag> = "tags",
        calling_session_id: String = "callingSessionId",
    }
}

object! {
    /// Arguments of `daemon.get_session_messages`.
    pub struct GetSessionMessagesParams {
        session_id: String = "sessionId",
    } optional {
        limit: Count = "limit",
        cursor: String = "cursor",
        role: String = "role",
    }
}

object! {
    /// Answer of `daemon.get_session_messages`, newest first.
    pub struct GetSessionMessagesResult {
        messages: Vec<Message> = "messages",
    } optional {
        has_more: bool = "hasMore",
        next_cursor: String = "nextCursor",
    }
}

object! {
    /// Arguments of `daemon.search_sessions`.
    pub struct SearchSessionsParams {
        query: String = "query",
    } optional {
        kind: Json = "kind",
        limit_sessions: Count = "limitSessions",
        limit_hits_per_session: Count = "limitHitsPerSession",
        context_chars: Count = "contextChars",
    }
}

object! {
    /// Answer of `daemon.search_sessions`.
    pub struct SearchSessionsResult {
        sessions: Vec<SessionHits> = "sessions",
    } optional {
        query: String = "query",
    }
}

object! {
    /// What was found in one session.
    pub struct SessionHits {
        session_id: String = "sessionId",
        hits: Vec<Json> = "hits",
    } optional {
        title: String = "title",
        /// Milliseconds since 1970, not always whole.
        updated_at: Count = "updatedAt",
        jsonl_path: String = "jsonlPath",
        totals: Json = "totals",
    }
}

object! {
    /// Arguments of `daemon.validate_working_directory`.
    pub struct ValidateWorkingDirectoryParams {
        working_directory: String = "workingDirectory",
    }
}

object! {
    /// Answer of `daemon.validate_working_directory`.
    pub struct ValidateWorkingDirectoryResult {
        is_valid: bool = "isValid",
    } optional {
        resolved_path: String = "resolvedPath",
        error: String = "error",
    }
}

object! {
    /// Arguments of `daemon.list_files` and `daemon.search_files`.
    pub struct FilesParams {
        session_id: String = "sessionId",
    } optional {
        show_hidden: bool = "showHidden",
        query: String = "query",
        max_results: Count = "maxResults",
    }
}

object! {
    /// Answer of `daemon.list_files` and `daemon.search_files`.
    pub struct FilesResult {
        files: Vec<Json> = "files",
    } optional {
        total_files: Count = "totalFiles",
        truncated: bool = "truncated",
    }
}
