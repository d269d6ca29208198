//! Prompts: taken, kept, and begun as turns, one after the other.

use std::sync::Arc;
use std::time::Instant;

use super::actor::Actor;
use super::plan::Plan;
use super::prompt::Queued;
use super::shape::{self, Shape};
use super::turn::{Turn, now_ms, reminder};
use super::{first, open};
use crate::command::{NewSession, Prompt, Reply, Ticket};
use crate::event::{TurnCompleted, TurnEnd, WorkingState};
use crate::message::Message;
use crate::skills::Expansion;
use crate::store::{Record, StoreError};
use crate::{Autonomy, Error, Happening, Mode, SettingsChange};

impl Actor {
    /// Takes a prompt. It is acknowledged once it is on disk.
    pub(super) fn prompt(&mut self, ticket: Ticket, prompt: Prompt) {
        if self.session.is_none() {
            return self.reply(ticket, Err(Error::NoSession));
        }
        if self.queue.len() >= self.environment.limits.queued_prompts {
            let text = "too many messages wait for their turn".to_owned();
            return self.reply(ticket, Err(Error::Invalid(text)));
        }
        let mut queued = Queued::new(Some(ticket.clone()), prompt);
        // what hooks may refuse becomes a part of the conversation only when they have not
        let is_free = self.running.is_none() && self.starting.is_none() && !self.has_prompt_hooks();
        let is_next = is_free && self.queue.is_empty();
        let written = if is_next { self.write(&mut queued) } else { self.write_waiting(&queued) };
        if let Err(error) = written {
            return self.reply(ticket, Err(Error::Internal(error.to_string())));
        }
        self.queue.push_back(queued);
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
        if let Some(Expansion::Prompt { text, .. } | Expansion::Skill { text, .. }) =
            session.library.expand(&queued.prompt.text)
        {
            expand(&mut message, text);
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
        self.begin_turn(Turn::new(queued.id.clone(), Instant::now(), self.environment.limits));
        if queued.written.is_none() && self.has_prompt_hooks() {
            return self.ask_about_prompt(queued);
        }
        self.enter_prompt(queued);
    }

    /// Makes a prompt a part of the conversation, and asks the model.
    pub(super) fn enter_prompt(&mut self, mut queued: Queued) {
        if queued.written.is_none()
            && let Err(error) = self.write(&mut queued)
        {
            return self.not_written(&error);
        }
        self.emit(Happening::State(WorkingState::Streaming));
        for message in queued.written.take().unwrap_or_default() {
            let ticket = queued.ticket.clone().filter(|_| message.id == queued.id);
            self.emit(Happening::Message { message, ticket });
        }
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
                if let Some(running) = &mut self.running {
                    running.turn.shape = Some(shape);
                    running.schema = is_native.then(|| schema.clone());
                }
                self.with_turn(Turn::call_model);
            }
        }
    }

    /// A plan is carried out in a new session: it begins at once, and the turn that made the plan ends after it.
    pub(super) fn begin_handed_over(&mut self, plan: &Plan, autonomy: Autonomy) {
        let (Some(session), Some(running)) = (&mut self.session, self.running.take()) else { return };
        running.cancel.cancel();
        let completed = Box::new(TurnCompleted {
            turn_id: running.turn.id.clone(),
            reason: TurnEnd::SpecHandoff,
            usage: running.turn.usage,
            cumulative: session.usage,
            child: running.turn.child_usage,
            cumulative_child: session.child_usage,
            took: running.turn.started.elapsed(),
        });
        let outcome =
            Record::TurnOutcome { turn_id: running.turn.id, reason: completed.reason.name().to_owned() };
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
                self.handed_over = Some((old, completed));
                let prompt = Prompt { text: plan.prompt(&transcript), ..Prompt::default() };
                // begun as soon as the first hooks are over
                self.queue.push_front(Queued::new(None, prompt));
                self.begin_session("startup", None);
            }
        }
    }
}

/// Puts what a slash command stands for in the place of the typed text.
fn expand(message: &mut Message, text: String) {
    message.content.retain(|content| !matches!(content, crate::Content::Text(_)));
    message.content.push(crate::Content::Text(text));
}
