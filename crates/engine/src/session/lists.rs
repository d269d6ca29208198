//! Lists and figures for clients.

use std::sync::Arc;

use musher_model::ToolSpec;
use musher_tools::Registry;

use super::open;
use super::request::to_model;
use super::state::Session;
use super::tasks::SessionSender;
use super::tool_names::Unmatched;
use super::tool_selection;
use crate::budget;
use crate::command::{CommandId, Reply, ToolFilter};
use crate::config::Problem;
use crate::context::{Git, Repository, is_note_reminder};
use crate::mcp::{is_named, is_selected};
use crate::models::Models;
use crate::skills::{Droid, Library, Skill, SlashCommand, set_skill_disabled};
use crate::{Environment, Error, Limits, SettingsChange};
use musher_message::{Content, Message};

/// What fills the context of the model, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextBreakdown {
    /// The model's own name.
    pub model: String,
    /// Its name for people.
    pub display_name: String,
    /// The maximum size of the context.
    pub limit: u64,
    /// The used size.
    pub used: u64,
    /// Name, colour key and size of each part.
    pub categories: Vec<(String, &'static str, u64)>,
    /// Name, place and size of each skill.
    pub skills: Vec<(String, String, u64)>,
    /// Name, number of tools and size of each MCP server.
    pub mcp_servers: Vec<(String, usize, u64)>,
    /// Name, place and size of each subagent that is not built in.
    pub droids: Vec<(String, String, u64)>,
}

impl Limits {
    /// The assumed context window of an unknown model, in tokens.
    pub(crate) const UNKNOWN_WINDOW: u64 = 250_000;
}

/// Returns the models of the settings files of the user, for a client without a session.
pub(super) fn models_without_session(environment: &Environment) -> Models {
    let (config, _) = environment.config(&environment.home);
    Models { configured: config.models, ..environment.models.clone() }
}

/// Returns the tools for a client without a session: with the settings of the user, and without tools of MCP servers, which are not
/// started.
pub(super) fn tools_without_session(environment: &Environment, filter: &ToolFilter) -> Result<Reply, Error> {
    let (config, _) = environment.config(&environment.home);
    let servers: Vec<String> = config.mcp_servers.iter().map(|server| server.name.clone()).collect();
    check_names(filter, &environment.tools, &servers)?;
    let models = Models { configured: config.models.clone(), ..environment.models.clone() };
    let settings = open::default_settings(&config, &models);
    let settings = tool_selection::filtered(&settings, filter, config.settings.max_autonomy);
    let style = tool_selection::style_for(&settings, &models);
    Ok(Reply::Tools(tool_selection::list(&settings, false, filter, &environment.tools, style)))
}

/// Refuses a list of tools for names that match nothing.
fn check_names(filter: &ToolFilter, registry: &Registry, servers: &[String]) -> Result<(), Error> {
    let ids = filter.ids.as_deref();
    let unknown = Unmatched::of(&filter.settings, ids, registry, servers).unknown;
    if unknown.is_empty() {
        return Ok(());
    }
    // droid's words, and which
    Err(Error::Internal(format!("Unknown tool identifier(s): {}", unknown.join(", "))))
}

/// Switches a skill in the settings of the user.
pub(super) fn switch_skill(
    environment: &Environment,
    session: Option<&mut Session>,
    name: &str,
    disabled: bool,
) -> Result<Reply, Error> {
    // settings that are broken by now are not written to, and the session continues with those it has
    let cwd = session.as_ref().map_or(environment.home.as_path(), |session| session.cwd());
    environment.session_config(cwd)?;
    set_skill_disabled(&environment.home, name, disabled)
        .map_err(|error| Error::Internal(error.to_string()))?;
    if let Some(session) = session {
        let config = environment.session_config(session.cwd())?.0;
        session.set_config(config);
    }
    Ok(Reply::Success(true))
}

impl Session {
    /// Answers with the tools, once the MCP servers are connected or have failed.
    pub(super) fn list_tools(
        &self,
        command_id: CommandId,
        filter: ToolFilter,
        registry: &Registry,
        sender: SessionSender,
    ) -> Result<(), Error> {
        let servers: Vec<String> = self.mcp().servers().into_iter().map(|server| server.name).collect();
        check_names(&filter, registry, &servers)?;
        let settings =
            tool_selection::filtered(self.settings(), &filter, self.config().settings.max_autonomy);
        let style = tool_selection::style_for(&settings, self.models());
        let mut tools =
            tool_selection::list(&settings, self.attach().skip_permissions, &filter, registry, style);
        self.reply_when_connected(command_id, sender, move |mcp| {
            let theirs = mcp.tools().into_iter().filter(|tool| is_selected(tool, &settings.tools));
            let theirs = theirs.filter(|tool| filter.ids.as_ref().is_none_or(|ids| is_named(ids, tool)));
            tools.extend(theirs.map(|tool| tool_selection::mcp_entry(&tool, filter.schemas)));
            tools.sort_by_key(|tool| tool.id.to_lowercase());
            Reply::Tools(tools)
        });
        Ok(())
    }

    /// Reports tool names of the client that match nothing. `place` says where they are.
    pub(super) fn check_tool_names(&mut self, place: &str, change: &SettingsChange, registry: &Registry) {
        if let Some(text) = self.unmatched_tools(change, registry) {
            self.report(Problem::new(place, text));
        }
    }

    /// Returns what is wrong with the tool names in a change of settings; `None` if nothing is.
    pub(super) fn unmatched_tools(&self, change: &SettingsChange, registry: &Registry) -> Option<String> {
        let servers: Vec<String> = self.mcp().servers().into_iter().map(|server| server.name).collect();
        Unmatched::of(change, None, registry, &servers).problem()
    }

    pub(super) fn list_skills(&self, environment: &Environment) -> Reply {
        // read again, so that switched skills show, unless the settings have become unreadable meanwhile
        let library = match environment.session_config(self.cwd()) {
            Ok((config, _)) => Library::read(&config, self.cwd()).0,
            Err(_broken) => self.library().clone(),
        };
        let skills = library.skills.iter().map(Skill::view).collect();
        let has_folder = self.config().folders.iter().any(|folder| folder.level.is_repository());
        let project_available = has_folder || self.config().root.join(".git").exists();
        Reply::Skills { skills, project_available }
    }

    pub(super) fn list_commands(&self) -> Reply {
        Reply::Commands(self.library().commands.iter().map(SlashCommand::view).collect())
    }

    pub(super) fn context_stats(&self) -> Reply {
        Reply::ContextStats { used: self.usage().context_size(), limit: limit(self), is_exact: false }
    }

    /// Estimates what fills the context, by the sizes of texts.
    pub(super) fn context_breakdown(&self, registry: &Registry) -> ContextBreakdown {
        let model = self.model();
        let specs = tool_selection::offered(registry, self);
        let (theirs, ours): (Vec<_>, Vec<_>) = specs.into_iter().partition(|spec| spec.name.contains("___"));
        let of_specs = |specs: &[ToolSpec]| specs.iter().map(spec_tokens).sum::<u64>();
        let (summary, kept) = self.conversation().visible();
        let visible = self.conversation().lost_context().into_iter().chain(kept);
        let (hidden, shown): (Vec<_>, Vec<_>) =
            visible.partition(|message| message.id.starts_with("context-"));
        let of_messages =
            |messages: &[&Arc<Message>]| messages.iter().map(|message| message_tokens(message)).sum::<u64>();
        let messages = of_messages(&shown) + summary.map_or(0, |text| tokens(text.len()));
        let system = tokens(self.system_text().len());
        let of_notes =
            hidden_texts(&hidden).filter(|text| is_note_reminder(text)).map(|text| tokens(text.len())).sum();
        let of_skills = self.library().skills.iter().filter(|skill| skill.is_enabled).map(skill_tokens).sum();
        let of_droids = self.library().droids.iter().map(droid_tokens).sum();
        let categories = vec![
            ("System prompt".to_owned(), "systemPrompt", system),
            ("System tools".to_owned(), "systemTools", of_specs(&ours)),
            ("MCP tools".to_owned(), "mcpTools", of_specs(&theirs)),
            (
                "User info".to_owned(),
                "userInfo",
                of_messages(&hidden).saturating_sub(of_notes + of_skills + of_droids),
            ),
            ("AGENTS.md".to_owned(), "agentsMd", of_notes),
            ("Custom agents".to_owned(), "customAgents", of_droids),
            ("Skills".to_owned(), "skills", of_skills),
            ("Messages".to_owned(), "messages", messages),
        ];
        let skills = self.library().skills.iter().filter(|skill| skill.is_enabled);
        let skills = skills.map(|skill| (skill.name.clone(), skill.view().location, skill_tokens(skill)));
        // built-in ones have no place; the daemon of droid refuses an answer with them
        let droids = self.library().droids.iter().filter(|droid| droid.level.is_some());
        let droids =
            droids.map(|droid| (droid.name.clone(), droid.location().to_owned(), droid_tokens(droid)));
        let servers = self.mcp().servers().into_iter().map(|server| {
            let of_server = |spec: &&ToolSpec| spec.name.starts_with(&format!("{}___", server.name));
            let size = theirs.iter().filter(of_server).map(spec_tokens).sum();
            (server.name.clone(), server.tool_count.unwrap_or(0), size)
        });
        ContextBreakdown {
            model: model.as_ref().map_or_else(|| self.model_id().to_owned(), |model| model.name.clone()),
            display_name: model.map_or_else(|| self.model_id().to_owned(), |model| model.display_name),
            limit: limit(self),
            used: categories.iter().map(|(_, _, size)| size).sum(),
            categories,
            skills: skills.collect(),
            mcp_servers: servers.collect(),
            droids: droids.collect(),
        }
    }
}

/// Estimates tokens: about four bytes each.
pub(super) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

fn skill_tokens(skill: &Skill) -> u64 {
    tokens(skill.name.len() + skill.description.as_ref().map_or(0, String::len))
}

fn droid_tokens(droid: &Droid) -> u64 {
    tokens(droid.name.len() + droid.description.len())
}

/// Returns the texts of context messages.
fn hidden_texts<'a>(hidden: &'a [&Arc<Message>]) -> impl Iterator<Item = &'a str> {
    hidden.iter().flat_map(|message| &message.content).filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

pub(super) fn spec_tokens(spec: &ToolSpec) -> u64 {
    tokens(spec.name.len() + spec.description.len() + spec.schema.to_string().len())
}

/// Estimates the size of a message as the model reads it, in tokens.
pub(super) fn message_tokens(message: &Message) -> u64 {
    to_model(message).map_or(0, |message| budget::message_tokens(&message))
}

/// Returns the size of the context beyond which the conversation is compacted, in tokens.
pub(super) fn limit(session: &Session) -> u64 {
    let config = &session.config().settings;
    let of_model = config.compaction_token_limit_per_model.get(session.model_id()).copied();
    let window = || session.model().and_then(|model| model.input_limit).unwrap_or(Limits::UNKNOWN_WINDOW);
    session.settings().compaction_token_limit.or(of_model).unwrap_or_else(window)
}

/// Returns the repository a session works in, if it has a remote.
pub(super) fn repository(session: &Session) -> Option<Repository> {
    Git::read(&session.config().root)?.remote
}
