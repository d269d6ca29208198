//! Which tools a session has, which of them are offered to the model, and which it has to search for. Pure.

use std::collections::BTreeSet;

use musher_model::ToolSpec;
use musher_tools::{ListedFrom, Offer, Registry, ToolInfo};
use serde_json::Value;

use super::state::Session;
use crate::command::ToolFilter;
use crate::mcp::{self, McpTool};
use crate::permission::Refusal;
use crate::skills::Droid;
use crate::{Autonomy, Mode, Settings, ToolSelection};

/// A tool in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolEntry {
    /// How clients name it.
    pub id: String,
    /// How the model names it.
    pub name: String,
    /// How people name it.
    pub display_name: String,
    /// What it does.
    pub description: String,
    /// `read`, `edit`, `execute` or `mcp`.
    pub category: String,
    /// Whether it may run without asking at the lowest level.
    pub default_allowed: bool,
    /// Whether it may run without asking now.
    pub currently_allowed: bool,
    /// The schema of its arguments, if it was wanted.
    pub schema: Option<Value>,
}

/// Whether a client has requested a tool, which is offered without a search then.
fn is_requested(info: &ToolInfo, selection: &ToolSelection) -> bool {
    let named = |list: &[String]| list.iter().any(|id| id == info.id);
    named(&selection.enabled) || named(&selection.additional)
}

/// Whether a session can have a tool at all.
fn is_there(info: &ToolInfo, selection: &ToolSelection) -> bool {
    info.offer != Offer::OnRequest || is_requested(info, selection)
}

/// Whether the session's selection has a tool.
fn is_selected(info: &ToolInfo, selection: &ToolSelection) -> bool {
    let named = |list: &[String]| list.iter().any(|id| id == info.id);
    is_there(info, selection)
        && !named(&selection.disabled)
        && (selection.restricted.is_empty() || named(&selection.restricted) || named(&selection.additional))
}

fn spec(info: &ToolInfo) -> ToolSpec {
    ToolSpec { name: info.name.to_owned(), description: info.description.to_owned(), schema: (info.schema)() }
}

/// Returns the tools offered to the model: built-in tools, then those of MCP servers.
pub(crate) fn offered(registry: &Registry, session: &Session) -> Vec<ToolSpec> {
    let selection = &session.settings().tools;
    let ours = specs(registry, selection, session.loaded_tools());
    let theirs = session.mcp().tools().into_iter().filter(|tool| is_offered(tool, session));
    let theirs = theirs.map(|tool| ToolSpec {
        name: tool.model_name,
        description: tool.description.unwrap_or_default(),
        schema: Value::Object((*tool.schema).clone()),
    });
    ours.into_iter().chain(theirs).collect()
}

/// Whether a session has a tool of an MCP server.
pub(crate) fn is_offered(tool: &McpTool, session: &Session) -> bool {
    let may_use = |droid: &Droid| droid.may_use(&tool.model_name, Some(&tool.server));
    mcp::is_selected(tool, &session.settings().tools)
        && session.subagent().is_none_or(|subagent| may_use(&subagent.droid))
}

/// Returns the specs of registered tools: those with a fixed place, then those that were searched for or requested.
fn specs(registry: &Registry, selection: &ToolSelection, loaded: &BTreeSet<String>) -> Vec<ToolSpec> {
    let is_offered = |info: &&ToolInfo| {
        let is_wanted = match info.offer {
            Offer::At(_) => true,
            Offer::OnSearch => loaded.contains(info.name) || is_requested(info, selection),
            Offer::OnRequest => is_requested(info, selection),
        };
        is_wanted && is_selected(info, selection)
    };
    let place = |info: &&ToolInfo| match info.offer {
        Offer::At(place) => (0, place),
        Offer::OnSearch => (1, 0),
        Offer::OnRequest => (2, 0),
    };
    let mut infos: Vec<&ToolInfo> = registry.infos().filter(is_offered).collect();
    infos.sort_by_key(place);
    infos.into_iter().map(spec).collect()
}

/// Checks that a session has a tool.
///
/// # Errors
///
/// Returns a refusal with the available tools.
pub(crate) fn known(name: &str, registry: &Registry, session: &Session) -> Result<(), Refusal> {
    if registry.info(name).is_some_and(|info| is_selected(info, &session.settings().tools)) {
        return Ok(());
    }
    let names: Vec<String> = offered(registry, session).into_iter().map(|spec| spec.name).collect();
    let hint = if name == "MultiEdit" { " Use Edit and Create." } else { "" };
    Err(Refusal::new(format!(
        "Not found: {name}.{hint} Use ToolSearch to look for more tools. Available tools: {}",
        names.join(", ")
    )))
}

/// Returns the tools that match a query, of those that are offered only after a search. A query is `select:Name,Name`, or words.
pub(crate) fn search(query: &str, registry: &Registry, selection: &ToolSelection) -> Vec<ToolSpec> {
    let deferred =
        registry.infos().filter(|info| info.offer == Offer::OnSearch && is_selected(info, selection));
    let specs = deferred.map(spec);
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

/// Returns the list of tools for a client, without those that have to be requested. Tools that are not selected are not allowed.
pub(crate) fn list(
    settings: &Settings,
    skips: bool,
    filter: &ToolFilter,
    registry: &Registry,
) -> Vec<ToolEntry> {
    let settings = filtered(settings, filter);
    let skips = filter.skip_permissions.unwrap_or(skips);
    let is_wanted =
        |info: &&ToolInfo| filter.ids.as_ref().is_none_or(|ids| ids.iter().any(|id| id == info.id));
    let there = registry.infos().filter(|info| is_there(info, &settings.tools)).filter(is_wanted);
    let entry = |info: &ToolInfo| ToolEntry {
        id: info.id.to_owned(),
        name: info.name.to_owned(),
        display_name: info.display_name.to_owned(),
        description: info.description.to_owned(),
        category: info.category.name().to_owned(),
        default_allowed: info.listed_from == ListedFrom::Off,
        currently_allowed: is_selected(info, &settings.tools) && is_allowed(info, &settings, skips),
        schema: filter.schemas.then(|| (info.schema)()),
    };
    let mut entries: Vec<ToolEntry> = there.map(entry).collect();
    entries.sort_by_cached_key(|entry| entry.id.to_lowercase());
    entries
}

/// Returns the settings for a list.
fn filtered(settings: &Settings, filter: &ToolFilter) -> Settings {
    let mut settings = settings.clone();
    filter.settings.apply_to(&mut settings);
    settings
}

/// Returns the tool selection for a list.
pub(crate) fn selection(settings: &Settings, filter: &ToolFilter) -> ToolSelection {
    filtered(settings, filter).tools
}

/// Whether a tool may run without permission, in lists for clients: by its kind, not by a call.
fn is_allowed(info: &ToolInfo, settings: &Settings, skips: bool) -> bool {
    if settings.mode == Mode::Spec {
        return info.listed_from == ListedFrom::Off || info.is_for_spec_mode;
    }
    let level = if skips { Autonomy::High } else { settings.autonomy };
    match info.listed_from {
        ListedFrom::Off => true,
        ListedFrom::Low => level >= Autonomy::Low,
        ListedFrom::High => level >= Autonomy::High,
        ListedFrom::Never => false,
    }
}
