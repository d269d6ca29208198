//! Converts replies of the engine to the result of each method.

use std::path::Path;

use musher_engine as engine;
use musher_engine::{
    ContextBreakdown, Created, Loaded, ModelView, Reply, Repository, ServerView, WorkingState,
};
use musher_wire as wire;
use musher_wire::{AgentCapabilities, Json, McpServerConfig, RpcError, SessionData};
use serde_json::{Value, json};

use super::{count, last_call, message, question, settings, state, usage};
use crate::error_code;
use crate::pending::ReplyShape;

/// Returns the result of a request.
pub(super) fn result(
    outcome: Result<Reply, engine::Error>,
    shape: ReplyShape,
    host: &str,
) -> Result<Json, RpcError> {
    let reply = outcome.map_err(|error| error_code::of_engine(&error))?;
    let (servers, editor) = match shape {
        ReplyShape::Opened { servers, editor } => (servers, editor),
        ReplyShape::Success if matches!(reply, Reply::Done) => return Ok(success(true)),
        ReplyShape::Plain | ReplyShape::Success => (None, None),
    };
    let editor =
        editor.map(|editor| AgentCapabilities { editor: Some(editor), ..AgentCapabilities::default() });
    Ok(match reply {
        Reply::Done => Json::empty_object(),
        Reply::Success(worked) => success(worked),
        Reply::Created(created) => {
            let mut it = self::created(&created, servers, host);
            it.agent_capabilities = editor;
            to_json(&it)
        }
        Reply::Loaded(loaded) => {
            let mut it = self::loaded(&loaded, servers, host);
            it.agent_capabilities = editor;
            to_json(&it)
        }
        Reply::Forked { session } => to_json(&wire::ForkSessionResult::new(session.as_str())),
        Reply::Compacted { session, removed } => {
            let mut it = wire::CompactSessionResult::new(session.as_str());
            it.removed_count = Some(count(removed));
            to_json(&it)
        }
        Reply::RewindInfo(info) => to_json(&rewind_info(&info)),
        Reply::Rewound { session, restored, deleted, failed_restores, failed_deletes } => {
            let mut it = wire::ExecuteRewindResult::new(session.as_str());
            it.restored_count = Some(count(restored));
            it.deleted_count = Some(count(deleted));
            it.failed_restore_count = Some(count(failed_restores));
            it.failed_delete_count = Some(count(failed_deletes));
            to_json(&it)
        }
        Reply::ContextStats { used, limit, is_exact } => {
            let mut it = wire::GetContextStatsResult::new(used, limit.saturating_sub(used), limit);
            it.accuracy = Some(if is_exact { "exact" } else { "estimated" }.into());
            it.updated_at = Some(now());
            to_json(&it)
        }
        Reply::ContextBreakdown(breakdown) => to_json(&self::breakdown(&breakdown)),
        Reply::Tools(tools) => {
            to_json(&wire::ListToolsResult::new(tools.into_iter().map(tool).collect::<Vec<_>>()))
        }
        Reply::Models(models) => {
            let listed = |view: &ModelView| wire::ModelInfo { disabled: Some(false), ..model(view) };
            to_json(&wire::ListModelsResult::new(models.iter().map(listed).collect::<Vec<_>>()))
        }
        Reply::Skills { skills, project_available } => {
            let mut it = wire::ListSkillsResult::new(skills.into_iter().map(skill).collect::<Vec<_>>());
            it.project_available = Some(project_available);
            to_json(&it)
        }
        Reply::Commands(commands) => {
            let command = |view: engine::CommandView| {
                let mut it = wire::CommandInfo::new(view.name);
                it.description = Some(view.description);
                it.argument_hint = view.argument_hint;
                it.is_executable = Some(view.is_executable);
                it
            };
            to_json(&wire::ListCommandsResult::new(commands.into_iter().map(command).collect::<Vec<_>>()))
        }
        Reply::McpServers(views) => {
            let (servers, summary) = servers_and_summary(&views);
            let mut it = wire::ListMcpServersResult::new(servers);
            it.summary = Some(summary);
            to_json(&it)
        }
        Reply::McpTools(tools) => {
            to_json(&wire::ListMcpToolsResult::new(tools.into_iter().map(mcp_tool).collect::<Vec<_>>()))
        }
        // no other reply exists as long as both crates are built together
        _ => return Err(error_code::ended()),
    })
}

/// Returns the current time, in the format of the protocol.
pub(super) fn now() -> String {
    format!("{:.3}", jiff::Timestamp::now())
}

/// MCP servers, and the number of servers in each state.
pub(super) fn servers_and_summary(views: &[ServerView]) -> (Vec<wire::McpServerInfo>, wire::McpSummary) {
    let server = |view: &ServerView| {
        let mut it = wire::McpServerInfo::new(view.name.as_str(), view.status.as_str());
        it.source = Some(view.source.clone());
        it.is_managed = Some(false);
        it.error.clone_from(&view.error);
        it.tool_count = view.tool_count.map(count);
        it.server_type = Some(view.kind.as_str().into());
        it.has_auth_tokens = view.has_tokens;
        it.requires_auth = view.requires_login.then_some(true);
        if let Some(login) = &view.pending_login {
            it.pending_auth_url = Some(login.url.clone());
            it.pending_auth_message = Some(login.message.clone());
            it.pending_auth_state = Some(login.state.clone());
        }
        it
    };
    let number = |status: &str| Some(count(views.iter().filter(|view| view.status == status).count()));
    let summary = wire::McpSummary {
        total: Some(count(views.len())),
        connected: number("connected"),
        connecting: number("connecting"),
        failed: number("failed"),
        disabled: number("disabled"),
        ..wire::McpSummary::default()
    };
    (views.iter().map(server).collect(), summary)
}

fn to_json<T: wire::Payload>(value: &T) -> Json {
    // these types have string keys only, so serializing them cannot fail
    Json::new(value).unwrap_or_else(|_| Json::empty_object())
}

fn success(worked: bool) -> Json {
    to_json(&wire::Success::new(worked))
}

fn path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn created(
    created: &Created,
    servers: Option<Vec<McpServerConfig>>,
    host: &str,
) -> wire::InitializeSessionResult {
    let mut it = wire::InitializeSessionResult::new(created.id.as_str());
    it.host_id = Some(host.to_owned());
    it.session = Some(SessionData::new(Vec::new()));
    it.settings = Some(settings::opened(&created.settings));
    it.available_models = Some(created.models.iter().map(model).collect());
    it.mcp_servers = servers;
    it.git_repo = created.repository.as_ref().map(repository);
    it
}

fn loaded(loaded: &Loaded, servers: Option<Vec<McpServerConfig>>, host: &str) -> wire::LoadSessionResult {
    let messages: Vec<_> = loaded.messages.iter().map(|it| message::from_history(it)).collect();
    let mut session = SessionData::new(messages);
    session.title.clone_from(&loaded.title);
    let mut it = wire::LoadSessionResult::new(session);
    it.session_id = Some(loaded.id.as_str().to_owned());
    it.has_older_messages = Some(false);
    it.host_id = Some(host.to_owned());
    it.updated_at = loaded.updated_at_ms.map(|ms| super::moment(ms / 1000));
    it.settings = Some(settings::opened(&loaded.settings));
    it.available_models = Some(loaded.models.iter().map(model).collect());
    it.is_agent_loop_in_progress = Some(loaded.state != WorkingState::Idle);
    it.working_state = Some(state(loaded.state));
    it.cwd = Some(path(&loaded.cwd));
    it.token_usage = Some(usage(&loaded.usage));
    it.inclusive_token_usage = Some(usage(&loaded.usage));
    it.last_call_token_usage = loaded.last_call.as_ref().map(last_call);
    let (permissions, asks) = question::pending(&loaded.requests);
    it.pending_permissions = (!permissions.is_empty()).then_some(permissions);
    it.pending_ask_user_requests = (!asks.is_empty()).then_some(asks);
    let queued: Vec<_> = loaded.queued.iter().map(queued).collect();
    it.queued_messages = (!queued.is_empty()).then_some(queued);
    it.mcp_servers = servers;
    it.git_repo = loaded.repository.as_ref().map(repository);
    it
}

fn queued((command_id, text): &(Option<engine::CommandId>, String)) -> wire::QueuedMessage {
    let request = command_id.as_ref().map_or("", |command_id| &*command_id.0);
    wire::QueuedMessage::new(text.as_str(), request)
}

fn repository(repository: &Repository) -> wire::GitRepo {
    wire::GitRepo {
        owner: repository.owner.clone(),
        repo_name: Some(repository.name.clone()),
        ..wire::GitRepo::default()
    }
}

fn model(view: &ModelView) -> wire::ModelInfo {
    let mut it = wire::ModelInfo::new(view.id.as_str());
    it.model_provider = Some(view.provider.as_str().into());
    it.display_name = Some(view.display_name.clone());
    it.short_display_name = Some(view.display_name.clone());
    it.supported_reasoning_efforts =
        Some(view.efforts.iter().map(|effort| settings::effort(*effort)).collect());
    it.default_reasoning_effort = Some(settings::effort(view.default_effort));
    it.is_custom = Some(true);
    it.no_image_support = Some(view.text_only);
    it
}

fn tool(entry: engine::ToolEntry) -> wire::ToolInfo {
    let mut it = wire::ToolInfo::new(entry.id, entry.name);
    it.display_name = Some(entry.display_name);
    it.description = Some(entry.description);
    // the wire has no category for tools of MCP servers, but a field for the source of a tool
    let is_mcp = entry.category == "mcp";
    it.category = Some(if is_mcp { "execute" } else { entry.category.as_str() }.into());
    it.source = is_mcp.then(|| "mcp".into());
    it.default_allowed = Some(entry.default_allowed);
    it.currently_allowed = Some(entry.currently_allowed);
    it.schemas = entry.schema.map(|schema| Json::from(json!({"input": schema})));
    it
}

fn skill(view: engine::SkillView) -> wire::SkillInfo {
    let mut it = wire::SkillInfo::new(view.name);
    it.description = view.description;
    it.location = Some(view.location.as_str().into());
    it.file_path = Some(path(&view.path));
    it.enabled = Some(view.enabled);
    it.user_invocable = Some(view.user_invocable);
    it.content = Some(view.content);
    let resource = |(name, file, is_reference): (String, std::path::PathBuf, bool)| {
        let mut it = wire::SkillResource::new(name, path(&file));
        it.kind = Some(if is_reference { "reference" } else { "asset" }.to_owned());
        it
    };
    it.resources = Some(view.resources.into_iter().map(resource).collect());
    let by = |level: String| Json::from(json!({"kind": "ledger", "sources": [{"level": level}]}));
    it.disabled_by = view.disabled_by.map(by);
    it
}

fn mcp_tool(view: engine::McpToolView) -> wire::McpToolInfo {
    let mut it = wire::McpToolInfo::new(view.server, view.name);
    it.description = view.description;
    it.is_enabled = Some(view.enabled);
    it.is_read_only = view.read_only;
    it.input_schema = Some(Json::from(&view.schema)).filter(|_| view.schema != Value::Null);
    it
}

fn rewind_info(info: &engine::RewindInfo) -> wire::GetRewindInfoResult {
    let available = info
        .available
        .iter()
        .map(|(file, hash, size)| wire::RewindFile::new(path(file), hash.as_str(), *size));
    let created = info.created.iter().map(|file| wire::RewindCreatedFile::new(path(file)));
    let evicted = info.evicted.iter().map(|(file, reason)| {
        let mut it = wire::RewindEvictedFile::new(path(file));
        it.reason = Some(reason.clone());
        it
    });
    wire::GetRewindInfoResult::new(
        available.collect::<Vec<_>>(),
        created.collect::<Vec<_>>(),
        evicted.collect::<Vec<_>>(),
    )
}

fn breakdown(breakdown: &ContextBreakdown) -> wire::GetContextBreakdownResult {
    let part = |(name, place, tokens): &(String, String, u64)| {
        let mut it = wire::ContextPart::new(name.as_str(), *tokens);
        it.location = Some(place.as_str().into());
        it
    };
    let free = breakdown.limit.saturating_sub(breakdown.used);
    let mut it = wire::GetContextBreakdownResult::new(breakdown.limit, breakdown.used, free);
    it.model_id = Some(breakdown.model.clone());
    it.model_display_name = Some(breakdown.display_name.clone());
    let category = |(name, color, tokens): &(String, &'static str, u64)| {
        let mut it = wire::ContextCategory::new(name.as_str(), *tokens);
        it.color_key = Some((*color).to_owned());
        it
    };
    it.categories = Some(breakdown.categories.iter().map(category).collect());
    it.skills = Some(breakdown.skills.iter().map(part).collect());
    let server = |(name, tools, tokens): &(String, usize, u64)| {
        let mut it = wire::ContextMcpServer::new(name.as_str(), *tokens);
        it.tool_count = Some(count(*tools));
        it
    };
    it.mcp_servers = Some(breakdown.mcp_servers.iter().map(server).collect());
    it.droids = Some(breakdown.droids.iter().map(part).collect());
    it
}
