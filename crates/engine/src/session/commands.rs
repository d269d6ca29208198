//! What each command does. Replies come in the one stream of events, in the place clients expect them.

use super::actor::{Actor, close};
use super::farewell::Farewell;
use super::lists::repository;
use super::open;
use super::state::Session;
use crate::command::{Command, Created, LoadSession, Loaded, NewSession, Reply, Ticket};
use crate::event::TitleCause;
use crate::{Error, Happening, Settings, SettingsChange};

impl Actor {
    pub(super) fn command(&mut self, ticket: Ticket, command: Command) {
        let outcome = match command {
            Command::Create(new) => return self.create(ticket, *new),
            Command::Load(load) => return self.load(ticket, *load),
            Command::Prompt(prompt) => return self.prompt(ticket, *prompt),
            Command::Interrupt => return self.interrupt(Some(ticket)),
            Command::ChangeSettings(change) => return self.change_settings(ticket, &change),
            Command::Rename { title } => return self.rename(ticket, title),
            Command::Close { .. } => return self.begin_close(ticket),
            Command::Compact { instructions } => return self.compact(ticket, instructions),
            Command::Mcp(command) => return self.mcp(ticket, *command),
            Command::ListTools(filter) => return self.list_tools(ticket, &filter),
            Command::ListModels => Ok(Reply::Models(self.models().views())),
            Command::ListSkills => self.list_skills(),
            Command::SetSkillDisabled { name, disabled, .. } => self.set_skill_disabled(&name, disabled),
            Command::ListCommands => self.list_commands(),
            Command::ContextStats => self.context_stats(),
            Command::ContextBreakdown => self.context_breakdown(),
            Command::Fork { title, tags } => self.fork(title.as_deref(), tags),
            Command::RewindInfo { session, message } => self.rewind_info(&session, &message),
            Command::Rewind(rewind) => self.rewind(&rewind),
            Command::KillWorker { session } => self.kill_worker(&session),
        };
        self.reply(ticket, outcome);
    }

    fn create(&mut self, ticket: Ticket, new: NewSession) {
        match open::new(&self.environment, new) {
            Err(error) => self.reply(ticket, Err(error)),
            Ok(session) => {
                let created = Created {
                    id: session.id.clone(),
                    settings: session.settings.clone(),
                    models: session.models.views(),
                    repository: repository(&session),
                };
                self.switch(session);
                self.announce_session();
                self.begin_session("startup", Some((ticket, Reply::Created(Box::new(created)))));
            }
        }
    }

    fn load(&mut self, ticket: Ticket, load: LoadSession) {
        if let Some(session) = self.session.as_ref().filter(|session| session.id.as_str() == load.id) {
            let loaded = self.loaded(session);
            return self.reply(ticket, Ok(Reply::Loaded(Box::new(loaded))));
        }
        match open::load(&self.environment, load) {
            Err(error) => self.reply(ticket, Err(error)),
            Ok((session, damage)) => {
                self.switch(session);
                self.announce_session();
                if !damage.is_none() {
                    self.problem(format!("The log of the session was damaged: {damage}"), "SessionDamaged");
                }
                if let Some(session) = &self.session {
                    let loaded = self.loaded(session);
                    self.begin_session("resume", Some((ticket, Reply::Loaded(Box::new(loaded)))));
                }
            }
        }
    }

    /// Opens a session in the place of the one that was open, which is left.
    pub(crate) fn switch(&mut self, mut session: Session) {
        self.leave_session();
        session.number = self.lifecycle.next_session();
        self.session = Some(session);
        self.watch_servers();
    }

    fn announce_session(&mut self) {
        self.servers_changed();
        let Some(session) = &mut self.session else { return };
        let problems = std::mem::take(&mut session.problems);
        let settings = Box::new(session.settings.clone());
        let ignored = session.config.trust.ignored();
        if !ignored.is_empty() {
            let list: Vec<String> = ignored.iter().map(ToString::to_string).collect();
            let text = format!("Not used, because this folder is not trusted: {}", list.join(", "));
            self.problem(text, "UntrustedFolder");
        }
        for problem in problems {
            self.problem(problem.to_string(), "SettingsProblem");
        }
        self.emit(Happening::Settings { settings, ticket: None });
    }

    /// What runs in the session that is open ends with it.
    fn leave_session(&mut self) {
        self.settle_start();
        self.end_turn();
        if let Some(mut session) = self.session.take() {
            session.save();
            let limit = self.environment.limits.stop;
            let farewell = Farewell::of(&mut session, "other");
            self.left.spawn(close(session, farewell, limit));
        }
        self.out.forget_state();
    }

    fn loaded(&self, session: &Session) -> Loaded {
        let running = self.turns.running();
        Loaded {
            id: session.id.clone(),
            messages: session.messages.clone(),
            title: session.title.clone(),
            cwd: session.cwd.clone(),
            updated_at_ms: session.updated_at_ms,
            settings: session.settings.clone(),
            models: session.models.views(),
            state: self.out.state(),
            usage: session.usage,
            last_call: session.last_call,
            questions: running
                .and_then(|running| running.turn.question())
                .into_iter()
                .chain(session.subagents.questions())
                .cloned()
                .collect(),
            queued: self
                .prompts
                .iter()
                .map(|queued| (queued.ticket.clone(), queued.prompt.text.clone()))
                .collect(),
            repository: repository(session),
        }
    }

    fn change_settings(&mut self, ticket: Ticket, change: &SettingsChange) {
        let Some(session) = &mut self.session else { return self.reply(ticket, Err(Error::NoSession)) };
        let before = session.settings.clone();
        apply(&mut session.settings, change);
        session.update_policy();
        session.subagents.follow(session.policy.level(), session.settings.mode);
        session.save();
        let after = session.settings.clone();
        if before != after {
            self.emit(Happening::Settings { settings: Box::new(after.clone()), ticket: None });
        }
        self.emit(Happening::Settings { settings: Box::new(after), ticket: Some(ticket.clone()) });
        self.reply(ticket, Ok(Reply::Done));
    }

    fn rename(&mut self, ticket: Ticket, title: String) {
        let Some(session) = &mut self.session else { return self.reply(ticket, Err(Error::NoSession)) };
        if let Err(error) = session.log().and_then(|log| log.set_title(&title, true)) {
            return self.reply(ticket, Err(Error::Internal(error.to_string())));
        }
        session.title = Some(title.clone());
        session.is_title_manual = true;
        session.new_title = None;
        self.emit(Happening::Title { title, cause: TitleCause::Manual, ticket: Some(ticket.clone()) });
        self.reply(ticket, Ok(Reply::Success(true)));
    }

    /// The turn that runs ends here.
    pub(super) fn end_turn(&mut self) {
        if self.session.is_none() {
            return;
        }
        self.interrupt(None);
        if let Some(turn) = self.turns.abort() {
            self.completed(&turn, crate::TurnEnd::Cancelled);
        }
    }

    /// The session is closed, and with it the agent.
    pub(super) fn closed(&mut self, ticket: Ticket) {
        self.lifecycle.closed();
        self.leave_session();
        self.reply(ticket, Ok(Reply::Done));
        self.emit(Happening::Closed);
        self.stop();
    }
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
