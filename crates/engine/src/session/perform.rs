//! Performs what a turn asks for: the log, the model, tools, questions, the end.

use std::sync::Arc;

use musher_model::{Usage, with_retries};
use tokio::time::Instant;

use super::actor::{Actor, Running};
use super::children::{ask_model, spawn};
use super::state::sum;
use super::turn::{Effect, Turn};
use super::{offer, prompt, request};
use crate::command::Ticket;
use crate::context::system_prompt;
use crate::event::{TitleCause, TurnCompleted, TurnEnd, WorkingState};
use crate::message::{Message, Role};
use crate::{Happening, models::Model};

impl Actor {
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Emit(what) => self.emit(what),
            Effect::Append(message) => self.append(message, None),
            Effect::AppendQuietly(message) => {
                self.log(message);
            }
            Effect::Used(usage) => self.used(usage),
            Effect::CallModel => self.call_model(),
            Effect::Prepare { index, call } => self.prepare(index, call),
            Effect::Consented { request, choice } => self.consented(&request, choice),
            Effect::Run { index, call, access, consent } => self.run_call(index, call, access, consent),
            Effect::Ask(question) => {
                self.emit(Happening::Question(question));
                self.refuse_question();
            }
            Effect::Finish(reason) => {
                let deadline = self.stop_deadline();
                if let Some(running) = &mut self.running {
                    running.finish.get_or_insert((reason, deadline));
                    running.cancel.cancel();
                }
            }
        }
    }

    /// Puts a message in the log, then tells clients.
    pub(super) fn append(&mut self, message: Message, ticket: Option<Ticket>) {
        if let Some(message) = self.log(message) {
            self.emit(Happening::Message { message, ticket });
        }
    }

    /// Puts a message in the log.
    pub(super) fn log(&mut self, mut message: Message) -> Option<Arc<Message>> {
        let session = self.session.as_mut()?;
        if message.role == Role::Assistant {
            message.model_id = Some(session.settings.model.clone());
            message.reasoning_effort = Some(session.settings.effort.name().to_owned());
        }
        Some(session.push(message))
    }

    fn used(&mut self, usage: Usage) {
        let Some(session) = &mut self.session else { return };
        session.usage = sum(session.usage, usage);
        session.last_call = Some(usage);
        let what = Happening::Usage {
            total: session.usage,
            inclusive: session.inclusive_usage(),
            last_call: session.last_call,
        };
        self.emit(what);
    }

    /// The model of the session, if there is one.
    pub(super) fn model(&self) -> Option<Model> {
        let session = self.session.as_ref()?;
        session.models.find(&session.settings.model)
    }

    fn call_model(&mut self) {
        let model = self.model();
        let (Some(session), Some(running)) = (&self.session, &mut self.running) else { return };
        let Some(model) = model else {
            let text = format!("There is no model `{}`.", session.settings.model);
            return self.with_turn(|turn, effects| turn.fail(text, Some("Error"), TurnEnd::Error, effects));
        };
        running.model.cancel();
        running.model = running.cancel.child_token();
        let system = vec![system_prompt(session.system_prompt.as_ref())];
        let tools = offer::specs(&self.environment.tools, &session.settings.tools, &session.loaded_tools);
        let request = request::build(session, &model, system, tools);
        let stream = with_retries(model.provider, request, self.environment.retries);
        let call = (running.number, running.turn.model_calls());
        let task = ask_model(stream, call, running.model.clone(), self.inputs.clone());
        running.children += 1;
        spawn(running.number, self.inputs.clone(), task);
    }

    /// A call that runs has something to show, unless its result was shown already.
    pub(super) fn progress(&mut self, what: Happening) {
        if self.running.as_ref().is_some_and(|running| !running.turn.is_over()) {
            self.emit(what);
        }
    }

    /// Ends the turn if it is decided and everything it started has ended, or had time enough to.
    pub(super) fn finish_turn(&mut self) {
        let is_ready = |running: &mut Running| {
            running.finish.is_some_and(|(_, until)| running.children == 0 || Instant::now() >= until)
        };
        let Some(running) = self.running.take_if(is_ready) else { return };
        if let Some((reason, _)) = running.finish {
            self.completed(&running.turn, reason);
        }
    }

    /// Tells that a turn is over.
    pub(super) fn completed(&mut self, turn: &Turn, reason: TurnEnd) {
        let Some(session) = &self.session else { return };
        let completed = TurnCompleted {
            turn_id: turn.id.clone(),
            reason,
            usage: turn.usage,
            cumulative: session.usage,
            child: turn.child_usage,
            cumulative_child: session.child_usage,
            took: turn.started.elapsed(),
        };
        self.emit(Happening::TurnCompleted(Box::new(completed)));
        self.emit(Happening::State(WorkingState::Idle));
        self.title();
    }

    /// The first message gives the session its title.
    fn title(&mut self) {
        let Some(session) = &mut self.session else { return };
        if session.title.is_some() {
            return;
        }
        let said = session
            .messages
            .iter()
            .find(|message| message.role == Role::User && message.visibility == crate::Visibility::Both);
        let text = said.and_then(|message| {
            message.content.iter().find_map(|content| match content {
                crate::Content::Text(text) => Some(prompt::title_of(text)),
                _ => None,
            })
        });
        if let Some(title) = text.filter(|title| !title.is_empty()) {
            session.title = Some(title.clone());
            self.emit(Happening::Title { title, cause: TitleCause::FirstMessage, ticket: None });
        }
    }
}
