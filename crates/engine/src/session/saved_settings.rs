//! The settings and token counts of a session as they are stored next to its log, with droid's names. Pure.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::state::Session;
use crate::command::SystemPrompt;
use crate::cost::{Cost, SUBAGENTS, usage_of, usage_value};
use crate::{Autonomy, Effort, Mode, Settings, Usage};

/// Additional folders of the workspace.
const DIRECTORIES: &str = "additionalDirectories";

/// The tools that the model has found by a search.
const LOADED_TOOLS: &str = "loadedToolNames";
/// Why the last turn ended, by its name on the wire.
pub(super) const LAST_TURN_REASON: &str = "lastTurnReason";
/// The tokens that the model reads at most.
const CONTEXT_LIMIT: &str = "contextLimit";
/// The tools of MCP servers that are offered without a search.
const DIRECT_TOOLS: &str = "directMcpToolNames";

/// Returns the stored tools that the model has found, and those of MCP servers that are offered without a search.
pub(super) fn tool_names(saved: &Map<String, Value>) -> (Vec<String>, Option<Vec<String>>) {
    let names = |key: &str| saved.get(key).and_then(|list| serde_json::from_value(list.clone()).ok());
    (names(LOADED_TOOLS).unwrap_or_default(), names(DIRECT_TOOLS))
}

/// Returns what is stored of a session. Fields of other programs stay.
pub(super) fn save(session: &Session) -> Map<String, Value> {
    let settings = session.settings();
    let mut map = session.saved_settings().clone();
    let mut put = |key: &str, value: Value| {
        if value.is_null() {
            map.shift_remove(key);
        } else {
            map.insert(key.to_owned(), value);
        }
    };
    put("model", settings.model.clone().into());
    put("reasoningEffort", settings.effort.name().into());
    put("interactionMode", if settings.mode == Mode::Spec { "spec" } else { "auto" }.into());
    put("autonomyLevel", settings.autonomy.name().into());
    put("autonomyMode", autonomy_mode(settings).into());
    put("specModeModelId", settings.spec_model.clone().into());
    put("specModeReasoningEffort", settings.spec_effort.map(Effort::name).into());
    put("compactionThresholdCheckEnabled", settings.compaction_check.into());
    put("compactionTokenLimit", settings.compaction_token_limit.into());
    put("toolExecutionMode", "direct_only".into());
    put("allowSubagentsInScripts", false.into());
    put("enabledToolIds", list(&settings.tools.enabled));
    put("disabledToolIds", list(&settings.tools.disabled));
    put("additionalToolIds", list(&settings.tools.additional));
    put("restrictToolIds", list(&settings.tools.restricted));
    put(LOADED_TOOLS, list(session.loaded_tools()));
    put(DIRECT_TOOLS, session.servers().direct().map_or(Value::Null, list));
    put("tags", settings.tags.as_ref().map_or(Value::Null, |tags| json!(tags)));
    put("systemPrompt", settings.system_prompt.clone().unwrap_or_default());
    put(DIRECTORIES, list(session.attach().directories.as_deref().unwrap_or_default()));
    let used = session.usage();
    put("tokenUsage", usage(used.own()));
    put("inclusiveTokenUsage", usage(used.inclusive()));
    let subagents = used.by_subagent().iter().map(|(id, (used, cost))| {
        let mut counts = usage_value(*used);
        cost.store(&mut counts);
        (id.clone(), counts.into())
    });
    let subagents: Map<String, Value> = subagents.collect();
    put(SUBAGENTS, if subagents.is_empty() { Value::Null } else { subagents.into() });
    put("lastCallTokenUsage", used.last_call().map_or(Value::Null, usage));
    put(CONTEXT_LIMIT, session.model().and_then(|model| model.input_limit).map_or(Value::Null, Value::from));
    let (field, ledger) = used.ledger().stored();
    put(field, ledger);
    map
}

/// Restores stored settings. Values that cannot be read leave the setting as it is. The autonomy level is that of this process.
pub(super) fn restore(settings: &mut Settings, saved: &Map<String, Value>) {
    let text = |key: &str| saved.get(key).and_then(Value::as_str);
    let texts = |key: &str| saved.get(key).and_then(|list| serde_json::from_value(list.clone()).ok());
    if let Some(model) = text("model") {
        model.clone_into(&mut settings.model);
    }
    let effort =
        |key: &str| saved.get(key).and_then(|effort| serde_json::from_value::<Effort>(effort.clone()).ok());
    settings.effort = effort("reasoningEffort").unwrap_or(settings.effort);
    // a stored session never does more without asking than the process that opens it
    if text("interactionMode") == Some("spec") {
        settings.mode = Mode::Spec;
    }
    if let Some(model) = text("specModeModelId") {
        settings.spec_model = Some(model.to_owned());
    }
    settings.spec_effort = effort("specModeReasoningEffort").or(settings.spec_effort);
    let flag = saved.get("compactionThresholdCheckEnabled").and_then(Value::as_bool);
    settings.compaction_check = flag.unwrap_or(settings.compaction_check);
    let limit = saved.get("compactionTokenLimit").and_then(Value::as_u64);
    settings.compaction_token_limit = limit.or(settings.compaction_token_limit);
    settings.tools.enabled = texts("enabledToolIds").unwrap_or_default();
    settings.tools.disabled = texts("disabledToolIds").unwrap_or_default();
    settings.tools.additional = texts("additionalToolIds").unwrap_or_default();
    settings.tools.restricted = texts("restrictToolIds").unwrap_or_default();
    settings.tags = saved.get("tags").and_then(|tags| serde_json::from_value(tags.clone()).ok());
    settings.system_prompt = saved.get("systemPrompt").cloned();
}

/// Returns the stored autonomy level.
pub(super) fn autonomy(saved: &Map<String, Value>) -> Option<Autonomy> {
    saved.get("autonomyLevel").and_then(Value::as_str).and_then(Autonomy::parse)
}

/// Returns the stored system prompt.
pub(super) fn system_prompt(saved: &Map<String, Value>) -> Option<SystemPrompt> {
    match saved.get("systemPrompt")? {
        Value::String(text) => Some(SystemPrompt::Replace(text.clone())),
        Value::Object(preset) => {
            preset.get("append").and_then(Value::as_str).map(|text| SystemPrompt::Append(text.to_owned()))
        }
        _ => None,
    }
}

/// Returns a system prompt in the form clients give it.
pub(super) fn system_prompt_value(prompt: &SystemPrompt) -> Value {
    match prompt {
        SystemPrompt::Replace(text) => text.clone().into(),
        SystemPrompt::Append(text) => json!({"type": "preset", "preset": "droid", "append": text}),
    }
}

/// Returns the stored additional folders. Relative paths are left out.
pub(super) fn directories(saved: &Map<String, Value>) -> Vec<PathBuf> {
    let folders = saved.get(DIRECTORIES).and_then(Value::as_array).into_iter().flatten();
    folders.filter_map(Value::as_str).map(PathBuf::from).filter(|folder| folder.is_absolute()).collect()
}

/// Returns the stored token counts of subagents.
pub(super) fn subagent_counts(saved: &Map<String, Value>) -> BTreeMap<String, (Usage, Cost)> {
    let counts = saved.get(SUBAGENTS).and_then(Value::as_object).into_iter().flatten();
    counts.map(|(id, counts)| (id.clone(), (usage_of(counts), Cost::stored(counts)))).collect()
}

/// Returns stored token counts.
pub(super) fn counts(saved: &Map<String, Value>, key: &str) -> Option<Usage> {
    saved.get(key).map(usage_of)
}

fn usage(usage: Usage) -> Value {
    usage_value(usage).into()
}

fn autonomy_mode(settings: &Settings) -> &'static str {
    match (settings.mode, settings.autonomy) {
        (Mode::Spec, _) => "spec",
        (_, Autonomy::Off) => "normal",
        (_, Autonomy::Low) => "auto-low",
        (_, Autonomy::Medium) => "auto-medium",
        (_, Autonomy::High) => "auto-high",
    }
}

fn list(items: &[impl Serialize]) -> Value {
    if items.is_empty() { Value::Null } else { json!(items) }
}
