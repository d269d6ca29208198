//! `TaskStop`: stops a subagent or a command in the background.

mod spec;

use tokio_util::sync::CancellationToken;

use crate::{Action, Context, Input, Run, SessionRequest, Tool, ToolInfo, ToolOutput, input};

/// Stops a subagent or a command.
#[derive(Debug, Clone, Copy)]
pub struct TaskStop;

impl Tool for TaskStop {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, _input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::session())
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, _cancel: CancellationToken) -> Run<'a> {
        Box::pin(async move {
            match context.processes.command(input::text(&input, "task_id").unwrap_or_default()) {
                Some(command) if command.stop().await => ToolOutput::text("Task stopped"),
                Some(_) => ToolOutput::text("The task has ended already"),
                None => context.session_request(spec::INFO.name, request(&input)).await,
            }
        })
    }
}

fn request(input: &Input) -> SessionRequest {
    SessionRequest::StopSubagent { id: input::text(input, "task_id").unwrap_or_default().to_owned() }
}
