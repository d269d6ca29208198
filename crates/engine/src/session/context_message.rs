//! The hidden message before the first message of the user.

use musher_tools::{Feature, Offer, Registry};

use super::state::Session;
use super::tool_selection;
use super::turn::message;
use crate::Environment;
use crate::context::{Facts, Listed, Lists, reminders};
use musher_message::{Content, Message, Role, Visibility};

/// Returns the message, with lists of skills, subagents and tools, notes, and facts about the working directory. Reads files.
pub(super) fn context_message(environment: &Environment, session: &Session, user_message: &str) -> Message {
    let facts = Facts::read(session.cwd(), &session.config().root, &environment.homes())
        .with_folders(session.attach().directories.as_deref().unwrap_or_default())
        .unattended(session.attach().auto_reject || session.subagent().is_some());
    let has = |feature| tool_selection::provides(feature, &environment.tools, session);
    let (has_skills, has_subagents) = (has(Feature::Skills), has(Feature::Subagents));
    let skills: Vec<Listed<'_>> = session
        .library()
        .skills
        .iter()
        .filter(|_| has_skills)
        .filter(|skill| skill.is_enabled && skill.is_model_invocable)
        .map(|skill| Listed {
            name: &skill.name,
            description: skill.description.as_deref().unwrap_or_default(),
        })
        .collect();
    let subagents: Vec<Listed<'_>> = session
        .library()
        .droids
        .iter()
        .filter(|_| has_subagents)
        .map(|droid| Listed { name: &droid.name, description: &droid.description })
        .collect();
    let deferred = deferred(&environment.tools, session);
    let lists = Lists { skills: &skills, subagents: &subagents, deferred_tools: &deferred };
    let content = reminders(&facts, &lists).into_iter().map(Content::Text).collect();
    message(format!("context-{user_message}"), Role::User, content, Visibility::LlmOnly)
}

/// Returns the tools the model has to search for.
fn deferred<'a>(registry: &'a Registry, session: &Session) -> Vec<Listed<'a>> {
    let deferred = registry.infos().filter(|info| info.offer == Offer::OnSearch);
    let known = deferred.filter(|info| tool_selection::known(info.name, registry, session).is_ok());
    known.map(|info| Listed { name: info.name, description: info.description }).collect()
}
