//! Performs what a turn asks for: the log, the model, tools, questions, the end.

use std::sync::Arc;

use musher_model::{OutputSchema, Usage, with_retries};
use tokio::time::Instant;

use super::actor::Actor;
use super::children::ask_model;
use super::state::{Session, sum};
use super::turn::{Effect, Turn, message};
use super::{request, tool_selection};
use crate::Happening;
use crate::command::Ticket;
use crate::context::system_prompt;
use crate::event::{Question, TurnCompleted, TurnEnd};
use crate::models::Model;
use musher_message::{Content, Message, Role, Visibility};
use musher_store::{Record, StoreError};

impl Actor {
    pub(super) fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Emit(what) => self.emit(what),
            Effect::Append(message) => self.append(message, None),
            Effect::AppendQuietly(message) => {
                self.log(message);
            }
            Effect::Used(usage) => self.used(usage),
            Effect::CallModel => {
                if !self.waits_for_servers() {
                    self.call_model();
                }
            }
            Effect::Prepare { index, call } => self.prepare(index, call),
            Effect::JudgeAgain { index, call, rules } => self.judge_again(index, call, rules),
            Effect::Consented { request, choice } => self.consented(&request, choice),
            Effect::Run { index, call, access, decision } => self.run_call(index, call, access, decision),
            Effect::Settled(next) => self.settled(next),
            Effect::Overflow { error } => self.overflowed(error),
            Effect::Answered { index, output } => self.question_answered(index, output),
            Effect::Ask(question) => {
                if let Question::Permission { calls, .. } = &question {
                    self.notify(
                        format!("Permission is needed to run {} tool(s)", calls.len()),
                        "permission_prompt",
                    );
                }
                self.emit(Happening::Question(question));
                self.refuse_question();
            }
            Effect::HandOver { plan, autonomy } => self.begin_handed_over(&plan, autonomy),
            Effect::Finish(reason) => {
                let deadline = self.stop_deadline();
                if let Some(running) = self.turns.running_mut() {
                    running.finish(reason, deadline);
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

    /// Puts a message in the log. If that fails, the turn ends.
    pub(super) fn log(&mut self, mut message: Message) -> Option<Arc<Message>> {
        let session = self.session.as_mut()?;
        if message.role == Role::Assistant {
            message.model_id = Some(session.model_id().to_owned());
            message.reasoning_effort = Some(session.effort().name().to_owned());
        }
        match session.append(message) {
            Ok(message) => Some(message),
            Err(error) => {
                self.not_written(&error);
                None
            }
        }
    }

    pub(super) fn not_written(&mut self, error: &StoreError) {
        self.problem(error.to_string(), "PersistenceError");
        let deadline = self.stop_deadline();
        if let Some(running) = self.turns.running_mut() {
            running.log_failed(deadline);
        }
    }

    /// Something went wrong that people should read.
    pub(super) fn problem(&mut self, message: String, name: &str) {
        let (kind, name) = ("Error".to_owned(), Some(name.to_owned()));
        self.emit(Happening::Problem { message, kind, name });
    }

    pub(super) fn used(&mut self, usage: Usage) {
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
        self.session.as_ref().and_then(Session::model)
    }

    /// Asks the model, and stops asking before.
    pub(super) fn call_model(&mut self) {
        self.tell_notes();
        let model = self.model();
        let (Some(session), Some(running)) = (&self.session, self.turns.running_mut()) else { return };
        let Some(model) = model else {
            let there_are: Vec<String> = session.models.views().into_iter().map(|model| model.id).collect();
            let text = match there_are.as_slice() {
                [] => format!("There is no model `{}`, and no other is configured.", session.model_id()),
                all => format!("There is no model `{}`. There are: {}.", session.model_id(), all.join(", ")),
            };
            return self.with_turn(|turn, effects| turn.fail(text, Some("Error"), TurnEnd::Error, effects));
        };
        let system = vec![system_prompt(session.system_prompt.as_ref())];
        let tools = tool_selection::offered(&self.environment.tools, session);
        let mut request = request::build(session, &model, system, tools);
        request.output =
            running.schema().cloned().map(|schema| OutputSchema { name: "answer".to_owned(), schema });
        let stream = with_retries(model.provider, request, self.environment.retries);
        let (back, cancel) = running.model_call(&self.inputs);
        back.spawn(ask_model(stream, running.turn.model_calls(), cancel, back.clone()));
    }

    /// Puts what the model has to be told into the conversation.
    fn tell_notes(&mut self) {
        let Some(session) = &mut self.session else { return };
        let notes = std::mem::take(&mut session.new_notes);
        for completion in session.subagents.completions(session.settings.mode) {
            let ticket = Some(Ticket(completion.id.as_str().into()));
            if let Some(message) = self.log(completion) {
                self.emit(Happening::Message { message, ticket });
            }
        }
        if !notes.is_empty() {
            let id = format!("__internal__system-reminder__{}", uuid::Uuid::new_v4());
            let content = notes.into_iter().map(Content::Text).collect();
            self.log(message(id, Role::User, content, Visibility::LlmOnly));
        }
    }

    /// A call that runs has something to show, unless its result was shown already.
    pub(super) fn progress(&mut self, what: Happening) {
        if self.turns.running().is_some_and(|running| !running.turn.is_over()) {
            self.emit(what);
        }
    }

    /// Ends the turn if it is decided and everything it started has ended, or had time enough to.
    pub(super) fn finish_turn(&mut self) {
        if let Some((turn, reason)) = self.turns.take_finished(Instant::now()) {
            self.completed(&turn, reason);
        }
    }

    /// Tells that a turn is over.
    pub(super) fn completed(&mut self, turn: &Turn, reason: TurnEnd) {
        let Some(session) = &mut self.session else { return };
        let outcome = Record::TurnOutcome { turn_id: turn.id.clone(), reason: reason.name().to_owned() };
        let synced =
            |session: &mut Session| if session.journal.is_open() { session.log()?.sync() } else { Ok(()) };
        if let Err(error) = session.journal.note(&outcome).and_then(|()| synced(session)) {
            tracing::warn!(%error, "the end of a turn is not in the log");
        }
        session.save();
        let completed = TurnCompleted {
            turn_id: turn.id.clone(),
            reason,
            usage: sum(turn.usage, turn.child_usage),
            cumulative: session.inclusive_usage(),
            child: turn.child_usage,
            cumulative_child: session.child_usage,
            took: turn.started.elapsed(),
        };
        let id = session.id.clone();
        self.emit(Happening::TurnCompleted(Box::new(completed)));
        self.out.push_idle(id);
        if let Some((session, completed)) = self.turns.take_handed_over() {
            self.out.push(Some(session), Happening::TurnCompleted(completed));
        }
        self.tell_title();
    }
}
