//! The daemon dialect: the calls of exec mode under `daemon.`, each with a session id, and calls of its own.

use serde::de::DeserializeOwned;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::object::object;
use crate::{Audit, Count, DroidWorkingState, Extra, Findings, Json, Message, Object, Tag};

/// Parameters of a call or notification, with the id of the session it concerns.
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
    /// Id of the session. Wire name: `sessionId`.
    pub session_id: Option<String>,
    /// The credential, repeated in calls that open a session. Wire name: `token`.
    pub token: Option<String>,
    /// The parameters as in exec mode.
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
        // parameter types that declare these fields themselves have already consumed them
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
    /// Parameters of `daemon.authenticate`. The credential may be in either `token` or `apiKey`.
    pub struct AuthenticateParams {
        /// Name of the client, such as `droid-sdk`.
        caller: String = "caller",
    } optional {
        /// Credential: a JWT or an API key. Required if `apiKey` is absent.
        token: String = "token",
        /// Credential: an API key. Required if `token` is absent.
        api_key: String = "apiKey",
        /// Id that the client gives to the connection.
        connection_id: String = "connectionId",
        /// Data about the client for tracing, `{tracing: {...}}`.
        metadata: Json = "metadata",
        /// Meaning not documented; reported for newer SDKs.
        act_as_grant: Json = "actAsGrant",
    }
}

object! {
    /// Result of `daemon.authenticate`.
    pub struct AuthenticateResult {
        /// Id of the user that the credential belongs to.
        user_id: String = "userId",
        /// Id of the user's organization.
        org_id: String = "orgId",
    }
}

object! {
    /// Result of calls that a daemon only acknowledges.
    pub struct Accepted {
        /// Whether the daemon accepted the request.
        accepted: bool = "accepted",
    }
}

object! {
    /// Parameters of the notification `daemon.connection_status`, sent some time after authentication.
    pub struct ConnectionStatus {} optional {
        /// Meaning not documented; `true` in captures.
        supports_request_cwd: bool = "supportsRequestCwd",
        /// Whether `droid` is on the daemon's `PATH`.
        is_droid_cli_in_path: bool = "isDroidCLIInPath",
        /// Version of the droid program.
        droid_cli_version: String = "droidCLIVersion",
        /// Home directory of the daemon's user.
        homedir: String = "homedir",
        /// Operating system of the daemon, such as `linux`.
        platform: String = "platform",
        /// Id of the daemon's machine.
        host_id: String = "hostId",
    }
}

object! {
    /// Parameters of the notification `daemon.session.archive_state_changed`.
    pub struct ArchiveStateChanged {
        /// The session's id.
        session_id: String = "sessionId",
    } optional {
        /// Time of archiving (ISO 8601); absent if the session is not archived.
        archived_at: String = "archivedAt",
    }
}

object! {
    /// Parameters of calls that concern one session and need nothing else.
    pub struct SessionIdParams {
        /// The session's id.
        session_id: String = "sessionId",
    }
}

object! {
    /// Result of `daemon.archive_session` and `daemon.unarchive_session`.
    pub struct ArchiveSessionResult {
        /// Whether the call succeeded.
        success: bool = "success",
    } optional {
        /// Time of archiving (ISO 8601); absent if the session is not archived.
        archived_at: String = "archivedAt",
    }
}

object! {
    /// Parameters of `daemon.list_opened_sessions` and `daemon.list_available_sessions`.
    pub struct ListSessionsParams {} optional {
        /// Maximum number of sessions to return, 1 to 100. Default: 50.
        limit: Count = "limit",
        /// Cursor: return sessions before this one. Form not documented.
        end_before: Json = "endBefore",
        /// Whether to include data about missions.
        include_mission_metadata: bool = "includeMissionMetadata",
        /// Which sessions to return, such as `{missionSessions?, includeBtwForks?}`.
        filter: Json = "filter",
    }
}

object! {
    /// Result of `daemon.list_opened_sessions` and `daemon.list_available_sessions`.
    pub struct ListSessionsResult {
        /// The sessions.
        sessions: Vec<SessionInfo> = "sessions",
    } optional {
        /// Whether there are further sessions.
        has_more: bool = "hasMore",
        /// Cursor for the next page.
        next_cursor: Json = "nextCursor",
    }
}

object! {
    /// A session as listed by a daemon.
    pub struct SessionInfo {
        /// The session's id.
        session_id: String = "sessionId",
    } optional {
        /// Id of the machine that runs the agent.
        host_id: String = "hostId",
        /// Title of the session.
        title: String = "title",
        /// Working directory of the session, as an absolute path.
        cwd: String = "cwd",
        /// Working state of the session's agent; opened sessions only.
        working_state: DroidWorkingState = "workingState",
        /// Creation time, in seconds since 1970.
        created_at: Count = "createdAt",
        /// Time of the last change, in seconds since 1970.
        updated_at: Count = "updatedAt",
        /// Number of messages.
        messages_count: Count = "messagesCount",
        /// Time of archiving (ISO 8601); absent if the session is not archived.
        archived_at: String = "archivedAt",
        /// Labels attached to the session.
        tags: Vec<Tag> = "tags",
        /// Id of the parent session, if this one belongs to a subagent.
        calling_session_id: String = "callingSessionId",
    }
}

object! {
    /// Parameters of `daemon.get_session_messages`.
    pub struct GetSessionMessagesParams {
        /// The session's id.
        session_id: String = "sessionId",
    } optional {
        /// Maximum number of messages to return, 1 to 100. Default: 20.
        limit: Count = "limit",
        /// Id of a message: return older ones.
        cursor: String = "cursor",
        /// Return only messages of this role.
        role: String = "role",
    }
}

object! {
    /// Result of `daemon.get_session_messages`, newest first.
    pub struct GetSessionMessagesResult {
        /// The messages, newest first.
        messages: Vec<Message> = "messages",
    } optional {
        /// Whether there are older messages.
        has_more: bool = "hasMore",
        /// Cursor for the next page: the id of a message.
        next_cursor: String = "nextCursor",
    }
}

object! {
    /// Parameters of `daemon.search_sessions`.
    pub struct SearchSessionsParams {
        /// Text to search for.
        query: String = "query",
    } optional {
        /// Kinds of documents to search: `message_text`, `document`, `tool_use`, `tool_result`.
        kind: Json = "kind",
        /// Maximum number of sessions to return.
        limit_sessions: Count = "limitSessions",
        /// Maximum number of hits per session.
        limit_hits_per_session: Count = "limitHitsPerSession",
        /// Number of characters to return around each hit.
        context_chars: Count = "contextChars",
    }
}

object! {
    /// Result of `daemon.search_sessions`.
    pub struct SearchSessionsResult {
        /// The sessions with hits.
        sessions: Vec<SessionHits> = "sessions",
    } optional {
        /// The query, repeated.
        query: String = "query",
    }
}

object! {
    /// The search hits in one session.
    pub struct SessionHits {
        /// The session's id.
        session_id: String = "sessionId",
        /// The hits, `{docId, kind, snippets, ...}`.
        hits: Vec<Json> = "hits",
    } optional {
        /// Title of the session.
        title: String = "title",
        /// Time of the last change, in milliseconds since 1970; may have a fraction.
        updated_at: Count = "updatedAt",
        /// Path of the session's file on the daemon's machine.
        jsonl_path: String = "jsonlPath",
        /// Number of hits, `{byKind: {...}}`.
        totals: Json = "totals",
    }
}

object! {
    /// Parameters of `daemon.validate_working_directory`.
    pub struct ValidateWorkingDirectoryParams {
        /// The path to check.
        working_directory: String = "workingDirectory",
    }
}

object! {
    /// Result of `daemon.validate_working_directory`.
    pub struct ValidateWorkingDirectoryResult {
        /// Whether the path is a directory that sessions can use.
        is_valid: bool = "isValid",
    } optional {
        /// The absolute path, if it is valid.
        resolved_path: String = "resolvedPath",
        /// Why the path is not valid.
        error: String = "error",
    }
}

object! {
    /// Parameters of `daemon.list_files` and `daemon.search_files`.
    pub struct FilesParams {
        /// Id of the session whose working directory is searched.
        session_id: String = "sessionId",
    } optional {
        /// Whether to list hidden files; `list_files` only. Default: false.
        show_hidden: bool = "showHidden",
        /// Text to search for in paths; `search_files` only.
        query: String = "query",
        /// Maximum number of files to return; `search_files` only. Default: 60.
        max_results: Count = "maxResults",
    }
}

object! {
    /// Result of `daemon.list_files` and `daemon.search_files`.
    pub struct FilesResult {
        /// The files. Element type not documented.
        files: Vec<Json> = "files",
    } optional {
        /// Number of files found.
        total_files: Count = "totalFiles",
        /// Whether the list is incomplete.
        truncated: bool = "truncated",
    }
}
