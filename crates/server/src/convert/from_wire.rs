//! Converts requests of a client to engine types. Unknown values are ignored, as droid ignores them.

use musher_engine as engine;
use musher_engine::config::OAuth;
use musher_engine::{
    Autonomy, Choice, Decision, Effort, Mode, ServerTransport, SessionServer, SettingsChange, SystemPrompt,
    UserResponse,
};
use musher_wire as wire;
use musher_wire::{
    AskUserResult, AutonomyLevel, AutonomyMode, InteractionMode, Json, McpServerConfig, McpServerType,
    ReasoningEffort, Request, RequestPermissionResult, RpcError,
};

use serde_json::Value;

use crate::params;
use crate::pending::QuestionKind;

/// Settings as several methods have them. `Some(None)` clears.
#[derive(Debug, Default)]
#[expect(clippy::option_option, reason = "absent and cleared differ")]
pub(crate) struct Settings {
    pub(crate) model_id: Option<String>,
    pub(crate) reasoning_effort: Option<ReasoningEffort>,
    pub(crate) interaction_mode: Option<InteractionMode>,
    pub(crate) autonomy_level: Option<AutonomyLevel>,
    pub(crate) autonomy_mode: Option<AutonomyMode>,
    pub(crate) spec_mode_model_id: Option<Option<String>>,
    pub(crate) spec_mode_reasoning_effort: Option<Option<ReasoningEffort>>,
    pub(crate) enabled_tool_ids: Option<Vec<String>>,
    pub(crate) disabled_tool_ids: Option<Vec<String>>,
    pub(crate) additional_tool_ids: Option<Vec<String>>,
    pub(crate) restrict_tool_ids: Option<Vec<String>>,
    pub(crate) tags: Option<Vec<wire::Tag>>,
    pub(crate) compaction_token_limit: Option<u64>,
    pub(crate) compaction_check: Option<bool>,
}

/// Converts a change of settings.
pub(crate) fn settings(given: Settings) -> SettingsChange {
    let (old_mode, old_level) = given.autonomy_mode.as_ref().map_or((None, None), autonomy_mode);
    SettingsChange {
        model: given.model_id,
        effort: given.reasoning_effort.as_ref().and_then(effort),
        mode: given.interaction_mode.as_ref().and_then(mode).or(old_mode),
        autonomy: given.autonomy_level.as_ref().and_then(autonomy).or(old_level),
        spec_model: given.spec_mode_model_id,
        spec_effort: match given.spec_mode_reasoning_effort {
            Some(Some(given)) => effort(&given).map(Some),
            Some(None) => Some(None),
            None => None,
        },
        enabled_tools: given.enabled_tool_ids,
        disabled_tools: given.disabled_tool_ids,
        additional_tools: given.additional_tool_ids,
        restricted_tools: given.restrict_tool_ids,
        tags: given.tags.map(tags),
        compaction_token_limit: given.compaction_token_limit,
        compaction_check: given.compaction_check,
    }
}

fn mode(mode: &InteractionMode) -> Option<Mode> {
    match mode {
        InteractionMode::Auto => Some(Mode::Auto),
        InteractionMode::Spec => Some(Mode::Spec),
        _ => None,
    }
}

fn autonomy(level: &AutonomyLevel) -> Option<Autonomy> {
    match level {
        AutonomyLevel::Off => Some(Autonomy::Off),
        AutonomyLevel::Low => Some(Autonomy::Low),
        AutonomyLevel::Medium => Some(Autonomy::Medium),
        AutonomyLevel::High => Some(Autonomy::High),
        _ => None,
    }
}

/// Older clients send mode and level as one value.
fn autonomy_mode(mode: &AutonomyMode) -> (Option<Mode>, Option<Autonomy>) {
    match mode {
        AutonomyMode::Normal => (Some(Mode::Auto), Some(Autonomy::Off)),
        AutonomyMode::Spec => (Some(Mode::Spec), None),
        AutonomyMode::AutoLow => (Some(Mode::Auto), Some(Autonomy::Low)),
        AutonomyMode::AutoMedium => (Some(Mode::Auto), Some(Autonomy::Medium)),
        AutonomyMode::AutoHigh => (Some(Mode::Auto), Some(Autonomy::High)),
        _ => (None, None),
    }
}

fn effort(effort: &ReasoningEffort) -> Option<Effort> {
    match effort {
        ReasoningEffort::None | ReasoningEffort::Off => Some(Effort::Off),
        ReasoningEffort::Minimal => Some(Effort::Minimal),
        ReasoningEffort::Low => Some(Effort::Low),
        ReasoningEffort::Medium => Some(Effort::Medium),
        ReasoningEffort::High => Some(Effort::High),
        ReasoningEffort::Xhigh => Some(Effort::XHigh),
        ReasoningEffort::Max => Some(Effort::Max),
        _ => None,
    }
}

/// Converts the tags of a client.
pub(crate) fn tags(tags: Vec<wire::Tag>) -> Vec<engine::Tag> {
    tags.into_iter().map(|tag| engine::Tag { name: tag.name, metadata: tag.metadata }).collect()
}

/// Converts the bytes of an image or a file.
pub(crate) fn media(source: wire::Source) -> engine::Media {
    engine::Media { media_type: source.media_type, data: source.data, name: source.name }
}

/// Reads the system prompt: a text that replaces the built-in one, or a text to append to it.
pub(crate) fn system_prompt(
    request: &Request,
    given: Option<&Json>,
) -> Result<Option<SystemPrompt>, RpcError> {
    let Some(given) = given else { return Ok(None) };
    let value = given.to_value().unwrap_or_default();
    if let Some(text) = value.as_str() {
        return Ok(Some(SystemPrompt::Replace(text.to_owned())));
    }
    match value.get("append").and_then(|append| append.as_str()) {
        Some(append) => Ok(Some(SystemPrompt::Append(append.to_owned()))),
        None if value.get("type").is_some_and(|kind| kind == "preset") => Ok(None),
        None => Err(params::wrong(request, "systemPrompt", "Expected string or preset")),
    }
}

/// Converts the client's MCP servers. An incomplete server is an error.
pub(crate) fn servers(
    request: &Request,
    given: Option<&[McpServerConfig]>,
) -> Result<Vec<SessionServer>, RpcError> {
    let mut servers = Vec::new();
    for (index, server) in given.unwrap_or_default().iter().enumerate() {
        let missing =
            |field: &str| params::wrong(request, &format!("mcpServers.{index}.{field}"), "Required");
        let headers = || {
            let headers = server.headers.iter().flatten();
            headers.map(|header| (header.name.clone(), header.value.clone())).collect()
        };
        let transport = match &server.kind {
            None | Some(McpServerType::Stdio) => ServerTransport::Stdio {
                command: server.command.clone().ok_or_else(|| missing("command"))?,
                args: server.args.clone().unwrap_or_default(),
                env: server.env.clone().unwrap_or_default(),
            },
            Some(McpServerType::Http) => ServerTransport::Http {
                url: server.url.clone().ok_or_else(|| missing("url"))?,
                headers: headers(),
            },
            Some(McpServerType::Sse) => ServerTransport::Sse {
                url: server.url.clone().ok_or_else(|| missing("url"))?,
                headers: headers(),
            },
            Some(_) => {
                let place = format!("mcpServers.{index}.type");
                return Err(params::wrong(request, &place, "Invalid value"));
            }
        };
        let oauth = oauth(request, &format!("mcpServers.{index}.oauth"), server.oauth.as_ref())?;
        servers.push(SessionServer { name: server.name.clone(), transport, oauth });
    }
    Ok(servers)
}

/// Reads how the user logs in to a server.
pub(crate) fn oauth(request: &Request, place: &str, given: Option<&Json>) -> Result<Option<Value>, RpcError> {
    let Some(given) = given else { return Ok(None) };
    let value = given.to::<Value>().map_err(|error| params::wrong(request, place, &error.to_string()))?;
    OAuth::parse(Some(&value)).map_err(|why| params::wrong(request, place, &why))?;
    Ok(Some(value))
}

/// Converts a client's response to a question. Anything that is not well-formed and known counts as a refusal.
pub(crate) fn answer(asked: &QuestionKind, outcome: &Result<Json, RpcError>) -> UserResponse {
    let result = match outcome {
        Ok(result) => result,
        Err(error) => {
            return UserResponse::Denied { reason: Some(format!("[code {}] {}", error.code, error.message)) };
        }
    };
    match asked {
        QuestionKind::Permission => permission(result),
        QuestionKind::Questions => questions(result),
    }
}

/// Returns the answer to use when a response cannot be read.
pub(crate) fn broken_answer(why: &str) -> UserResponse {
    UserResponse::Denied { reason: Some(format!("Invalid permission response format: {why}")) }
}

fn permission(result: &Json) -> UserResponse {
    let given: RequestPermissionResult = match result.to() {
        Ok(given) => given,
        Err(error) => return broken_answer(&error.to_string()),
    };
    match Choice::parse(given.selected_option.as_str()) {
        Some(Choice::Cancel) => match (rewritten(given.rewritten_input.as_ref()), given.continue_turn) {
            (Some(input), _) => UserResponse::Rewritten { input },
            (None, Some(true)) => UserResponse::DeniedForNow { reason: given.comment.unwrap_or_default() },
            (None, _) => UserResponse::Denied { reason: None },
        },
        Some(choice) => UserResponse::Decision(Decision { choice, edited_plan: given.edited_spec_content }),
        None => broken_answer(&format!("unknown option `{}`", given.selected_option)),
    }
}

/// Returns the new input of a call; anything but an object is none.
fn rewritten(input: Option<&Json>) -> Option<serde_json::Map<String, Value>> {
    match input?.to_value().ok()? {
        Value::Object(input) => Some(input),
        _ => None,
    }
}

fn questions(result: &Json) -> UserResponse {
    let given: AskUserResult = match result.to() {
        Ok(given) => given,
        // the model reads this reason and continues
        Err(_) => return UserResponse::Denied { reason: Some("AskUser cancelled".to_owned()) },
    };
    if given.cancelled == Some(true) {
        return UserResponse::Denied { reason: None };
    }
    let index = |count: &wire::Count| usize::try_from(count.get()).unwrap_or_default();
    UserResponse::Answers(given.answers.into_iter().map(|it| (index(&it.index), it.answer)).collect())
}
