//! Which tools a session has, which of them are offered to the model, and which it has to search for. Pure.

use musher_model::ToolSpec;
use musher_tools::{EditStyle, Feature, ListedFrom, Offer, Registry, ToolInfo};
use serde_json::Value;

use super::model_traits;
use super::state::Session;
use super::tool_names::are_naming;
use crate::command::ToolFilter;
use crate::mcp::{self, McpTool};
use crate::models::Models;
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

/// Returns the entry of a server's tool. Permissions are checked for each call.
pub(super) fn mcp_entry(tool: &McpTool, has_schema: bool) -> ToolEntry {
    ToolEntry {
        id: tool.id(),
        name: tool.model_name.clone(),
        display_name: format!("[MCP] {}:{}", tool.server, tool.name),
        description: tool.description.clone().unwrap_or_default(),
        category: "read".to_owned(),
        default_allowed: true,
        currently_allowed: true,
        schema: has_schema.then(|| Value::Object((*tool.schema).clone())),
    }
}

/// Returns whether a client has requested a tool, which is offered without a search then.
fn is_requested(info: &ToolInfo, selection: &ToolSelection) -> bool {
    are_naming(&selection.enabled, info) || are_naming(&selection.additional, info)
}

/// Returns whether a tool is for models that edit files in this way.
fn is_for_style(info: &ToolInfo, style: EditStyle) -> bool {
    info.edit_style.is_none_or(|of_tool| of_tool == style)
}

/// Returns how the model of a session edits files.
fn style_of(session: &Session) -> EditStyle {
    style_for(session.settings(), session.models())
}

/// Returns how the model that these settings name edits files.
pub(super) fn style_for(settings: &Settings, models: &Models) -> EditStyle {
    let model = models.find(settings.model_in_use());
    model_traits::edit_style(model.as_ref().map_or("", |model| model.name.as_str()))
}

/// Returns whether a session can have a tool at all.
fn is_there(info: &ToolInfo, selection: &ToolSelection) -> bool {
    info.offer != Offer::OnRequest || is_requested(info, selection)
}

/// Returns whether the session's selection has a tool.
fn is_selected(info: &ToolInfo, selection: &ToolSelection) -> bool {
    let named = |list: &[String]| are_naming(list, info);
    is_there(info, selection)
        && !named(&selection.disabled)
        && (selection.restricted.is_empty() || named(&selection.restricted) || named(&selection.additional))
}

fn spec(info: &ToolInfo) -> ToolSpec {
    ToolSpec { name: info.name.to_owned(), description: info.description.to_owned(), schema: (info.schema)() }
}

/// Returns the tools offered to the model: those with a fixed place, then those that were found by a search, in the order in which they
/// were found. So a search changes only the end of the list.
pub(crate) fn offered(registry: &Registry, session: &Session) -> Vec<ToolSpec> {
    let selection = &session.settings().tools;
    let mut specs = fixed(registry, selection, style_of(session));
    let theirs: Vec<McpTool> =
        session.mcp().tools().into_iter().filter(|tool| is_offered(tool, session)).collect();
    let direct = session.servers().direct();
    let is_direct = |tool: &&McpTool| direct.is_none_or(|direct| direct.contains(&tool.model_name));
    specs.extend(theirs.iter().filter(is_direct).map(mcp_spec));
    for name in session.loaded_tools() {
        if specs.iter().any(|spec| spec.name == *name) {
            continue;
        }
        let ours = registry.info(name).filter(|info| is_selected(info, selection)).map(spec);
        specs.extend(ours.or_else(|| theirs.iter().find(|tool| tool.model_name == *name).map(mcp_spec)));
    }
    specs
}

fn mcp_spec(tool: &McpTool) -> ToolSpec {
    ToolSpec {
        name: tool.model_name.clone(),
        description: tool.description.clone().unwrap_or_default(),
        schema: Value::Object((*tool.schema).clone()),
    }
}

/// The size of the tools of MCP servers above which the model has to search for them, in estimated tokens: they are part of every request.
const MAX_DIRECT_TOKENS: u64 = 2_000;

/// Returns the tools of MCP servers that are offered without a search: all that are connected if they are few, else none.
pub(crate) fn direct_mcp_tools(registry: &Registry, session: &Session) -> Vec<String> {
    let theirs = session.mcp().tools().into_iter().filter(|tool| is_offered(tool, session));
    let specs: Vec<ToolSpec> = theirs.map(|tool| mcp_spec(&tool)).collect();
    let can_search = provides(Feature::ToolSearch, registry, session);
    let size: u64 = specs.iter().map(super::lists::spec_tokens).sum();
    if can_search && size > MAX_DIRECT_TOKENS {
        return Vec::new();
    }
    specs.into_iter().map(|spec| spec.name).collect()
}

/// Returns the names of the tools of MCP servers that the model has to search for.
pub(crate) fn deferred_mcp_tools(session: &Session) -> Vec<String> {
    deferred_mcp(session).into_iter().map(|tool| tool.model_name).collect()
}

fn deferred_mcp(session: &Session) -> Vec<McpTool> {
    let direct = session.servers().direct().unwrap_or_default();
    let theirs = session.mcp().tools().into_iter().filter(|tool| is_offered(tool, session));
    theirs.filter(|tool| !direct.contains(&tool.model_name)).collect()
}

/// Returns whether a session has a tool of an MCP server.
pub(crate) fn is_offered(tool: &McpTool, session: &Session) -> bool {
    let may_use = |droid: &Droid| droid.may_use(&tool.model_name, Some(&tool.server));
    mcp::is_selected(tool, &session.settings().tools)
        && session.subagent().is_none_or(|subagent| may_use(&subagent.droid))
}

/// Returns the specs of the registered tools that are offered without a search, in order.
fn fixed(registry: &Registry, selection: &ToolSelection, style: EditStyle) -> Vec<ToolSpec> {
    let is_offered = |info: &&ToolInfo| {
        let is_wanted = match info.offer {
            Offer::At(_) => is_for_style(info, style) || is_requested(info, selection),
            Offer::OnSearch | Offer::OnRequest => is_requested(info, selection),
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

/// Returns whether a session has a tool that provides this.
pub(crate) fn provides(feature: Feature, registry: &Registry, session: &Session) -> bool {
    let selection = &session.settings().tools;
    registry.infos().any(|info| info.provides == Some(feature) && is_selected(info, selection))
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

/// Returns the tools that match a query best, of those that are offered only after a search. A query is `select:Name,Name`, or words.
pub(crate) fn search(
    query: &str,
    max_results: usize,
    registry: &Registry,
    session: &Session,
) -> Vec<ToolSpec> {
    let selection = &session.settings().tools;
    let ours = registry.infos().filter(|info| info.offer == Offer::OnSearch && is_selected(info, selection));
    let theirs = deferred_mcp(session);
    matching(query, max_results, ours.map(spec).chain(theirs.iter().map(mcp_spec)).collect())
}

fn matching(query: &str, max_results: usize, specs: Vec<ToolSpec>) -> Vec<ToolSpec> {
    if let Some(names) = query.trim().strip_prefix("select:") {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        let is_named = |spec: &ToolSpec| names.iter().any(|name| spec.name.eq_ignore_ascii_case(name));
        return specs.into_iter().filter(is_named).collect();
    }
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    // a word in the name says more than one in the description
    let score = |spec: &ToolSpec| {
        let (name, description) = (spec.name.to_lowercase(), spec.description.to_lowercase());
        let of_word = |word: &String| {
            3 * usize::from(name.contains(word.as_str())) + usize::from(description.contains(word.as_str()))
        };
        words.iter().map(of_word).sum::<usize>()
    };
    let mut scored: Vec<(usize, ToolSpec)> = specs.into_iter().map(|spec| (score(&spec), spec)).collect();
    scored.retain(|(score, _)| *score > 0);
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().take(max_results).map(|(_, spec)| spec).collect()
}

/// Returns the list of tools for a client: those that it names, or else all but those that have to be requested. Tools that are not
/// offered to the model, or not selected, are not allowed.
pub(crate) fn list(
    settings: &Settings,
    skips: bool,
    filter: &ToolFilter,
    registry: &Registry,
    style: EditStyle,
) -> Vec<ToolEntry> {
    let skips = filter.skip_permissions.unwrap_or(skips);
    let is_usable = |info: &ToolInfo| {
        is_there(info, &settings.tools) && (is_for_style(info, style) || is_requested(info, &settings.tools))
    };
    let is_listed = |info: &&ToolInfo| match &filter.ids {
        Some(ids) => are_naming(ids, info),
        None => is_usable(info),
    };
    let entry = |info: &ToolInfo| ToolEntry {
        id: info.id.to_owned(),
        name: info.name.to_owned(),
        display_name: info.display_name.to_owned(),
        description: info.description.to_owned(),
        category: info.category.name().to_owned(),
        default_allowed: info.listed_from == ListedFrom::Off,
        currently_allowed: is_usable(info)
            && is_selected(info, &settings.tools)
            && is_allowed(info, settings, skips),
        schema: filter.schemas.then(|| (info.schema)()),
    };
    let mut entries: Vec<ToolEntry> = registry.infos().filter(is_listed).map(entry).collect();
    entries.sort_by_cached_key(|entry| entry.id.to_lowercase());
    entries
}

/// Returns the settings for a list.
pub(super) fn filtered(settings: &Settings, filter: &ToolFilter, max: Option<Autonomy>) -> Settings {
    let mut settings = settings.clone();
    filter.settings.apply_to(&mut settings);
    settings.autonomy = max.map_or(settings.autonomy, |max| settings.autonomy.min(max));
    settings
}

/// Returns whether a tool may run without permission, in lists for clients: by its kind, not by a call.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[(&str, &str)]) -> Vec<ToolSpec> {
        let spec = |(name, description): &(&str, &str)| ToolSpec {
            name: (*name).to_owned(),
            description: (*description).to_owned(),
            schema: Value::Null,
        };
        names.iter().map(spec).collect()
    }

    fn found(query: &str, max: usize) -> Vec<String> {
        let specs = named(&[
            ("db___list_tables", "Lists all tables of the database"),
            ("db___query", "Runs a query"),
            ("mail___send", "Sends a mail to a list of people"),
        ]);
        matching(query, max, specs).into_iter().map(|spec| spec.name).collect()
    }

    #[test]
    fn search_returns_the_best_matches_first_and_not_more_than_wanted() {
        assert_eq!(found("list tables", 5), ["db___list_tables", "mail___send"]);
        assert_eq!(found("list", 1), ["db___list_tables"]);
        assert_eq!(found("select: MAIL___send, db___query", 1), ["db___query", "mail___send"]);
        assert_eq!(found("weather", 5), [""; 0]);
    }

    #[test]
    fn model_gets_the_edit_tool_it_is_trained_on_at_the_same_place() {
        let names = |style| -> Vec<String> {
            fixed(&Registry::builtin(), &ToolSelection::default(), style)
                .into_iter()
                .map(|spec| spec.name)
                .collect()
        };
        let (replace, patch) = (names(EditStyle::Replace), names(EditStyle::Patch));
        assert!(replace.contains(&"Edit".to_owned()) && !replace.contains(&"ApplyPatch".to_owned()));
        assert!(patch.contains(&"ApplyPatch".to_owned()));
        assert!(!patch.contains(&"Edit".to_owned()) && !patch.contains(&"Create".to_owned()));
        let place = |names: &[String], name: &str| names.iter().position(|known| known == name);
        assert_eq!(place(&replace, "Edit"), place(&patch, "ApplyPatch"));
    }
}
