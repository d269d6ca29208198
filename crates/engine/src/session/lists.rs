//! Lists and figures clients ask for. Nothing here changes anything, except for switching a skill.

use super::actor::Actor;
use super::offer;
use super::state::Session;
use crate::command::{Reply, Repository, ToolFilter};
use crate::config::Config;
use crate::context::Git;
use crate::models::Models;
use crate::skills::{Library, SlashCommand, set_skill_disabled};
use crate::{Error, Limits};

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

    pub(super) fn list_tools(&self, filter: &ToolFilter) -> Result<Reply, Error> {
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        let skips = session.attach.skip_permissions;
        Ok(Reply::Tools(offer::list(&session.settings, skips, filter, &self.environment.tools)))
    }

    pub(super) fn list_skills(&self) -> Result<Reply, Error> {
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        // read anew, so that what was switched shows
        let (library, _) = read(&self.environment.config(&session.cwd).0, session);
        let skills = library.skills.iter().map(crate::skills::Skill::view).collect();
        let project_available = session.config.folders.iter().any(|folder| folder.level.is_repository());
        Ok(Reply::Skills { skills, project_available })
    }

    pub(super) fn set_skill_disabled(&mut self, name: &str, disabled: bool) -> Result<Reply, Error> {
        set_skill_disabled(&self.environment.home, name, disabled)
            .map_err(|error| Error::Internal(error.to_string()))?;
        if let Some(session) = &mut self.session {
            session.config = self.environment.config(&session.cwd).0;
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
