//! What each command does. Replies go through the one stream of events, in the order clients expect.

use musher_store::{Purpose, Record};

use super::actor::Actor;
use super::compact::CompactionOutcome;
use super::hooks::{hook_event, hook_message};
use super::lifecycle::Starting;
use super::lists::{models_without_session, repository, switch_skill, tools_without_session};
use super::open;
use super::plan::Plan;
use super::queued_prompt::Queued;
use super::servers::without_session;
use super::session_end_hooks::SessionEndHooks;
use super::state::Session;
use super::tasks::SessionInput;
use super::turn::Turn;
use crate::command::{Command, CommandId, Created, LoadSession, Loaded, NewSession, Prompt, Reply};
use crate::event::{TurnEnd, WorkingState};
use crate::hooks::HookProgress;
use crate::{Autonomy, Error, Event, Mode, SettingsChange};

impl Actor {
    /// Handles a command. Its reply follows at once or later.
    pub(super) fn command(&mut self, command_id: CommandId, command: Command) {
        let outcome = match command {
            Command::Create(new) => return self.create(command_id, *new),
            Command::Load(load) => return self.load(command_id, *load),
            Command::Interrupt => return self.interrupt(Some(command_id)),
            Command::Close { .. } => return self.close(command_id),
            Command::ListModels => {
                let models =
                    self.session.as_ref().map(|session| session.models().views_with(session.model_id()));
                Ok(Reply::Models(models.unwrap_or_else(|| models_without_session(&self.environment).views())))
            }
            Command::SetSkillDisabled { name, disabled, .. } => {
                switch_skill(&self.environment, self.session.as_mut(), &name, disabled)
            }
            Command::ListTools(filter) if self.session.is_none() => {
                tools_without_session(&self.environment, &filter)
            }
            Command::Mcp(command) if self.session.is_none() => without_session(&command),
            command => match self.session_command(&command_id, command) {
                Ok(None) => return,
                Ok(Some(reply)) => Ok(reply),
                Err(error) => Err(error),
            },
        };
        self.reply(command_id, outcome);
    }

    /// Handles a command for the open session. Returns its reply, or `None` if the reply follows later.
    fn session_command(&mut self, id: &CommandId, command: Command) -> Result<Option<Reply>, Error> {
        let store = self.environment.store();
        let has_turn = self.turns.is_running();
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        let sender = self.sender_of(session);
        let (environment, out) = (&self.environment, &mut self.out);
        let session = self.session.as_mut().ok_or(Error::NoSession)?;
        let reply = match command {
            Command::Prompt(prompt) => return self.take_or_hold_prompt(id, *prompt),
            Command::ChangeSettings(change) => {
                let unmatched = session.unmatched_tools(&change, &environment.tools);
                let has_changed = session.change_settings(&change);
                let settings = Box::new(session.settings().clone());
                if has_changed {
                    let event = session.settings_event();
                    self.emit(event);
                }
                if let Some(text) = unmatched {
                    self.emit(Event::problem(format!("update_session_settings: {text}"), "SettingsProblem"));
                }
                self.emit(Event::Settings { settings, command_id: Some(id.clone()) });
                Reply::Done
            }
            Command::Rename { title } => {
                let event = session.rename(title, id.clone());
                self.emit(event?);
                Reply::Success(true)
            }
            Command::Compact { instructions } => {
                let (id, retries) = (id.clone(), environment.retries);
                session.start_compaction(id, instructions, retries, &environment.tools, sender)?;
                let event = session.settings_event();
                self.emit(event);
                return Ok(None);
            }
            Command::Mcp(command) => {
                return session.mcp_command(id.clone(), *command, sender, out).transpose();
            }
            Command::ListTools(filter) => {
                session.list_tools(id.clone(), *filter, &environment.tools, sender)?;
                return Ok(None);
            }
            Command::ListSkills => session.list_skills(environment),
            Command::ListCommands => session.list_commands(),
            Command::ContextStats => session.context_stats(),
            Command::ContextBreakdown => {
                Reply::ContextBreakdown(Box::new(session.context_breakdown(&environment.tools)))
            }
            Command::Fork { title, tags } => session.fork(&store, title.as_deref(), tags)?,
            Command::RewindInfo { session: id, message } => session.rewind_info(&id, &message)?,
            Command::Rewind(rewind) => session.rewind(&store, &rewind, has_turn)?,
            Command::KillWorker { session: id } => session.subagents().kill(&id)?,
            // handled without a session
            Command::Create(_)
            | Command::Load(_)
            | Command::Interrupt
            | Command::Close { .. }
            | Command::ListModels
            | Command::SetSkillDisabled { .. } => Reply::Done,
        };
        Ok(Some(reply))
    }

    /// Takes a prompt: acquires the session for its turn, logs it, and begins its turn when it is next.
    pub(super) fn take_prompt(&mut self, command_id: &CommandId, prompt: Prompt) -> Result<(), Error> {
        if self.prompts.is_full() {
            return Err(Error::Invalid("too many messages wait for their turn".to_owned()));
        }
        let session = self.session.as_mut().ok_or(Error::NoSession)?;
        session.acquire(Purpose::Turn)?;
        self.emit_unsent();
        let session = self.session.as_mut().ok_or(Error::NoSession)?;
        let mut queued = Queued::new(Some(command_id.clone()), prompt);
        // a prompt that hooks may refuse becomes part of the conversation after they have run
        let is_free =
            !self.turns.is_running() && !self.lifecycle.is_starting() && !session.has_prompt_hooks();
        let is_next = is_free && self.prompts.is_empty();
        let logged = if is_next {
            session.log_prompt(&mut queued, &self.environment)
        } else {
            session.log_waiting_prompt(&queued)
        };
        logged?;
        self.prompts.push(queued);
        Ok(())
    }

    /// Takes the prompt of the next turn: one that waits, or the results of background subagents.
    pub(super) fn next_prompt(&mut self) -> Option<Queued> {
        if let Some(queued) = self.prompts.next() {
            return Some(queued);
        }
        let session = self.session.as_mut().filter(|_| self.lifecycle.takes_commands())?;
        // results that arrive while another process runs a turn wait for the next one of this process
        if !session.subagents().has_completions() || session.acquire(Purpose::Turn).is_err() {
            return None;
        }
        self.emit_unsent();
        let session = self.session.as_mut()?;
        session.completion_prompt().unwrap_or_else(|error| {
            self.emit(Event::problem(error.with_causes().to_string(), "PersistenceError"));
            None
        })
    }

    fn create(&mut self, command_id: CommandId, new: NewSession) {
        match open::new(&self.environment, new) {
            Err(error) => self.reply(command_id, Err(error)),
            Ok(session) => {
                let created = Created {
                    id: session.id().clone(),
                    settings: session.settings().clone(),
                    models: session.models().views_with(session.model_id()),
                    repository: repository(&session),
                };
                self.switch(session);
                self.announce_session();
                self.start_session("startup", Some((command_id, Reply::Created(Box::new(created)))));
            }
        }
    }

    fn load(&mut self, command_id: CommandId, load: LoadSession) {
        let store = self.environment.store();
        if let Some(session) = self.session.as_mut().filter(|session| session.id().as_str() == load.id) {
            let outcome = session.reread(&store).map_err(Error::from);
            self.emit_unsent();
            let loaded = self.session.as_ref().map(|session| self.loaded(session)).ok_or(Error::NoSession);
            let outcome = outcome.and(loaded).map(|loaded| Reply::Loaded(Box::new(loaded)));
            return self.reply(command_id, outcome);
        }
        match open::load(&self.environment, load) {
            Err(error) => self.reply(command_id, Err(error)),
            Ok((session, damage)) => {
                self.switch(session);
                self.announce_session();
                if !damage.is_none() {
                    let text = format!("The log of the session was damaged: {damage}");
                    self.emit(Event::problem(text, "SessionDamaged"));
                }
                if let Some(session) = &self.session {
                    let loaded = self.loaded(session);
                    self.start_session("resume", Some((command_id, Reply::Loaded(Box::new(loaded)))));
                }
            }
        }
    }

    fn loaded(&self, session: &Session) -> Loaded {
        let running = self.turns.running();
        let of_turn = running.and_then(|running| running.turn.open_request());
        Loaded {
            id: session.id().clone(),
            messages: session.conversation().messages().to_vec(),
            title: session.title().text().map(str::to_owned),
            cwd: session.cwd().to_owned(),
            updated_at_ms: session.conversation().updated_at_ms(),
            settings: session.settings().clone(),
            models: session.models().views_with(session.model_id()),
            state: self.out.state(),
            usage: session.usage().own(),
            last_call: session.usage().last_call(),
            requests: of_turn.into_iter().chain(session.subagents().requests()).cloned().collect(),
            queued: self
                .prompts
                .iter()
                .map(|queued| (queued.command_id.clone(), queued.prompt.text.clone()))
                .collect(),
            repository: repository(session),
        }
    }

    /// Opens a session in the place of the open one, which is left.
    pub(crate) fn switch(&mut self, mut session: Session) {
        self.leave_session();
        session.set_number(self.lifecycle.next_session());
        session.watch_servers(self.sender_of(&session));
        self.session = Some(session);
    }

    fn announce_session(&mut self) {
        let Some(session) = &mut self.session else { return };
        session.report_servers(&mut self.out);
        let mut problems = session.take_problems();
        problems.extend(session.sandboxes().notice(session.policy()));
        let settings = session.settings_event();
        let ignored = session.config().trust.ignored();
        if !ignored.is_empty() {
            let list: Vec<String> = ignored.iter().map(ToString::to_string).collect();
            let text = format!("Not used, because this folder is not trusted: {}", list.join(", "));
            self.emit(Event::problem(text, "UntrustedFolder"));
        }
        for problem in problems {
            self.emit(Event::problem(problem.to_string(), "SettingsProblem"));
        }
        self.emit(settings);
    }

    /// Runs the `SessionStart` hooks, then answers the command that has opened the session.
    fn start_session(&mut self, source: &'static str, reply: Option<(CommandId, Reply)>) {
        let session = self.session.as_ref();
        let cancel = session.and_then(|session| session.run_start_hooks(source, self.sender_of(session)));
        match cancel {
            Some(cancel) => self.lifecycle.start(Starting { cancel, reply }),
            None => {
                if let Some((command_id, reply)) = reply {
                    self.reply(command_id, Ok(reply));
                }
            }
        }
    }

    /// Answers the command that has opened the session, if the `SessionStart` hooks have delayed that.
    pub(super) fn settle_start(&mut self) {
        if let Some((command_id, reply)) = self.lifecycle.started() {
            self.reply(command_id, Ok(reply));
        }
    }

    /// Ends everything that runs in the open session, and closes it in the background.
    fn leave_session(&mut self) {
        self.settle_start();
        self.end_turn();
        self.refuse_held_prompts();
        if let Some(mut session) = self.session.take() {
            if session.is_owned() {
                session.save();
            }
            let hooks = SessionEndHooks::take(&mut session, "other");
            self.closing.spawn(session.close_after_title(hooks, self.environment.limits.stop));
        }
        self.out.reset_state();
    }

    /// Ends the running turn at once.
    fn end_turn(&mut self) {
        if self.session.is_none() {
            return;
        }
        self.interrupt(None);
        if let Some(turn) = self.turns.abort() {
            self.complete_turn(&turn, TurnEnd::Cancelled);
        }
    }

    /// Closes the session for a client: runs its last hooks, which are reported, then replies.
    fn close(&mut self, command_id: CommandId) {
        self.end_turn();
        let hooks = self.session.as_mut().and_then(|session| SessionEndHooks::take(session, "other"));
        let (Some(session), Some(hooks)) = (&self.session, hooks) else { return self.closed(command_id) };
        self.lifecycle.close();
        let (sender, limit) = (self.sender_of(session), self.environment.limits.stop);
        tokio::spawn(async move {
            hooks.run(limit, sender.hook_listener()).await;
            sender.send(SessionInput::Closed(command_id)).await;
        });
    }

    /// The session is closed: ends the agent, too.
    pub(super) fn closed(&mut self, command_id: CommandId) {
        self.lifecycle.closed();
        self.leave_session();
        self.reply(command_id, Ok(Reply::Done));
        self.emit(Event::Closed);
        self.stop();
    }

    /// Logs and announces the progress of hooks while no turn runs.
    pub(super) fn hook_progress(&mut self, progress: HookProgress) {
        let Some(session) = &mut self.session else { return };
        if let HookProgress::Completed(run) = &progress {
            for message in session.keep_hook_run(hook_message(run)) {
                if let Err(error) = session.append(message) {
                    let event = Event::problem(error.with_causes().to_string(), "PersistenceError");
                    self.out.push(Some(session.id().clone()), event);
                }
            }
        }
        self.emit(hook_event(progress));
    }

    /// Creates a new session when the summary that a client requested is ready.
    pub(super) fn compacted(&mut self, command_id: CommandId, outcome: CompactionOutcome) {
        let store = self.environment.store();
        if let Some(session) = &mut self.session {
            for usage in outcome.used() {
                if let Some(running) = self.turns.running_mut() {
                    running.turn.add_usage(*usage);
                }
            }
            if let Some(event) = session.record_summary(outcome.used()) {
                self.out.push(Some(session.id().clone()), event);
            }
        }
        let outcome = outcome.into_result().and_then(|(text, removed)| {
            let session = self.session.as_mut().ok_or(Error::NoSession)?;
            session.fork_compacted(&store, text, removed)
        });
        self.reply(command_id, outcome);
    }

    /// Logs and announces the end of a turn.
    pub(super) fn complete_turn(&mut self, turn: &Turn, reason: TurnEnd) {
        let Some(session) = &mut self.session else { return };
        let id = session.id().clone();
        let completed = Box::new(session.end_turn(turn, reason));
        self.out.push(Some(id.clone()), Event::TurnCompleted(completed));
        self.out.push_idle(id);
        if let Some((session, completed)) = self.turns.take_handed_over() {
            self.out.push(Some(session), Event::TurnCompleted(completed));
        }
        if let Some(session) = &self.session {
            let sender = self.sender_of(session);
            if let Some(session) = &mut self.session {
                session.announce_title(&self.environment, sender, &mut self.out);
            }
        }
    }

    /// Carries out a plan in a new session. It begins at once, and the turn that has made the plan ends after it.
    pub(super) fn hand_over(&mut self, turn: &Turn, plan: &Plan, autonomy: Autonomy) {
        let Some(session) = &mut self.session else { return };
        let completed = Box::new(turn.completed(TurnEnd::SpecHandoff, session.usage()));
        let reason = completed.reason.name().to_owned();
        session.note(&Record::TurnOutcome { turn_id: turn.id().to_owned(), reason }).ok();
        let old = session.id().clone();
        let transcript = session.conversation().log_path();
        let settings = session.settings();
        let new = NewSession {
            cwd: session.cwd().to_owned(),
            settings: SettingsChange {
                model: Some(settings.model.clone()),
                effort: Some(settings.effort),
                mode: Some(Mode::Auto),
                autonomy: Some(autonomy),
                tags: settings.tags.clone(),
                ..SettingsChange::default()
            },
            attach: session.attach().clone(),
            system_prompt: session.system_prompt().cloned(),
            ..NewSession::default()
        };
        match open::new(&self.environment, new) {
            Err(error) => {
                self.emit(Event::problem(error.to_string(), "Error"));
                self.out.push(Some(old), Event::TurnCompleted(completed));
                self.emit(Event::State(WorkingState::Idle));
            }
            Ok(mut session) => {
                let settings = session.settings_event();
                // no other process knows the session; if this fails, its turn fails with the reason
                session.acquire(Purpose::Turn).ok();
                self.switch(session);
                self.emit(settings);
                self.turns.set_handed_over(old, completed);
                let prompt = Prompt { text: plan.prompt(&transcript), ..Prompt::default() };
                // its turn begins when the `SessionStart` hooks have ended
                self.prompts.push_first(Queued::new(None, prompt));
                self.start_session("startup", None);
            }
        }
    }
}
