//! What each command does. Replies come in the one stream of events, in the place clients expect them.

use std::time::Instant;

use super::actor::Actor;
use super::prompt::Queued;
use super::state::Session;
use super::turn::{Turn, message, now_ms};
use super::{offer, open};
use crate::command::{
    Command, Created, LoadSession, Loaded, NewSession, Prompt, Reply, Repository, Ticket, ToolFilter,
};
use crate::context::Git;
use crate::event::{TitleCause, WorkingState};
use crate::message::{Content, Role, Visibility};
use crate::models::Models;
use crate::{Error, Happening, Settings, SettingsChange};

impl Actor {
    pub(super) fn command(&mut self, ticket: Ticket, command: Command) {
        let outcome = match command {
            Command::Create(new) => return self.create(ticket, *new),
            Command::Load(load) => return self.load(ticket, &load),
            Command::Prompt(prompt) => return self.prompt(ticket, *prompt),
            Command::Interrupt => return self.interrupt(Some(ticket)),
            Command::ChangeSettings(change) => return self.change_settings(ticket, &change),
            Command::Rename { title } => return self.rename(ticket, title),
            Command::Close { .. } => return self.close(ticket),
            Command::ListModels => Ok(Reply::Models(self.models().views())),
            Command::ListTools(filter) => self.list_tools(&filter),
            Command::ContextStats => self.context_stats(),
            _ => Err(Error::Internal("this is not built in yet".to_owned())),
        };
        self.reply(ticket, outcome);
    }

    fn create(&mut self, ticket: Ticket, new: NewSession) {
        if !new.cwd.is_dir() {
            return self.reply(ticket, Err(Error::NoDirectory(new.cwd)));
        }
        match open::new(&self.environment, new) {
            Err(error) => self.reply(ticket, Err(error)),
            Ok(session) => {
                self.leave_session();
                let settings = session.settings.clone();
                let created = Created {
                    id: session.id.clone(),
                    settings: settings.clone(),
                    models: session.models.views(),
                    repository: repository(&session),
                };
                self.session = Some(session);
                self.emit(Happening::McpStatus(Vec::new()));
                self.emit(Happening::Settings { settings: Box::new(settings), ticket: None });
                self.reply(ticket, Ok(Reply::Created(Box::new(created))));
            }
        }
    }

    /// What runs in the session that was open ends with it.
    fn leave_session(&mut self) {
        if self.session.is_some() {
            self.interrupt(None);
            if let Some(running) = self.running.take() {
                running.cancel.cancel();
                self.completed(&running.turn, crate::TurnEnd::Cancelled);
            }
        }
        self.session = None;
        self.state = WorkingState::Idle;
    }

    fn load(&mut self, ticket: Ticket, load: &LoadSession) {
        let is_open = self.session.as_ref().is_some_and(|session| session.id.as_str() == load.id);
        let outcome = match &self.session {
            Some(session) if is_open => Ok(Reply::Loaded(Box::new(self.loaded(session)))),
            _ => Err(Error::SessionNotFound),
        };
        self.reply(ticket, outcome);
    }

    fn loaded(&self, session: &Session) -> Loaded {
        let running = self.running.as_ref();
        Loaded {
            id: session.id.clone(),
            messages: session.messages.clone(),
            title: session.title.clone(),
            cwd: session.cwd.clone(),
            updated_at_ms: session.updated_at_ms,
            settings: session.settings.clone(),
            models: session.models.views(),
            state: self.state,
            usage: session.usage,
            last_call: session.last_call,
            questions: running.and_then(|running| running.turn.question()).cloned().into_iter().collect(),
            queued: self
                .queue
                .iter()
                .map(|queued| (queued.ticket.clone(), queued.prompt.text.clone()))
                .collect(),
            repository: repository(session),
        }
    }

    fn prompt(&mut self, ticket: Ticket, prompt: Prompt) {
        let refusal = if self.session.is_none() {
            Some(Error::NoSession)
        } else if self.queue.len() >= self.environment.limits.queued_prompts {
            Some(Error::Invalid("too many messages wait for their turn".to_owned()))
        } else {
            None
        };
        if let Some(error) = refusal {
            return self.reply(ticket, Err(error));
        }
        self.queue.push_back(Queued::new(Some(ticket.clone()), prompt));
        self.reply(ticket, Ok(Reply::Done));
    }

    /// The turn of a prompt that waited, or just came.
    pub(super) fn begin_prompt(&mut self, queued: Queued) {
        let limits = self.environment.limits;
        let Some(session) = &self.session else { return };
        let said = queued.message(&session.settings, now_ms());
        let context = session.messages.is_empty().then(|| {
            let id = format!("context-{}", queued.id);
            message(id, Role::User, vec![Content::Text(String::new())], Visibility::LlmOnly)
        });
        self.emit(Happening::State(WorkingState::Streaming));
        if let Some(context) = context {
            self.append(context, None);
        }
        self.append(said, queued.ticket);
        self.begin_turn(Turn::new(queued.id, Instant::now(), limits));
    }

    fn change_settings(&mut self, ticket: Ticket, change: &SettingsChange) {
        let Some(session) = &mut self.session else { return self.reply(ticket, Err(Error::NoSession)) };
        let before = session.settings.clone();
        apply(&mut session.settings, change);
        if let Some(most) = session.config.settings.max_autonomy {
            session.settings.autonomy = session.settings.autonomy.min(most);
        }
        session.policy.autonomy = session.settings.autonomy;
        session.policy.mode = session.settings.mode;
        let after = session.settings.clone();
        if before != after {
            self.emit(Happening::Settings { settings: Box::new(after.clone()), ticket: None });
        }
        self.emit(Happening::Settings { settings: Box::new(after), ticket: Some(ticket.clone()) });
        self.reply(ticket, Ok(Reply::Done));
    }

    fn rename(&mut self, ticket: Ticket, title: String) {
        let Some(session) = &mut self.session else { return self.reply(ticket, Err(Error::NoSession)) };
        session.title = Some(title.clone());
        self.emit(Happening::Title { title, cause: TitleCause::Manual, ticket: Some(ticket.clone()) });
        self.reply(ticket, Ok(Reply::Success(true)));
    }

    fn close(&mut self, ticket: Ticket) {
        self.leave_session();
        self.reply(ticket, Ok(Reply::Done));
        self.emit(Happening::Closed);
        self.stop();
    }

    /// The models there are; those of the user's files, as long as no session says where else to look.
    fn models(&self) -> Models {
        if let Some(session) = &self.session {
            return session.models.clone();
        }
        let (config, _) = self.environment.config(&self.environment.home);
        Models { configured: config.models, ..self.environment.models.clone() }
    }

    fn list_tools(&self, filter: &ToolFilter) -> Result<Reply, Error> {
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        let skips = session.attach.skip_permissions;
        Ok(Reply::Tools(offer::list(&session.settings, skips, filter, &self.environment.tools)))
    }

    fn context_stats(&self) -> Result<Reply, Error> {
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        let used = session
            .last_call
            .map_or(0, |usage| usage.input + usage.cache_read + usage.cache_write + usage.output);
        let window = self.model().and_then(|model| model.context_window).unwrap_or(250_000);
        let limit = session.settings.compaction_token_limit.unwrap_or(window);
        Ok(Reply::ContextStats { used, limit, is_exact: false })
    }
}

/// The repository a session works in, if it has a remote.
fn repository(session: &Session) -> Option<Repository> {
    Git::read(&session.config.root)?.remote
}

/// Applies what changes.
pub(super) fn apply(settings: &mut Settings, change: &SettingsChange) {
    fn set<T: Clone>(field: &mut T, value: Option<&T>) {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
    set(&mut settings.model, change.model.as_ref());
    set(&mut settings.effort, change.effort.as_ref());
    set(&mut settings.mode, change.mode.as_ref());
    set(&mut settings.autonomy, change.autonomy.as_ref());
    set(&mut settings.spec_model, change.spec_model.as_ref());
    set(&mut settings.spec_effort, change.spec_effort.as_ref());
    set(&mut settings.tools.enabled, change.enabled_tools.as_ref());
    set(&mut settings.tools.disabled, change.disabled_tools.as_ref());
    set(&mut settings.tools.additional, change.additional_tools.as_ref());
    set(&mut settings.tools.restricted, change.restricted_tools.as_ref());
    set(&mut settings.compaction_check, change.compaction_check.as_ref());
    if change.tags.is_some() {
        settings.tags.clone_from(&change.tags);
    }
    if change.compaction_token_limit.is_some() {
        settings.compaction_token_limit = change.compaction_token_limit;
    }
}
