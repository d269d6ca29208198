//! Lists and figures clients ask for. Nothing here changes anything, except for switching a skill.

use std::sync::Arc;

use musher_model::ToolSpec;

use super::actor::Actor;
use super::request::to_model;
use super::state::Session;
use super::tool_selection;
use crate::command::{Reply, Ticket, ToolFilter};
use crate::config::Config;
use crate::context::Repository;
use crate::context::{Git, system_prompt};
use crate::mcp::is_selected;
use crate::models::Models;
use crate::skills::{Droid, Library, Skill, SlashCommand, set_skill_disabled};
use crate::{Error, Limits};
use musher_message::{Content, Message};

/// What fills the context, in tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContextBreakdown {
    /// The model's own name.
    pub model: String,
    /// Its name for people.
    pub display_name: String,
    /// How much it can read.
    pub limit: u64,
    /// How much is used.
    pub used: u64,
    /// Name, colour key and size of each part.
    pub categories: Vec<(String, &'static str, u64)>,
    /// Name, place and size of each skill.
    pub skills: Vec<(String, String, u64)>,
    /// Name, number of tools and size of each MCP server.
    pub mcp_servers: Vec<(String, usize, u64)>,
    /// Name, place and size of each subagent.
    pub droids: Vec<(String, String, u64)>,
}

impl Limits {
    /// The tokens of a model of which nothing is known.
    pub(crate) const UNKNOWN_WINDOW: u64 = 250_000;
}

impl Actor {
    /// The models there are; those of the user's files, as long as no session says where else to look.
    pub(super) fn models(&self) -> Models {
        if let Some(session) = &self.session {
            return session.models.clone();
        }
        let (config, _) = self.environment.config(&self.environment.home);
        Models { configured: config.models, ..self.environment.models.clone() }
    }

    /// All tools, also those of servers, once these have been reached or not.
    pub(super) fn list_tools(&mut self, ticket: Ticket, filter: &ToolFilter) {
        let Some(session) = &self.session else { return self.reply(ticket, Err(Error::NoSession)) };
        let skips = session.attach.skip_permissions;
        let mut tools = tool_selection::list(&session.settings, skips, filter, &self.environment.tools);
        let selection = tool_selection::selection(&session.settings, filter);
        let (ids, has_schemas) = (filter.ids.clone(), filter.schemas);
        self.when_settled(ticket, move |mcp| {
            let theirs = mcp.tools().into_iter().filter(|tool| is_selected(tool, &selection));
            let theirs = theirs.map(|tool| tool.entry(has_schemas));
            tools.extend(theirs.filter(|tool| ids.as_ref().is_none_or(|ids| ids.contains(&tool.id))));
            tools.sort_by_key(|tool| tool.id.to_lowercase());
            Reply::Tools(tools)
        });
    }

    pub(super) fn list_skills(&self) -> Result<Reply, Error> {
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        // read anew, so that what was switched shows, unless the settings have become unreadable meanwhile
        let library = match self.environment.session_config(&session.cwd) {
            Ok((config, _)) => read(&config, session).0,
            Err(_broken) => session.library.clone(),
        };
        let skills = library.skills.iter().map(Skill::view).collect();
        let has_folder = session.config.folders.iter().any(|folder| folder.level.is_repository());
        let project_available = has_folder || session.config.root.join(".git").exists();
        Ok(Reply::Skills { skills, project_available })
    }

    pub(super) fn set_skill_disabled(&mut self, name: &str, disabled: bool) -> Result<Reply, Error> {
        // settings that are broken by now are not written to, and the session goes on with those it has
        let cwd = self.session.as_ref().map_or(&self.environment.home, |session| &session.cwd);
        self.environment.session_config(cwd)?;
        set_skill_disabled(&self.environment.home, name, disabled)
            .map_err(|error| Error::Internal(error.to_string()))?;
        if let Some(session) = &mut self.session {
            session.config = self.environment.session_config(&session.cwd)?.0;
            session.library = read(&session.config, session).0;
        }
        Ok(Reply::Success(true))
    }

    pub(super) fn list_commands(&self) -> Result<Reply, Error> {
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        Ok(Reply::Commands(session.library.commands.iter().map(SlashCommand::view).collect()))
    }

    pub(super) fn context_stats(&self) -> Result<Reply, Error> {
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        Ok(Reply::ContextStats { used: used(session), limit: limit(session), is_exact: false })
    }

    /// What fills the context, estimated from sizes.
    pub(super) fn context_breakdown(&self) -> Result<Reply, Error> {
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        let model = session.model();
        let specs = tool_selection::offered(&self.environment.tools, session);
        let (theirs, ours): (Vec<_>, Vec<_>) = specs.into_iter().partition(|spec| spec.name.contains("___"));
        let of_specs = |specs: &[ToolSpec]| specs.iter().map(spec_tokens).sum::<u64>();
        let (summary, kept) = session.conversation();
        let told = session.lost_context().into_iter().chain(kept);
        let (hidden, said): (Vec<_>, Vec<_>) = told.partition(|message| message.id.starts_with("context-"));
        let of_messages =
            |messages: &[&Arc<Message>]| messages.iter().map(|message| message_tokens(message)).sum::<u64>();
        let messages = of_messages(&said) + summary.map_or(0, |text| tokens(text.len()));
        let system = tokens(system_prompt(session.system_prompt.as_ref()).len());
        let of_notes = hidden_texts(&hidden)
            .filter(|text| text.contains("AGENTS.md"))
            .map(|text| tokens(text.len()))
            .sum();
        let of_skills =
            session.library.skills.iter().filter(|skill| skill.is_enabled).map(skill_tokens).sum();
        let of_droids = session.library.droids.iter().map(droid_tokens).sum();
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
        let skills = session.library.skills.iter().filter(|skill| skill.is_enabled);
        let skills = skills.map(|skill| (skill.name.clone(), skill.view().location, skill_tokens(skill)));
        let droids = session.library.droids.iter();
        let droids =
            droids.map(|droid| (droid.name.clone(), droid.location().to_owned(), droid_tokens(droid)));
        let servers = session.mcp.servers().into_iter().map(|server| {
            let of_server = |spec: &&ToolSpec| spec.name.starts_with(&format!("{}___", server.name));
            let size = theirs.iter().filter(of_server).map(spec_tokens).sum();
            (server.name.clone(), server.tool_count.unwrap_or(0), size)
        });
        Ok(Reply::ContextBreakdown(Box::new(ContextBreakdown {
            model: model.as_ref().map_or_else(|| session.model_id().to_owned(), |model| model.name.clone()),
            display_name: model.map_or_else(|| session.model_id().to_owned(), |model| model.display_name),
            limit: limit(session),
            used: categories.iter().map(|(_, _, size)| size).sum(),
            categories,
            skills: skills.collect(),
            mcp_servers: servers.collect(),
            droids: droids.collect(),
        })))
    }
}

/// About four bytes are a token.
pub(super) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

fn skill_tokens(skill: &Skill) -> u64 {
    tokens(skill.name.len() + skill.description.as_ref().map_or(0, String::len))
}

fn droid_tokens(droid: &Droid) -> u64 {
    tokens(droid.name.len() + droid.description.len())
}

/// What the model was told before the first words.
fn hidden_texts<'a>(hidden: &'a [&Arc<Message>]) -> impl Iterator<Item = &'a str> {
    hidden.iter().flat_map(|message| &message.content).filter_map(|content| match content {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

fn spec_tokens(spec: &ToolSpec) -> u64 {
    tokens(spec.name.len() + spec.description.len() + spec.schema.to_string().len())
}

/// The size of a message as the model reads it.
pub(super) fn message_tokens(message: &Message) -> u64 {
    to_model(message)
        .map_or(0, |message| tokens(serde_json::to_string(&message.content).map_or(0, |text| text.len())))
}

fn read(config: &Config, session: &Session) -> (Library, Vec<crate::config::Problem>) {
    Library::read(config, &session.cwd)
}

/// How many tokens the last call read and wrote: what the next one will read at least.
pub(super) fn used(session: &Session) -> u64 {
    session.last_call.map_or(0, |usage| usage.input + usage.cache_read + usage.cache_write + usage.output)
}

/// Beyond so many tokens the conversation is summed up.
pub(super) fn limit(session: &Session) -> u64 {
    let said = &session.config.settings;
    let of_model = said.compaction_token_limit_per_model.get(session.model_id()).copied();
    let window = || session.model().and_then(|model| model.context_window).unwrap_or(Limits::UNKNOWN_WINDOW);
    session.settings.compaction_token_limit.or(of_model).unwrap_or_else(window)
}

/// The repository a session works in, if it has a remote.
pub(super) fn repository(session: &Session) -> Option<Repository> {
    Git::read(&session.config.root)?.remote
}
