//! Runs calls, each in its own task.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use musher_model::ToolUse;
use musher_tools::{Access, Context, Progress, ToolOutput};

use super::active_turn::ActiveTurn;
use super::port::Port;
use super::result_limit::ResultLimit;
use super::tasks::{TurnInput, TurnSender};
use super::turn::now_ms;
use crate::models::Model;
use crate::permission::Decision;
use crate::{Event, Limits};

/// The maximum length of the output that is shown while a command runs, in bytes.
const MAX_SHOWN_OUTPUT: usize = 8192;

impl ActiveTurn<'_> {
    /// Runs a call that is allowed.
    pub(super) fn run_call(
        &mut self,
        index: usize,
        call: ToolUse,
        access: Access,
        decision: Option<Decision>,
    ) {
        self.session.snapshot_files(&call, &self.running.turn, &self.environment.tools);
        self.read_folder_notes(&call);
        let model = self.session.model();
        let limit = self.result_limit(model.as_ref());
        if let Some(tool) = self.session.mcp().find(&call.name) {
            let mcp = self.session.mcp().clone();
            let (sender, cancel) = self.task();
            return sender.clone().spawn(async move {
                let output = mcp.call(&tool.server, &tool.name, call.input, &cancel).await;
                let output = limit.apply(output).await;
                sender.send(TurnInput::Done { index, output }).await;
            });
        }
        let Some(tool) = self.environment.tools.get(&call.name).cloned() else {
            let text = format!("{} is not available here", call.name);
            return self.call_done(index, ToolOutput::error(&text, &text));
        };
        let reads_documents = model.is_some_and(|model| model.reads_documents);
        let context = self.session.tools().clone().with_access(access).with_documents(reads_documents);
        let (sender, cancel) = self.task();
        let is_approved = decision.is_some();
        let port = Port::new(index, call.id.clone(), decision, sender.clone());
        let context = context.with_progress(report_progress(&call, sender.clone()));
        let context = context.with_session(Arc::new(port));
        let confinement = self.confinement(index, &call, &*tool, is_approved);
        sender.clone().spawn(async move {
            let context = match &confinement {
                None => context,
                Some(confinement) => match confinement.apply(context).await {
                    Ok(context) => context,
                    Err(output) => {
                        sender.send(TurnInput::Done { index, output }).await;
                        return;
                    }
                },
            };
            let paths = tool.action(&call.input).map(|action| action.paths()).unwrap_or_default();
            let output = tool.run(call.input, &context, cancel).await;
            if output.is_error && lead_elsewhere(paths, &context).await {
                sender.send(TurnInput::LedElsewhere { index, output }).await;
                return;
            }
            if let (Some(confinement), Some(denial)) = (confinement, &output.sandbox_denial)
                && let Some(request) = confinement.again(denial, &context).await
            {
                let output = limit.apply(output).await;
                sender.send(TurnInput::FailedInSandbox { index, request, output }).await;
                return;
            }
            let output = limit.apply(output).await;
            sender.send(TurnInput::Done { index, output }).await;
        });
    }

    /// Returns the limit that the results of the current message share.
    fn result_limit(&mut self, model: Option<&Model>) -> ResultLimit {
        let tokens = model.and_then(|model| model.input_limit).unwrap_or(Limits::UNKNOWN_WINDOW);
        let scratch = self.session.tools().scratch.clone();
        self.running.result_limit(|| ResultLimit::new(tokens, scratch))
    }

    pub(super) fn call_done(&mut self, index: usize, output: ToolOutput) {
        self.step(|turn, effects| turn.done(index, output, effects));
    }

    /// Reads the notes of the folders a call uses. The model gets them with its next call.
    fn read_folder_notes(&mut self, call: &ToolUse) {
        let Some(tool) = self.environment.tools.get(&call.name) else { return };
        let Ok(action) = tool.action(&call.input) else { return };
        for path in action.paths() {
            self.session.read_folder_notes(&path);
        }
    }
}

/// Returns whether the paths of a call lead elsewhere than when it was judged: another process has put links there since.
async fn lead_elsewhere(paths: Vec<PathBuf>, context: &Context) -> bool {
    if paths.is_empty() {
        return false;
    }
    let (workspace, access) = (Arc::clone(&context.workspace), context.access.clone());
    let any = move || paths.iter().any(|path| workspace.leads_elsewhere(path, &access));
    tokio::task::spawn_blocking(any).await.unwrap_or(false)
}

/// Returns a callback that reports the progress of a call. A report that finds no room is left out: the next one has all of it.
fn report_progress(call: &ToolUse, sender: TurnSender) -> impl Fn(Progress) + Send + Sync + 'static {
    let (id, name) = (call.id.clone(), call.name.clone());
    // locked for a few instructions only, never across an await
    let tail: Arc<Mutex<String>> = Arc::default();
    move |progress| {
        let full = {
            let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
            tail.push_str(&progress.text);
            let cut = tail.ceil_char_boundary(tail.len().saturating_sub(MAX_SHOWN_OUTPUT));
            tail.drain(..cut);
            tail.clone()
        };
        let mut last: Vec<&str> = full.lines().rev().take(2).collect();
        last.reverse();
        let event = Event::ToolProgress {
            id: id.clone(),
            name: name.clone(),
            text: last.join("\n"),
            full_output: (!full.is_empty()).then_some(full.clone()),
            terminal: progress.terminal,
            at_ms: now_ms(),
        };
        sender.try_send(TurnInput::Progress(Box::new(event)));
    }
}
