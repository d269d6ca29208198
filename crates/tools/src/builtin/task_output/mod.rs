//! `TaskOutput`: returns the result of a background subagent, or the state and the new output of a background command.

mod spec;

use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::running_command;
use crate::{Action, Context, Input, Run, SessionRequest, Tool, ToolInfo, ToolOutput, input};

const DEFAULT_WAIT: Duration = Duration::from_secs(30);
const MAX_WAIT: Duration = Duration::from_mins(10);

/// Returns the result of a subagent or a command in the background.
#[derive(Debug, Clone, Copy)]
pub struct TaskOutput;

impl Tool for TaskOutput {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, _input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::session())
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        Box::pin(async move {
            match context.processes.command(input::text(&input, "task_id").unwrap_or_default()) {
                Some(command) => {
                    tokio::select! {
                        () = cancel.cancelled() => return ToolOutput::cancelled(),
                        () = command.wait(wait(&input)) => {}
                    }
                    running_command::output(command, context).await
                }
                None => context.session_request(spec::INFO.name, request(&input)).await,
            }
        })
    }
}

fn request(input: &Input) -> SessionRequest {
    let id = input::text(input, "task_id").unwrap_or_default().to_owned();
    SessionRequest::SubagentOutput { id, wait: wait(input) }
}

/// Returns how long a call waits: zero if it does not block.
fn wait(input: &Input) -> Duration {
    if input.get("block").and_then(Value::as_bool) == Some(false) {
        return Duration::ZERO;
    }
    let given = input.get("timeout").and_then(Value::as_f64).filter(|given| *given >= 0.0);
    let given = given.and_then(|given| Duration::try_from_secs_f64(given / 1000.0).ok());
    given.unwrap_or(DEFAULT_WAIT).min(MAX_WAIT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn timeout_is_in_milliseconds_and_bounded() {
        let wait = |call: Value| wait(call.as_object().unwrap());
        assert_eq!(wait(json!({})), DEFAULT_WAIT);
        assert_eq!(wait(json!({"timeout": 1500})), Duration::from_millis(1500));
        assert_eq!(wait(json!({"block": false, "timeout": 1500})), Duration::ZERO);
        assert_eq!(wait(json!({"timeout": 1e300})), DEFAULT_WAIT);
        assert_eq!(wait(json!({"timeout": 1e12})), MAX_WAIT);
        assert_eq!(wait(json!({"timeout": -5})), DEFAULT_WAIT);
    }
}
