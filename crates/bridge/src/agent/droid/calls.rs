//! Calls of the front end, carried out with the SDK. Each runs in a task of its own.

use musher::Session;
use musher::wire::{
    ExecuteRewindParams, GetRewindInfoParams, ListModelsParams, McpServerConfig, ModelInfo,
    UpdateSessionSettingsParams,
};
use musher_claude::{Call, Json, PermissionMode as Mode};
use serde_json::json;

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
            set_model(session, model).await.map(|()| Json::null())
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

/// Sets the model. The agent stores any name, and only the next turn would fail.
async fn set_model(session: &Session, wanted: String) -> Result<(), String> {
    let failed = |error: musher::Error| describe(&error);
    let change = |model: String| {
        let model_id = Some(model);
        session.update_settings(UpdateSessionSettingsParams {
            model_id,
            ..UpdateSessionSettingsParams::default()
        })
    };
    let state = session.state();
    let is_listed = |models: &[ModelInfo]| {
        models.iter().any(|model| model.id == wanted || model.model_id.as_deref() == Some(&wanted))
    };
    // a custom model has more names than the listed one
    if is_listed(&state.models) || wanted.starts_with("custom:") || state.models.is_empty() {
        return change(wanted).await.map_err(failed).map(drop);
    }
    let unknown = format!("unknown model `{wanted}`");
    let Some(before) = state.settings.model_id.filter(|_| wanted.contains('/')) else { return Err(unknown) };
    // an agent lists a model that is known by its vendor only while it is in use
    change(wanted.clone()).await.map_err(failed)?;
    let listed = session.client().list_models(ListModelsParams::default()).await.map_err(failed)?;
    if is_listed(&listed.models) {
        return Ok(());
    }
    change(before).await.map_err(failed)?;
    Err(unknown)
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
