//! Calls of the front end, carried out with the SDK. Each runs in a task of its own.

use musher::Session;
use musher::wire::{ExecuteRewindParams, GetRewindInfoParams, McpServerConfig};
use musher_claude::{Call, Json, PermissionMode as Mode};
use serde_json::json;

use super::models::{self, ModelNames};
use super::modes::{self, Standing};
use super::{catalog, describe};

/// How a call ended.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) key: u64,
    pub(super) outcome: Result<Json, String>,
    pub(super) effect: Effect,
}

/// The change of our own state that a call causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    None,
    Interrupt,
    Mode(Standing),
}

/// The session data that calls need.
#[derive(Debug, Clone)]
pub(super) struct Basis {
    pub(super) session: Session,
    pub(super) first_model: String,
    pub(super) model_names: ModelNames,
    pub(super) may_bypass: bool,
    pub(super) servers: Vec<McpServerConfig>,
}

/// Returns the change that a call causes if it succeeds.
pub(super) fn effect(call: &Call) -> Effect {
    match call {
        Call::Interrupt => Effect::Interrupt,
        Call::SetPermissionMode(mode) => Effect::Mode(Standing::of(*mode)),
        _ => Effect::None,
    }
}

/// Carries a call out.
pub(super) async fn carry_out(key: u64, call: Call, basis: Basis) -> Done {
    let effect = effect(&call);
    Done { key, outcome: outcome(call, &basis).await, effect }
}

async fn outcome(call: Call, basis: &Basis) -> Result<Json, String> {
    let session = &basis.session;
    let failed = |error: musher::Error| describe(&error);
    match call {
        Call::Interrupt => session.interrupt().await.map_err(failed).map(|()| Json::null()),
        Call::McpStatus => {
            let servers = catalog::servers(session, &basis.servers).await.map_err(failed)?;
            Ok(json!({"mcpServers": servers}).into())
        }
        Call::SetModel(model) => {
            let model = model.unwrap_or_else(|| basis.first_model.clone());
            models::set(session, &basis.model_names, &model).await.map(|()| Json::null())
        }
        Call::SetPermissionMode(mode) => {
            if mode == Mode::BypassPermissions && !basis.may_bypass {
                return Err(
                    "the session was not started with `allow_dangerously_skip_permissions`".to_owned()
                );
            }
            session.update_settings(modes::change_to(mode)).await.map_err(failed).map(|_| Json::null())
        }
        Call::RewindFiles { user_message_id, dry_run } => rewind(session, user_message_id, dry_run).await,
        other => Err(format!("this agent does not have `{}`", other.subtype())),
    }
}

async fn rewind(session: &Session, message_id: String, dry_run: bool) -> Result<Json, String> {
    let failed = |error: musher::Error| describe(&error);
    let id = session.id().to_string();
    let info = session
        .client()
        .get_rewind_info(GetRewindInfoParams::new(id.clone(), message_id.clone()))
        .await
        .map_err(failed)?;
    let restored = info.available_files.iter().map(|file| file.file_path.clone());
    let deleted = info.created_files.iter().map(|file| file.file_path.clone());
    let changed: Vec<_> = restored.chain(deleted).collect();
    if changed.is_empty() {
        return Ok(json!({"canRewind": false, "error": "no file was changed since this message"}).into());
    }
    if !dry_run {
        // the agent also forks the conversation; this session continues unchanged
        let title = format!("Before {message_id}");
        let params =
            ExecuteRewindParams::new(id, message_id, info.available_files, info.created_files, title);
        session.client().execute_rewind(params).await.map_err(failed)?;
    }
    Ok(json!({"canRewind": true, "filesChanged": changed}).into())
}
