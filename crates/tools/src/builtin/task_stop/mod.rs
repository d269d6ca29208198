//! `TaskStop`: stops a background subagent.

mod spec;

use tokio_util::sync::CancellationToken;

use crate::{Action, Context, Input, Run, SessionRequest, Tool, ToolInfo, input};

/// Stops a subagent.
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
        Box::pin(context.session_request(spec::INFO.name, request(&input)))
    }
}

fn request(input: &Input) -> SessionRequest {
    SessionRequest::StopSubagent { id: input::text(input, "task_id").unwrap_or_default().to_owned() }
}
