//! Lists of sessions, and their messages, from memory and from disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use musher_engine::SessionId;
use musher_engine::store::{Store, StoreError, Summary};
use musher_wire::{Extra, Frame, Json, Notification, RpcError};
use serde_json::{Value, json};

use crate::convert::to_wire;
use crate::daemon::error;
use crate::daemon::hub::{Hub, StateChange};
use crate::daemon::params;

/// Returns the sessions with an agent.
pub(super) fn opened(hub: &Hub) -> Value {
    let mut opened = hub.registry.opened();
    opened.sort_by(|(one, _), (other, _)| one.cmp(other));
    let sessions: Vec<Value> = opened
        .iter()
        .map(|(id, info)| {
            let mut session = json!({
                "sessionId": id.as_str(),
                "hostId": hub.options.host_id,
                "workingState": info.state,
                "updatedAt": info.updated_ms / 1000,
                "messagesCount": info.messages,
            });
            if let Some(cwd) = &info.cwd {
                session["cwd"] = cwd.as_str().into();
            }
            if let Some(title) = &info.title {
                session["title"] = title.as_str().into();
            }
            if let Some(tags) = info.tags.as_ref().and_then(|tags| tags.to_value().ok()) {
                session["tags"] = tags;
            }
            session
        })
        .collect();
    json!({"sessions": sessions})
}

/// Returns the sessions on disk, newest first, in pages.
pub(super) fn available(hub: &Hub, fields: &Extra) -> Result<Value, RpcError> {
    let limit = limit(fields, 50)?;
    let before = params::optional::<String>(fields, "endBefore", "string")?;
    let mut all = hub.options.store.list(None, usize::MAX);
    if let Some(before) = before {
        let at = all.iter().position(|session| session.id.as_str() == before);
        all.drain(..at.map_or(0, |at| at + 1));
    }
    let has_more = all.len() > limit;
    all.truncate(limit);
    let next = all.last().filter(|_| has_more).map(|session| session.id.as_str().to_owned());
    let sessions: Vec<Value> = all.iter().map(|session| summary(hub, session)).collect();
    let mut result = json!({"sessions": sessions, "hasMore": has_more});
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    Ok(result)
}

fn summary(hub: &Hub, session: &Summary) -> Value {
    let mut value = json!({
        "sessionId": session.id.as_str(),
        "hostId": hub.options.host_id,
        "createdAt": seconds(session.created),
        "updatedAt": seconds(session.modified),
        "title": session.title,
        "messagesCount": session.count_records().unwrap_or_default(),
    });
    if let Some(cwd) = &session.cwd {
        value["cwd"] = cwd.to_string_lossy().into();
    }
    if let Some(parent) = &session.parent {
        value["callingSessionId"] = parent.as_str().into();
    }
    value
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Returns the messages of a session, newest first, in pages.
pub(super) fn messages(hub: &Hub, fields: &Extra) -> Result<Value, RpcError> {
    let limit = limit(fields, 20)?;
    let cursor = params::optional::<String>(fields, "cursor", "string")?;
    let role = params::optional::<String>(fields, "role", "string")?;
    let session = session(fields)?;
    let stored = read(&hub.options.store, &session)?;
    let mut messages: Vec<Value> = stored
        .messages
        .iter()
        .map(|message| Json::new(&to_wire::from_history(message)))
        .filter_map(|message| message.ok()?.to_value().ok())
        .collect();
    messages.reverse();
    if let Some(cursor) = cursor {
        let at = messages.iter().position(|message| message["id"] == *cursor);
        messages.drain(..at.map_or(0, |at| at + 1));
    }
    if let Some(role) = role {
        messages.retain(|message| message["role"] == *role);
    }
    let has_more = messages.len() > limit;
    messages.truncate(limit);
    let next = messages.last().filter(|_| has_more).map(|message| message["id"].clone());
    let mut result = json!({"messages": messages, "hasMore": has_more});
    if let Some(next) = next {
        result["nextCursor"] = next;
    }
    Ok(result)
}

fn read(store: &Store, session: &SessionId) -> Result<musher_engine::store::Stored, RpcError> {
    store.read(session).map_err(|failure| match failure {
        StoreError::NotFound(_) => error::no_session(session.as_str()),
        other => error::internal(other.with_causes().to_string()),
    })
}

/// Archives a session, or undoes it, and tells everyone.
pub(super) fn archive(hub: &Hub, fields: &Extra, archives: bool) -> Result<Value, RpcError> {
    let session = session(fields)?;
    let failed = |failure: StoreError| match failure {
        StoreError::NotFound(_) => error::no_session(session.as_str()),
        other => error::internal(other.with_causes().to_string()),
    };
    let mut loaded = hub.options.store.load(&session).map_err(failed)?;
    let changed = if archives { loaded.log.archive() } else { loaded.log.unarchive() };
    changed.map_err(failed)?;
    let archived_at = archives.then(|| format!("{:.3}", jiff::Timestamp::now()));
    let mut notice = json!({"sessionId": session.as_str()});
    let mut result = json!({"success": true});
    if let Some(archived_at) = archived_at {
        notice["archivedAt"] = archived_at.as_str().into();
        result["archivedAt"] = archived_at.into();
    }
    let notice = Notification::new("daemon.session.archive_state_changed", Json::from(notice));
    hub.states.send(Arc::new(StateChange::Everyone(Frame::Notification(notice)))).ok();
    Ok(result)
}

/// Returns the working directory of a session.
pub(super) fn cwd(hub: &Hub, fields: &Extra) -> Result<PathBuf, RpcError> {
    let session = session(fields)?;
    if let Some(cwd) = hub.registry.info(&session).and_then(|info| info.cwd) {
        return Ok(PathBuf::from(cwd));
    }
    let cwd = read(&hub.options.store, &session)?.start.cwd();
    cwd.ok_or_else(|| error::internal("the session has no working directory"))
}

fn session(fields: &Extra) -> Result<SessionId, RpcError> {
    let id = params::text(fields, "sessionId")?;
    SessionId::parse(&id).ok_or_else(|| error::no_session(&id))
}

fn limit(fields: &Extra, default: usize) -> Result<usize, RpcError> {
    match params::optional::<usize>(fields, "limit", "number")? {
        None => Ok(default),
        Some(limit @ 1..=100) => Ok(limit),
        Some(_) => Err(error::invalid_value("limit", "Number must be between 1 and 100")),
    }
}
