//! Which tools a session has, which of them the model is offered, and which it has to look for. Pure.

use std::collections::BTreeSet;

use musher_model::ToolSpec;
use musher_tools::{CATALOG, Category, Registry, ToolInfo, ToolOutput, engine_tool_schema, tool_info};
use serde_json::Value;

use super::state::Session;
use crate::command::{ToolEntry, ToolFilter};
use crate::mcp::{self, McpTool};
use crate::skills::Droid;
use crate::{Autonomy, Mode, Settings, ToolSelection};

/// What the model is offered, in this order. The order is that of droid, so that vendors' caches serve both.
const OFFERED: [&str; 15] = [
    "Read",
    "LS",
    "Execute",
    "Edit",
    "Grep",
    "Glob",
    "Create",
    "ExitSpecMode",
    "AskUser",
    "TodoWrite",
    "TaskOutput",
    "TaskStop",
    "ToolSearch",
    "Skill",
    "Task",
];

/// What it has to look for with `ToolSearch`, though calling it at once works too.
pub(crate) const DEFERRED: [&str; 1] = ["FetchUrl"];

/// What can be called, but is offered only where it is wished for.
const ON_WISH: [&str; 1] = ["ApplyPatch"];

/// What tools of the engine itself do, for the model.
fn engine_description(name: &str) -> Option<&'static str> {
    Some(match name {
        "ExitSpecMode" => {
            "Proposes a plan while planning (spec mode). Call it once the plan is complete; the user reads it and decides. \
             `plan` is Markdown: what will be changed, where, and how it will be checked. Only available in spec mode."
        }
        "AskUser" => {
            "Asks the user up to four short questions when the answer changes what you do. `questionnaire` is text: for each question \
             a line `N. [question] ...` (with `(multi)` at its end if several options may be chosen), then a line `[topic] ...` with \
             one word for it, then a line `[option] ...` for each of two to four options. The user may also answer freely."
        }
        "Skill" => {
            "Loads a skill: instructions for a kind of task, listed by name in a reminder. Call it before you begin such a task."
        }
        "ToolSearch" => {
            "Makes more tools available. `query` is `select:Name,Name` for tools you know by name from a reminder, or some words that \
             describe what you need."
        }
        "Task" => {
            "Gives a task to a subagent, which works on its own and hands back one message. `subagent_type` is a name from the list of \
             subagents in a reminder, `description` a few words for the user, `prompt` everything the subagent has to know: it sees \
             nothing of this conversation. With `await` false it works in the background, and you are told when it has ended."
        }
        "TaskOutput" => {
            "The message of a subagent that works in the background. Waits for it up to `timeout` milliseconds unless `block` is false."
        }
        "TaskStop" => "Ends a subagent that works in the background.",
        _ => return None,
    })
}

/// Whether a session can have a tool at all.
fn is_there(info: &ToolInfo, selection: &ToolSelection) -> bool {
    let named = |list: &[String]| list.iter().any(|id| id == info.id);
    !ON_WISH.contains(&info.name) || named(&selection.enabled) || named(&selection.additional)
}

/// Whether the session's selection has a tool.
fn is_selected(info: &ToolInfo, selection: &ToolSelection) -> bool {
    let named = |list: &[String]| list.iter().any(|id| id == info.id);
    is_there(info, selection)
        && !named(&selection.disabled)
        && (selection.restricted.is_empty() || named(&selection.restricted) || named(&selection.additional))
}

/// Whether there is something to run behind a name.
fn is_built(name: &str, registry: &Registry) -> bool {
    registry.get(name).is_some() || engine_description(name).is_some()
}

fn spec(name: &str, registry: &Registry) -> Option<ToolSpec> {
    if let Some(tool) = registry.get(name) {
        let (name, description) = (name.to_owned(), tool.description().to_owned());
        return Some(ToolSpec { name, description, schema: tool.schema() });
    }
    let description = engine_description(name)?.to_owned();
    Some(ToolSpec { name: name.to_owned(), description, schema: engine_tool_schema(name)? })
}

/// The tools the model is offered: ours, then those of servers.
pub(crate) fn offered(registry: &Registry, session: &Session) -> Vec<ToolSpec> {
    let selection = &session.settings.tools;
    let ours = specs(registry, selection, &session.loaded_tools);
    let theirs = session.mcp.tools().into_iter().filter(|tool| is_offered(tool, session));
    let theirs = theirs.map(|tool| ToolSpec {
        name: tool.model_name,
        description: tool.description.unwrap_or_default(),
        schema: Value::Object((*tool.schema).clone()),
    });
    ours.into_iter().chain(theirs).collect()
}

/// Whether a session has a tool of a server.
pub(crate) fn is_offered(tool: &McpTool, session: &Session) -> bool {
    let may_use = |droid: &Droid| droid.may_use(&tool.model_name, Some(&tool.server));
    mcp::is_selected(tool, &session.settings.tools)
        && session.subagent.as_ref().is_none_or(|subagent| may_use(&subagent.droid))
}

fn specs(registry: &Registry, selection: &ToolSelection, loaded: &BTreeSet<String>) -> Vec<ToolSpec> {
    let wished = |name: &&str| {
        let id = tool_info(name).map(|info| info.id);
        let is_named = |list: &[String]| list.iter().any(|wished| Some(wished.as_str()) == id);
        loaded.contains(*name) || is_named(&selection.enabled) || is_named(&selection.additional)
    };
    let more = DEFERRED.iter().chain(&ON_WISH).copied().filter(wished);
    let names = OFFERED.into_iter().chain(more);
    let selected = names.filter(|name| tool_info(name).is_some_and(|info| is_selected(info, selection)));
    selected.filter_map(|name| spec(name, registry)).collect()
}

/// Whether a call's tool is there, and if not, what the model is told.
pub(crate) fn known(name: &str, registry: &Registry, session: &Session) -> Result<(), ToolOutput> {
    let selection = &session.settings.tools;
    let is_known =
        tool_info(name).is_some_and(|info| is_selected(info, selection) && is_built(name, registry));
    if is_known {
        return Ok(());
    }
    let names: Vec<String> = offered(registry, session).into_iter().map(|spec| spec.name).collect();
    let hint = if name == "MultiEdit" { " Use Edit and Create." } else { "" };
    let text = format!(
        "Not found: {name}.{hint} Use ToolSearch to look for more tools. Available tools: {}",
        names.join(", ")
    );
    Err(ToolOutput::error(&text, &text))
}

/// The deferred tools a query means: `select:Name,Name`, or words.
pub(crate) fn search(query: &str, registry: &Registry, selection: &ToolSelection) -> Vec<ToolSpec> {
    let deferred =
        DEFERRED.into_iter().filter(|name| tool_info(name).is_some_and(|info| is_selected(info, selection)));
    let specs = deferred.filter_map(|name| spec(name, registry));
    if let Some(names) = query.trim().strip_prefix("select:") {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        return specs.filter(|spec| names.iter().any(|name| spec.name.eq_ignore_ascii_case(name))).collect();
    }
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    specs
        .filter(|spec| {
            let text = format!("{} {}", spec.name, spec.description).to_lowercase();
            words.iter().any(|word| text.contains(word.as_str()))
        })
        .collect()
}

/// The list of tools for a client: all there are, without those that have to be wished for. Those that are not selected are not allowed.
pub(crate) fn list(
    settings: &Settings,
    skips: bool,
    filter: &ToolFilter,
    registry: &Registry,
) -> Vec<ToolEntry> {
    let settings = as_asked(settings, filter);
    let skips = filter.skip_permissions.unwrap_or(skips);
    let wished = |info: &&ToolInfo| filter.ids.as_ref().is_none_or(|ids| ids.iter().any(|id| id == info.id));
    let there = CATALOG.iter().filter(|info| is_there(info, &settings.tools)).filter(wished);
    let entry = |info: &ToolInfo| {
        let spec = spec(info.name, registry);
        ToolEntry {
            id: info.id.to_owned(),
            name: info.name.to_owned(),
            display_name: info.display_name.to_owned(),
            description: spec
                .as_ref()
                .map_or_else(|| "Not available in this engine.".to_owned(), |spec| spec.description.clone()),
            category: info.category.name().to_owned(),
            default_allowed: info.is_default_allowed,
            currently_allowed: is_selected(info, &settings.tools) && is_allowed(info, &settings, skips),
            schema: spec.filter(|_| filter.schemas).map(|spec| spec.schema),
        }
    };
    there.map(entry).collect()
}

/// The settings a list is wanted for.
fn as_asked(settings: &Settings, filter: &ToolFilter) -> Settings {
    let mut settings = settings.clone();
    super::commands::apply(&mut settings, &filter.settings);
    settings
}

/// Which tools are on in the settings a list is wanted for.
pub(crate) fn selection(settings: &Settings, filter: &ToolFilter) -> ToolSelection {
    as_asked(settings, filter).tools
}

/// Whether a tool may run without asking, as clients are told it: by its kind, not by a call.
fn is_allowed(info: &ToolInfo, settings: &Settings, skips: bool) -> bool {
    if settings.mode == Mode::Spec {
        return info.is_default_allowed || matches!(info.name, "AskUser" | "ExitSpecMode");
    }
    match settings.autonomy {
        _ if skips => info.name != "ExitSpecMode",
        Autonomy::High => info.name != "ExitSpecMode",
        Autonomy::Off => info.is_default_allowed,
        Autonomy::Low | Autonomy::Medium => {
            info.is_default_allowed || info.category == Category::Edit || info.name == "AskUser"
        }
    }
}
