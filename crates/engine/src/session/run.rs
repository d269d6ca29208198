//! Runs calls: built-in tools in tasks of their own, tools of the engine here.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use musher_model::ToolUse;
use musher_tools::{Access, Progress, ToolOutput};
use serde_json::Value;
use tokio::sync::mpsc;
use uuid::Uuid;

use super::actor::Actor;
use super::children::{Input, spawn};
use super::offer;
use super::turn::{Consent, now_ms};
use crate::event::Question;
use crate::{Happening, ask_user};

/// So much of the output of a command is shown while it runs.
const SHOWN_TAIL: usize = 8192;

impl Actor {
    /// Runs a call that may run.
    pub(super) fn run_call(&mut self, index: usize, call: ToolUse, access: Access, consent: Option<Consent>) {
        match call.name.as_str() {
            "AskUser" => self.ask_user(index, &call),
            "ToolSearch" => {
                let output = self.tool_search(&call);
                self.call_done(index, output);
            }
            _ => {
                drop(consent);
                self.run_built_in(index, call, access);
            }
        }
    }

    pub(super) fn call_done(&mut self, index: usize, output: ToolOutput) {
        self.with_turn(|turn, effects| turn.done(index, output, effects));
    }

    fn run_built_in(&mut self, index: usize, call: ToolUse, access: Access) {
        let Some(tool) = self.environment.tools.get(&call.name).cloned() else {
            let text = format!("{} is not available here", call.name);
            return self.call_done(index, ToolOutput::error(&text, &text));
        };
        let (Some(session), Some(running)) = (&self.session, &mut self.running) else { return };
        let (turn, inputs) = (running.number, self.inputs.clone());
        let watch = watch(turn, &call, inputs.clone());
        let context = session.tools.clone().with_access(access).with_progress(watch);
        let cancel = running.cancel.child_token();
        running.children += 1;
        spawn(turn, inputs.clone(), async move {
            let output = tool.run(call.input, &context, cancel).await;
            inputs.send(Input::Done { turn, index, output }).await.ok();
        });
    }

    fn ask_user(&mut self, index: usize, call: &ToolUse) {
        let text = call.input.get("questionnaire").and_then(Value::as_str).unwrap_or_default();
        match ask_user::parse(text) {
            Err(problem) => {
                let text = format!("The questionnaire cannot be read: {problem}");
                self.call_done(index, ToolOutput::error(&text, &text));
            }
            Ok(questions) => {
                let id = Uuid::new_v4().to_string();
                let question = Question::Ask { id, tool_call_id: call.id.clone(), questions };
                self.with_turn(|turn, effects| turn.ask(index, question, effects));
            }
        }
    }

    fn tool_search(&mut self, call: &ToolUse) -> ToolOutput {
        let Some(session) = &mut self.session else { return ToolOutput::cancelled() };
        let query = call.input.get("query").and_then(Value::as_str).unwrap_or_default();
        let found = offer::search(query, &self.environment.tools, &session.settings.tools);
        if found.is_empty() {
            return ToolOutput::text("No matching tools found");
        }
        let mut text = String::from("These tools can be called now:\n");
        for spec in found {
            // writing to a String cannot fail
            let _ = write!(text, "\n## {}\n{}\n{}\n", spec.name, spec.description, spec.schema);
            session.loaded_tools.insert(spec.name);
        }
        ToolOutput::text(text)
    }
}

/// Tells how a call goes. What is not taken at once is left out: the next news has all of it.
fn watch(
    turn: u64,
    call: &ToolUse,
    inputs: mpsc::Sender<Input>,
) -> impl Fn(Progress) + Send + Sync + 'static {
    let (id, name) = (call.id.clone(), call.name.clone());
    // held for a few instructions only, never across an await
    let tail: Arc<Mutex<String>> = Arc::default();
    move |progress| {
        let full = {
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.push_str(&progress.text);
            let cut = tail.ceil_char_boundary(tail.len().saturating_sub(SHOWN_TAIL));
            tail.drain(..cut);
            tail.clone()
        };
        let mut last: Vec<&str> = full.lines().rev().take(2).collect();
        last.reverse();
        let what = Happening::ToolProgress {
            id: id.clone(),
            name: name.clone(),
            text: last.join("\n"),
            full_output: (!full.is_empty()).then_some(full.clone()),
            terminal: progress.terminal,
            at_ms: now_ms(),
        };
        inputs.try_send(Input::Progress { turn, what: Box::new(what) }).ok();
    }
}
