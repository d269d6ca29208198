//! Runs calls in tasks of their own.

use std::sync::{Arc, Mutex, PoisonError};

use musher_model::ToolUse;
use musher_tools::{Access, Progress, ToolOutput};

use super::actor::Actor;
use super::children::{Back, FromTurn};
use super::port::Port;
use super::turn::{Decision, now_ms};
use crate::Happening;
use crate::context::note_reminder;

/// So much of the output of a command is shown while it runs.
const SHOWN_TAIL: usize = 8192;

impl Actor {
    /// Runs a call that may run.
    pub(super) fn run_call(
        &mut self,
        index: usize,
        call: ToolUse,
        access: Access,
        decision: Option<Decision>,
    ) {
        self.keep_files(&call);
        self.find_notes(&call);
        let Some(session) = &self.session else { return };
        if let Some(tool) = session.mcp.find(&call.name) {
            let mcp = session.mcp.clone();
            let Some((back, cancel)) = self.child() else { return };
            return back.clone().spawn(async move {
                let output = mcp.call(&tool.server, &tool.name, call.input, &cancel).await;
                back.send(FromTurn::Done { index, output }).await;
            });
        }
        let Some(tool) = self.environment.tools.get(&call.name).cloned() else {
            let text = format!("{} is not available here", call.name);
            return self.call_done(index, ToolOutput::error(&text, &text));
        };
        let context = session.tools.clone().with_access(access);
        let Some((back, cancel)) = self.child() else { return };
        let port = Port::new(index, call.id.clone(), decision, back.clone());
        let context = context.with_progress(watch(&call, back.clone())).with_session(Arc::new(port));
        back.clone().spawn(async move {
            let output = tool.run(call.input, &context, cancel).await;
            back.send(FromTurn::Done { index, output }).await;
        });
    }

    pub(super) fn call_done(&mut self, index: usize, output: ToolOutput) {
        self.with_turn(|turn, effects| turn.done(index, output, effects));
    }

    /// Looks for notes of the folders a call is about; they are told before the model is asked the next time.
    fn find_notes(&mut self, call: &ToolUse) {
        let Some(tool) = self.environment.tools.get(&call.name) else { return };
        let Some(session) = &mut self.session else { return };
        let Ok(action) = tool.action(&call.input) else { return };
        for path in action.paths() {
            session.new_notes.extend(session.notes.read(&path).iter().map(note_reminder));
        }
    }
}

/// Tells how a call goes. What is not taken at once is left out: the next news has all of it.
fn watch(call: &ToolUse, back: Back) -> impl Fn(Progress) + Send + Sync + 'static {
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
        back.try_send(FromTurn::Progress(Box::new(what)));
    }
}
