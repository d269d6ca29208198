//! Sessions: open, load, settings, fork, compact, rename, close.

use std::path::PathBuf;

use musher_engine::{
    Attach, Command, ContinueTurn, LoadSession, NewSession, SandboxSettings, SettingsChange,
};
use musher_wire as wire;
use musher_wire::Request;
use serde_json::{Map, Value};

use super::{asks, succeeds};
use crate::convert::from_wire;
use crate::dispatch::{Handled, MethodOutcome};
use crate::params;
use crate::pending::{Pending, ReplyShape};

/// Reads what both ways to open a session take: the rules and surroundings of the session, and the client's editor. Their parameters are two
/// types with the same fields.
macro_rules! attach {
    ($request:ident, $pending:ident, $given:ident) => {{
        let editor = $given.client_capabilities.as_ref().and_then(|client| client.editor.clone());
        let requests = $pending.editor.as_ref().zip(editor.as_ref());
        let attach = Attach {
            mcp_servers: from_wire::servers($request, $given.mcp_servers.as_deref())?,
            auto_reject: $given.auto_reject_permission_requests.unwrap_or_default(),
            skip_permissions: $given.skip_permissions_unsafe.unwrap_or_default(),
            disable_builtin_skills: $given.disable_builtin_skills.unwrap_or_default(),
            directories: directories($request, $given.additional_directories.as_deref())?,
            sandbox: sandbox($request, $given.sandbox.as_ref())?,
            editor: requests.map(|(requests, editor)| requests.editor(editor)),
            login_callback: $given.mcp_oauth_callback_uri.clone(),
        };
        (attach, editor)
    }};
}

pub(super) fn initialize(request: &Request, pending: &Pending) -> Handled {
    let given = params::read::<wire::InitializeSession>(request)?;
    let (attach, editor) = attach!(request, pending, given);
    let extra = stored_fields(&given);
    let settings = from_wire::Settings {
        model_id: given.model_id,
        reasoning_effort: given.reasoning_effort,
        interaction_mode: given.interaction_mode,
        autonomy_level: given.autonomy_level,
        autonomy_mode: given.autonomy_mode,
        spec_mode_model_id: given.spec_mode_model_id.map(Some),
        spec_mode_reasoning_effort: given.spec_mode_reasoning_effort.map(Some),
        enabled_tool_ids: given.enabled_tool_ids,
        disabled_tool_ids: given.disabled_tool_ids,
        additional_tool_ids: given.additional_tool_ids,
        restrict_tool_ids: given.restrict_tool_ids,
        tags: given.tags,
        compaction_token_limit: None,
        compaction_check: given.compaction_threshold_check_enabled,
    };
    let session = NewSession {
        id: given.session_id,
        cwd: given.cwd.into(),
        settings: from_wire::settings(settings),
        attach,
        title: given.title,
        system_prompt: from_wire::system_prompt(request, given.system_prompt.as_ref())?,
        extra,
    };
    let shape = ReplyShape::Opened { servers: given.mcp_servers, editor };
    Ok(MethodOutcome::Command(Command::Create(Box::new(session)), shape))
}

/// Additional directories of the workspace, if given.
fn directories(request: &Request, given: Option<&[String]>) -> Result<Option<Vec<PathBuf>>, wire::RpcError> {
    let Some(given) = given else { return Ok(None) };
    let folders: Vec<_> = given.iter().map(PathBuf::from).collect();
    match folders.iter().position(|folder| !folder.is_absolute()) {
        None => Ok(Some(folders)),
        Some(at) => Err(params::wrong(request, &format!("additionalDirectories.{at}"), "must be absolute")),
    }
}

/// The sandbox, if given. What is not understood may be a restriction, so it is an error.
fn sandbox(request: &Request, given: Option<&wire::Json>) -> Result<SandboxSettings, wire::RpcError> {
    let Some(given) = given else { return Ok(SandboxSettings::default()) };
    let value = given.to_value().map_err(|error| error.to_string());
    let settings = value
        .and_then(|value| if value.is_null() { Ok(SandboxSettings::default()) } else { value.try_into() });
    settings.map_err(|problem| params::wrong(request, "sandbox", &problem))
}

/// Fields that musher does not interpret, but stores with the session.
fn stored_fields(given: &wire::InitializeSessionParams) -> Map<String, Value> {
    let text = |text: &Option<String>| text.clone().map(Value::from);
    let json = |json: &Option<wire::Json>| json.as_ref().and_then(|json| json.to_value().ok());
    let fields = [
        ("workspaceId", text(&given.workspace_id)),
        ("sessionLocation", json(&given.session_location)),
        ("sessionOriginHint", given.session_origin_hint.as_ref().map(|it| it.as_str().into())),
        ("sessionSource", json(&given.session_source)),
        ("decompSessionType", given.decomp_session_type.as_ref().map(|it| it.as_str().into())),
        ("decompMissionId", text(&given.decomp_mission_id)),
    ];
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

pub(super) fn load(request: &Request, pending: &Pending) -> Handled {
    let given = params::read::<wire::LoadSession>(request)?;
    let (attach, editor) = attach!(request, pending, given);
    let settings = SettingsChange {
        enabled_tools: given.enabled_tool_ids,
        disabled_tools: given.disabled_tool_ids,
        additional_tools: given.additional_tool_ids,
        ..SettingsChange::default()
    };
    let shape = ReplyShape::Opened { servers: given.mcp_servers, editor };
    Ok(MethodOutcome::Command(
        Command::Load(Box::new(LoadSession {
            id: given.session_id,
            settings,
            attach,
            continues: given.continue_turn.map_or(ContinueTurn::No, |which| continues(&which)),
        })),
        shape,
    ))
}

/// Which turn continues: `true` for the last one, or the ids of prompts.
fn continues(which: &wire::Json) -> ContinueTurn {
    match (which.to::<bool>(), which.to::<Vec<String>>()) {
        (Ok(true), _) => ContinueTurn::Last,
        (_, Ok(prompts)) => ContinueTurn::Of(prompts),
        _ => ContinueTurn::No,
    }
}

pub(super) fn update_settings(request: &Request) -> Handled {
    let given = params::read::<wire::UpdateSessionSettings>(request)?;
    // a null clears the setting; typed fields cannot tell null from absent, so it is looked up among the extra fields
    let is_cleared = |key: &str| given.extra.get(key).is_some_and(wire::Json::is_null);
    let settings = from_wire::Settings {
        spec_mode_model_id: if is_cleared("specModeModelId") {
            Some(None)
        } else {
            given.spec_mode_model_id.map(Some)
        },
        spec_mode_reasoning_effort: if is_cleared("specModeReasoningEffort") {
            Some(None)
        } else {
            given.spec_mode_reasoning_effort.map(Some)
        },
        model_id: given.model_id,
        reasoning_effort: given.reasoning_effort,
        interaction_mode: given.interaction_mode,
        autonomy_level: given.autonomy_level,
        autonomy_mode: given.autonomy_mode,
        enabled_tool_ids: given.enabled_tool_ids,
        disabled_tool_ids: given.disabled_tool_ids,
        additional_tool_ids: given.additional_tool_ids,
        restrict_tool_ids: given.restrict_tool_ids,
        tags: given.tags,
        compaction_token_limit: given.compaction_token_limit.map(|count| count.get()),
        compaction_check: given.compaction_threshold_check_enabled,
    };
    asks(Command::ChangeSettings(Box::new(from_wire::settings(settings))))
}

pub(super) fn fork(request: &Request) -> Handled {
    let given = params::read::<wire::ForkSession>(request)?;
    asks(Command::Fork { title: given.title, tags: given.tags.map(from_wire::tags) })
}

pub(super) fn compact(request: &Request) -> Handled {
    let given = params::read::<wire::CompactSession>(request)?;
    asks(Command::Compact { instructions: given.custom_instructions })
}

pub(super) fn rename(request: &Request) -> Handled {
    let given = params::read::<wire::RenameSession>(request)?;
    succeeds(Command::Rename { title: given.title })
}

pub(super) fn close(request: &Request) -> Handled {
    let given = params::read::<wire::CloseSession>(request)?;
    asks(Command::Close { reason: given.reason.map(|reason| reason.as_str().to_owned()) })
}

pub(super) fn kill_worker(request: &Request) -> Handled {
    let given = params::read::<wire::KillWorkerSession>(request)?;
    asks(Command::KillWorker { session: given.worker_session_id })
}
