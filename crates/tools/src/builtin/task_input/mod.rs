//! `TaskInput`: writes to the input of a background command, and returns what the command prints then.

mod spec;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::running_command;
use crate::{Action, Context, Input, Run, Tool, ToolInfo, ToolOutput, input};

/// Writes to a command.
#[derive(Debug, Clone, Copy)]
pub struct TaskInput;

#[derive(Deserialize)]
struct Arguments {
    task_id: String,
    input: String,
    #[serde(default)]
    end_input: Option<bool>,
    #[serde(default, deserialize_with = "input::count")]
    timeout: Option<u64>,
}

const DEFAULT_WAIT_MS: u64 = 1_000;
const MAX_WAIT_MS: u64 = 60_000;

impl Tool for TaskInput {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::CommandInput { text: input::required(input, "input")? })
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        Box::pin(async move {
            let arguments = match input::parse::<Arguments>(input) {
                Ok(arguments) => arguments,
                Err(output) => return output,
            };
            tokio::select! {
                () = cancel.cancelled() => ToolOutput::cancelled(),
                output = feed(arguments, context) => output,
            }
        })
    }
}

async fn feed(arguments: Arguments, context: &Context) -> ToolOutput {
    let id = &arguments.task_id;
    let Some(command) = context.processes.command(id) else {
        let text = format!(
            "There is no background command \"{id}\". Start one with Execute and `fireAndForget`; commands end with the session."
        );
        return ToolOutput::error(&text, &text);
    };
    if let Err(error) = command.write(&arguments.input, arguments.end_input.unwrap_or(false)).await {
        let text = format!("Cannot write to the command: {error}. Call TaskOutput to see its state.");
        return ToolOutput::error(&text, &text);
    }
    let wait = arguments.timeout.unwrap_or(DEFAULT_WAIT_MS).min(MAX_WAIT_MS);
    command.wait_for_output(Duration::from_millis(wait)).await;
    running_command::output(command, context).await
}
