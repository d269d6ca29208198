//! Prompts: taken, kept, and begun as turns, one after the other.

use std::sync::Arc;
use std::time::Instant;

use uuid::Uuid;

use super::actor::Actor;
use super::plan::Plan;
use super::prompt::Queued;
use super::shape::{self, Shape};
use super::state::sum;
use super::subagents::COMPLETION;
use super::turn::{Turn, message as turn_message, now_ms, reminder};
use super::{first, open};
use crate::command::{NewSession, Prompt, Reply, Ticket};
use crate::event::{TurnCompleted, TurnEnd, WorkingState};
use crate::skills::Expansion;
use crate::{Autonomy, Error, Happening, Mode, SettingsChange};
use musher_message::{Content, Message, Role, Visibility};
use musher_store::{Record, StoreError};

impl Actor {
    /// Takes a prompt. It is acknowledged once it is on disk.
    pub(super) fn prompt(&mut self, ticket: Ticket, prompt: Prompt) {
        if self.session.is_none() {
            return self.reply(ticket, Err(Error::NoSession));
        }
        if self.prompts.is_full() {
            let text = "too many messages wait for their turn".to_owned();
            return self.reply(ticket, Err(Error::Invalid(text)));
        }
        let mut queued = Queued::new(Some(ticket.clone()), prompt);
        // what hooks may refuse becomes a part of the conversation only when they have not
        let is_free = !self.turns.is_running() && !self.lifecycle.is_starting() && !self.has_prompt_hooks();
        let is_next = is_free && self.prompts.is_empty();
        let written = if is_next { self.write(&mut queued) } else { self.write_waiting(&queued) };
        if let Err(error) = written {
            return self.reply(ticket, Err(Error::Internal(error.to_string())));
        }
        self.prompts.push(queued);
        self.reply(ticket, Ok(Reply::Done));
    }

    /// Keeps a prompt that has to wait.
    fn write_waiting(&mut self, queued: &Queued) -> Result<(), StoreError> {
        let Some(session) = &mut self.session else { return Ok(()) };
        let message = queued.message(&session.settings, now_ms());
        let log = session.log()?;
        log.append(&Record::Queued(Box::new(message)))?;
        log.sync()
    }

    /// Puts a prompt in the log, with what the model has to know before it.
    fn write(&mut self, queued: &mut Queued) -> Result<(), StoreError> {
        let Some(session) = &mut self.session else { return Ok(()) };
        let mut written: Vec<Arc<Message>> = Vec::new();
        for run in std::mem::take(&mut session.first_hooks) {
            session.append(run)?;
        }
        if !session.has_begun() {
            let context = first::context(&self.environment, session, &queued.id);
            written.push(session.append(context)?);
        }
        let mut message = queued.message(&session.settings, now_ms());
        match session.library.expand(&queued.prompt.text) {
            Some(Expansion::Prompt { command, text }) => {
                let notice = vec![Content::Text(format!("/{} is running", command.name))];
                let notice =
                    turn_message(Uuid::new_v4().to_string(), Role::System, notice, Visibility::UserOnly);
                written.push(session.append(notice)?);
                let text = text.trim_end();
                expand(&mut message, format!("<system-notification>\n{text}\n\n</system-notification>"));
            }
            Some(Expansion::Skill { text, .. }) => expand(&mut message, text),
            _ => {}
        }
        written.push(session.append(message)?);
        if let Some(mode) = first::mode(session) {
            written.push(session.append(mode)?);
        }
        session.log()?.sync()?;
        queued.written = Some(written);
        Ok(())
    }

    /// A prompt that waited is thrown away.
    pub(super) fn discarded(&mut self, queued: &Queued) {
        let Some(session) = &mut self.session else { return };
        if queued.written.is_none() {
            let noted = session.journal.note(&Record::Discarded { message_id: queued.id.clone() });
            if let Err(error) = noted {
                tracing::warn!(%error, "a message that was thrown away will come back");
            }
        }
    }

    /// Begins the turn of a prompt: first with the hooks, if any have a say.
    pub(super) fn begin_prompt(&mut self, queued: Queued) {
        let (limits, tools) = (self.environment.limits, self.environment.tools.clone());
        self.turns.begin(Turn::new(queued.id.clone(), Instant::now(), limits, tools));
        if queued.written.is_none() && self.has_prompt_hooks() {
            return self.ask_about_prompt(queued);
        }
        self.enter_prompt(queued);
    }

    /// What came of subagents in the background while nothing else happened: the model is told at once, in a turn of its own.
    pub(super) fn completions(&mut self) -> Option<Queued> {
        let session = self.session.as_mut()?;
        let completions = session.subagents.completions(session.settings.mode);
        let id = completions.first()?.id.clone();
        let written: Result<Vec<_>, _> =
            completions.into_iter().map(|completion| session.append(completion)).collect();
        match written {
            Err(error) => {
                self.problem(error.to_string(), "PersistenceError");
                None
            }
            Ok(written) => {
                let ticket = Some(Ticket(id.as_str().into()));
                Some(Queued { ticket, id, prompt: Prompt::default(), written: Some(written) })
            }
        }
    }

    /// Makes a prompt a part of the conversation, and asks the model.
    pub(super) fn enter_prompt(&mut self, mut queued: Queued) {
        if queued.written.is_none()
            && let Err(error) = self.write(&mut queued)
        {
            return self.not_written(&error);
        }
        let written = queued.written.take().unwrap_or_default();
        // a notice for people is no part of the turn
        let (notices, written): (Vec<_>, Vec<_>) =
            written.into_iter().partition(|message| message.visibility == Visibility::UserOnly);
        self.announce(&queued, notices);
        self.emit(Happening::State(WorkingState::Streaming));
        self.announce(&queued, written);
        self.first_title(&queued.prompt.text);
        match queued.prompt.output_schema.as_ref().map(|schema| (schema, Shape::new(schema))) {
            None => self.with_turn(Turn::call_model),
            Some((_, Err(problem))) => self.with_turn(|turn, effects| {
                let reason = TurnEnd::StructuredOutputSchemaInvalid;
                turn.fail(problem, Some("StructuredOutputError"), reason, effects);
            }),
            Some((schema, Ok(shape))) => {
                let is_native = self.model().is_some_and(|model| model.native_schema);
                if !is_native {
                    self.log(reminder(&shape::instructions(schema)));
                }
                if let Some(running) = self.turns.running_mut() {
                    running.turn.shape = Some(shape);
                    running.set_schema(is_native.then(|| schema.clone()));
                }
                self.with_turn(Turn::call_model);
            }
        }
    }

    fn announce(&mut self, queued: &Queued, written: Vec<Arc<Message>>) {
        for message in written {
            let ticket = queued.ticket.clone().filter(|_| message.id == queued.id);
            self.emit(Happening::Message { message, ticket });
        }
    }

    /// What was said while tools ran is told to the model with their results: the turn goes on with it.
    ///
    /// A prompt has a turn of its own if it wants one, if its answer must have a shape, if hooks have a say, or if nobody has asked for
    /// the turn that runs: whoever waits for an answer waits for the end of a turn with the id of the prompt.
    pub(super) fn join_waiting(&mut self) {
        let turn = self.turns.running().map(|running| &running.turn);
        let is_alone = turn.is_some_and(|turn| turn.shape.is_some() || turn.id.starts_with(COMPLETION));
        if is_alone || self.has_prompt_hooks() {
            return;
        }
        while let Some(mut queued) = self.prompts.next_joining() {
            if queued.written.is_none()
                && let Err(error) = self.write(&mut queued)
            {
                return self.not_written(&error);
            }
            let written = queued.written.take().unwrap_or_default();
            self.announce(&queued, written);
        }
    }

    /// A plan is carried out in a new session: it begins at once, and the turn that made the plan ends after it.
    pub(super) fn begin_handed_over(&mut self, plan: &Plan, autonomy: Autonomy) {
        let (Some(session), Some(turn)) = (&mut self.session, self.turns.abort()) else { return };
        let completed = Box::new(TurnCompleted {
            turn_id: turn.id.clone(),
            reason: TurnEnd::SpecHandoff,
            usage: sum(turn.usage, turn.child_usage),
            cumulative: session.inclusive_usage(),
            child: turn.child_usage,
            cumulative_child: session.child_usage,
            took: turn.started.elapsed(),
        });
        let outcome = Record::TurnOutcome { turn_id: turn.id, reason: completed.reason.name().to_owned() };
        session.journal.note(&outcome).ok();
        let old = session.id.clone();
        let transcript = session.log().map(|log| log.path()).unwrap_or_default();
        let new = NewSession {
            cwd: session.cwd.clone(),
            settings: SettingsChange {
                model: Some(session.settings.model.clone()),
                effort: Some(session.settings.effort),
                mode: Some(Mode::Auto),
                autonomy: Some(autonomy),
                tags: session.settings.tags.clone(),
                ..SettingsChange::default()
            },
            attach: session.attach.clone(),
            system_prompt: session.system_prompt.clone(),
            ..NewSession::default()
        };
        match open::new(&self.environment, new) {
            Err(error) => {
                self.problem(error.to_string(), "Error");
                self.out.push(Some(old), Happening::TurnCompleted(completed));
                self.emit(Happening::State(WorkingState::Idle));
            }
            Ok(session) => {
                let settings = Box::new(session.settings.clone());
                self.switch(session);
                self.emit(Happening::Settings { settings, ticket: None });
                self.turns.hand_over(old, completed);
                let prompt = Prompt { text: plan.prompt(&transcript), ..Prompt::default() };
                // begun as soon as the first hooks are over
                self.prompts.push_first(Queued::new(None, prompt));
                self.begin_session("startup", None);
            }
        }
    }
}

/// Puts what a slash command stands for in the place of the typed text.
fn expand(message: &mut Message, text: String) {
    message.content.retain(|content| !matches!(content, Content::Text(_)));
    message.content.push(Content::Text(text));
}
