//! The calls that need no agent: lists of sessions, their messages, files of a workspace. They read the disk, so they run beside.

mod files;
mod sessions;

use std::sync::Arc;

use musher_wire::{Extra, Json, Request, RpcError};
use serde_json::json;

use super::error;
use super::hub::Hub;
use super::params;
use super::worktree;
use crate::console;

/// The calls that need no agent.
const KNOWN: &[&str] = &[
    "daemon.list_opened_sessions",
    "daemon.list_available_sessions",
    "daemon.get_session_messages",
    "daemon.archive_session",
    "daemon.unarchive_session",
    "daemon.list_files",
    "daemon.search_files",
    "daemon.get_workspace_file_content",
    "daemon.validate_working_directory",
    "daemon.list_crons",
    "daemon.relay.get_status",
    "daemon.trigger_update",
];

pub(crate) fn is_known(method: &str) -> bool {
    KNOWN.contains(&method) || worktree::is_known(method)
}

/// Answers a call.
pub(crate) async fn handle(hub: &Arc<Hub>, request: &Request) -> Result<Json, RpcError> {
    let fields = params::checked(request)?;
    let (hub, method) = (Arc::clone(hub), request.method.clone());
    if console::is_git(&method) {
        let (of, asked) = (Arc::clone(&hub), fields.clone());
        let cwd = tokio::task::spawn_blocking(move || sessions::cwd(&of, &asked)).await;
        let cwd = cwd.map_err(|failed| error::internal(failed.to_string()))??;
        return console::handle_git(cwd, &method, &fields).await;
    }
    if worktree::is_known(&method) {
        return worktree::handle(&hub, &method, &fields).await;
    }
    let (of, is_archive) = (Arc::clone(&hub), method == "daemon.archive_session");
    let task = tokio::task::spawn_blocking(move || answer(&hub, &method, &fields));
    if is_archive {
        let outcome = task.await.unwrap_or_else(|failed| Err(error::internal(failed.to_string())));
        if outcome.is_ok() {
            worktree::clean_up(&of).await;
        }
        return outcome;
    }
    task.await.unwrap_or_else(|failed| Err(error::internal(failed.to_string())))
}

fn answer(hub: &Arc<Hub>, method: &str, fields: &Extra) -> Result<Json, RpcError> {
    let value = match method {
        "daemon.list_opened_sessions" => sessions::opened(hub),
        "daemon.list_available_sessions" => sessions::available(hub, fields)?,
        "daemon.get_session_messages" => sessions::messages(hub, fields)?,
        "daemon.archive_session" => sessions::archive(hub, fields, true)?,
        "daemon.unarchive_session" => sessions::archive(hub, fields, false)?,
        "daemon.list_files" => files::list(&sessions::cwd(hub, fields)?, fields)?,
        "daemon.search_files" => files::search(&sessions::cwd(hub, fields)?, fields)?,
        "daemon.get_workspace_file_content" => files::content(&sessions::cwd(hub, fields)?, fields)?,
        "daemon.validate_working_directory" => files::validate(fields)?,
        "daemon.list_crons" => json!({"crons": []}),
        "daemon.relay.get_status" => json!({"connected": false}),
        "daemon.trigger_update" => {
            json!({"triggered": false, "message": "Update not available on this daemon"})
        }
        _ => return console::handle(hub, method, fields),
    };
    Ok(Json::from(value))
}
