//! Prompts: logged, entered into the conversation, discarded.

use std::sync::Arc;

use uuid::Uuid;

use super::active_turn::ActiveTurn;
use super::context_message;
use super::output_shape::{self, Shape};
use super::queued_prompt::Queued;
use super::state::Session;
use super::subagents::COMPLETION;
use super::turn::{Turn, message as turn_message, now_ms, reminder};
use crate::command::{CommandId, Prompt};
use crate::event::{TurnEnd, WorkingState};
use crate::skills::Expansion;
use crate::{Environment, Event};
use musher_message::{Content, Message, Role, Visibility};
use musher_store::{Record, StoreError};

impl Session {
    /// Logs a prompt that waits for its turn.
    pub(super) fn log_waiting_prompt(&mut self, queued: &Queued) -> Result<(), StoreError> {
        let message = queued.message(self.settings(), now_ms());
        let log = self.log()?;
        log.append(&Record::Queued(Box::new(message)))?;
        log.sync()
    }

    /// Makes a prompt part of the conversation, with everything the model has to know before it.
    pub(super) fn log_prompt(
        &mut self,
        queued: &mut Queued,
        environment: &Environment,
    ) -> Result<(), StoreError> {
        let mut written: Vec<Arc<Message>> = Vec::new();
        for run in self.take_hook_runs() {
            self.append(run)?;
        }
        if !self.conversation().has_begun() {
            let context = context_message::context_message(environment, self, &queued.id);
            written.push(self.append(context)?);
        }
        // a file in the prompt counts as read
        self.tools().seen.add_shown(&queued.prompt.text);
        let mut message = queued.message(self.settings(), now_ms());
        match self.library().expand(&queued.prompt.text) {
            Some(Expansion::Prompt { command, text }) => {
                let notice = vec![Content::Text(format!("/{} is running", command.name))];
                let text = text.trim_end();
                expand(&mut message, format!("<system-notification>\n{text}\n\n</system-notification>"));
                let id = Uuid::new_v4().to_string();
                written.push(self.append(turn_message(id, Role::System, notice, Visibility::UserOnly))?);
            }
            Some(Expansion::Skill { text, .. }) => expand(&mut message, text),
            _ => {}
        }
        written.push(self.append(message)?);
        if let Some(mode) = self.report_mode() {
            written.push(self.append(mode)?);
        }
        self.log()?.sync()?;
        queued.written = Some(written);
        Ok(())
    }

    /// Records that a waiting prompt was discarded.
    pub(super) fn discard_prompt(&mut self, queued: &Queued) {
        if queued.written.is_none() {
            let noted = self.note(&Record::Discarded { message_id: queued.id.clone() });
            if let Err(error) = noted {
                tracing::warn!(error = %error.with_causes(), "a discarded message will be restored when the session is resumed");
            }
        }
    }

    /// Returns a prompt with the results of background subagents that have ended since the last turn, if there are any.
    pub(super) fn completion_prompt(&mut self) -> Result<Option<Queued>, StoreError> {
        let completions = self.subagents().completions(self.settings().mode);
        let Some(id) = completions.first().map(|completion| completion.id.clone()) else { return Ok(None) };
        let written: Result<Vec<_>, _> =
            completions.into_iter().map(|completion| self.append(completion)).collect();
        let command_id = Some(CommandId(id.as_str().into()));
        Ok(Some(Queued { command_id, id, prompt: Prompt::default(), written: Some(written?) }))
    }
}

impl ActiveTurn<'_> {
    /// Begins with a prompt: first its hooks, if there are any.
    pub(super) fn begin(&mut self, queued: Queued) {
        if queued.written.is_none() && self.session.has_prompt_hooks() {
            return self.run_prompt_hooks(queued);
        }
        self.enter_prompt(queued);
    }

    /// Makes a prompt part of the conversation, and calls the model.
    pub(super) fn enter_prompt(&mut self, mut queued: Queued) {
        if queued.written.is_none()
            && let Err(error) = self.session.log_prompt(&mut queued, self.environment)
        {
            return self.log_failed(&error);
        }
        let written = queued.written.take().unwrap_or_default();
        self.out.set_trace_parent(queued.prompt.trace_parent.take());
        // notices for the user are not part of the turn
        let (notices, written): (Vec<_>, Vec<_>) =
            written.into_iter().partition(|message| message.visibility == Visibility::UserOnly);
        self.announce(&queued, notices);
        self.emit(Event::State(WorkingState::Streaming));
        self.announce(&queued, written);
        self.session.title_from_message(&queued.prompt.text);
        match queued.prompt.output_schema.as_ref().map(|schema| (schema, Shape::new(schema))) {
            None => self.step(Turn::call_model),
            Some((_, Err(problem))) => self.step(|turn, effects| {
                let reason = TurnEnd::StructuredOutputSchemaInvalid;
                turn.fail(problem, Some("StructuredOutputError"), reason, effects);
            }),
            Some((schema, Ok(shape))) => {
                let is_native = self.session.model().is_some_and(|model| model.native_schema);
                if !is_native {
                    self.append(reminder(&output_shape::instructions(schema)), None);
                }
                self.running.turn.expect_shape(shape);
                self.running.set_schema(is_native.then(|| schema.clone()));
                self.step(Turn::call_model);
            }
        }
    }

    fn announce(&mut self, queued: &Queued, written: Vec<Arc<Message>>) {
        for message in written {
            let command_id = queued.command_id.clone().filter(|_| message.id == queued.id);
            self.emit(Event::Message { message, command_id });
        }
    }

    /// Adds prompts that arrived while tools ran to the conversation, so that the model reads them with the results.
    ///
    /// A prompt gets its own turn if it asks for one, if its answer needs a shape, if hooks may refuse it, or if the running turn was
    /// started by a subagent: its sender waits for the end of a turn with the id of the prompt.
    pub(super) fn join_waiting_prompts(&mut self) {
        let turn = &self.running.turn;
        let takes_no_prompts = turn.expects_shape() || turn.id().starts_with(COMPLETION);
        if takes_no_prompts || self.session.has_prompt_hooks() {
            return;
        }
        while let Some(mut queued) = self.prompts.next_joining() {
            if queued.written.is_none()
                && let Err(error) = self.session.log_prompt(&mut queued, self.environment)
            {
                return self.log_failed(&error);
            }
            let written = queued.written.take().unwrap_or_default();
            self.announce(&queued, written);
        }
    }
}

/// Replaces the typed text of a slash command by its expansion.
fn expand(message: &mut Message, text: String) {
    message.content.retain(|content| !matches!(content, Content::Text(_)));
    message.content.push(Content::Text(text));
}
