//! Execute: runs a shell command. The permission decision is made before, outside of this crate.

mod spec;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::process::{self, Captured, Ended, Shell};
use crate::{Action, Context, Input, Part, Progress, Run, Tool, ToolInfo, ToolOutput, input};

/// Runs a shell command.
#[derive(Debug, Clone, Copy)]
pub struct Execute;

#[derive(Deserialize)]
struct Arguments {
    command: String,
    #[serde(default, deserialize_with = "input::count")]
    timeout: Option<u64>,
    #[serde(rename = "fireAndForget", default)]
    is_background: Option<bool>,
}

const DEFAULT_TIMEOUT_SECONDS: u64 = 120;
const MAX_TIMEOUT_SECONDS: u64 = 86_400;

impl Tool for Execute {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        let line = input::required(input, "command")?;
        match missing_risk(input) {
            Some(reason) => Err(reason),
            None => Ok(Action::Command { line, reason: input::text(input, "riskLevelReason") }),
        }
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, cancel: CancellationToken) -> Run<'a> {
        Box::pin(async move {
            if let Some(reason) = missing_risk(&input) {
                return ToolOutput::error(&reason, &reason);
            }
            match input::parse::<Arguments>(input) {
                Ok(arguments) => execute(arguments, context, &cancel).await,
                Err(output) => output,
            }
        })
    }
}

async fn execute(arguments: Arguments, context: &Context, cancel: &CancellationToken) -> ToolOutput {
    if cancel.is_cancelled() {
        return ToolOutput::cancelled();
    }
    let shell = Shell {
        command: &arguments.command,
        cwd: context.workspace.root(),
        environment: &context.environment,
        sandbox: context.sandbox.as_ref(),
        launcher: context.launcher.as_deref(),
    };
    let ran = if arguments.is_background.unwrap_or(false) {
        in_background(shell, context).await
    } else {
        let seconds = arguments.timeout.unwrap_or(DEFAULT_TIMEOUT_SECONDS).clamp(1, MAX_TIMEOUT_SECONDS);
        in_foreground(shell, seconds, context, cancel).await
    };
    let mut output = ran.unwrap_or_else(|error| {
        let reason =
            format!("The command could not be started: {error}. Correct the command and call Execute again.");
        ToolOutput::error(&reason, &reason)
    });
    note_shown(&arguments.command, &output, context).await;
    note_denial(&arguments.command, &mut output, context);
    output
}

/// Adds what the sandbox denied, if the output shows it.
fn note_denial(command: &str, output: &mut ToolOutput, context: &Context) {
    let Some(sandbox) = &context.sandbox else { return };
    // the last command of a pipeline hides the failure of the others
    let may_hide_failure = || !sandbox.is_read_only() && command.contains('|');
    if !output.is_error && !may_hide_failure() {
        return;
    }
    let Some(denial) = process::denial(&output.model_text(), sandbox) else { return };
    output.for_model.push(Part::Text(process::denial_note(&denial, sandbox)));
    output.sandbox_denial = output.is_error.then_some(denial);
}

/// Remembers the files whose current content the model sees in the output.
async fn note_shown(command: &str, output: &ToolOutput, context: &Context) {
    let text = format!("{command}\n{}", output.model_text());
    let seen = Arc::clone(&context.seen);
    // fails only if the runtime is shutting down
    tokio::task::spawn_blocking(move || seen.add_shown(&text)).await.ok();
}

async fn in_foreground(
    shell: Shell<'_>,
    seconds: u64,
    context: &Context,
    cancel: &CancellationToken,
) -> std::io::Result<ToolOutput> {
    let limit = Duration::from_secs(seconds);
    let editor = context.editor.as_ref().filter(|_| context.has_terminals);
    if let Some(editor) = editor.filter(|editor| editor.offers().terminals) {
        let on_start =
            |id: &str| context.report(|| Progress { terminal: id.to_owned(), text: String::new() });
        let (scratch, processes) = (&context.scratch, &context.processes);
        match process::run_in_terminal(editor, shell, limit, scratch, processes, cancel, on_start).await {
            Ok(Some(finished)) => return Ok(output(finished.ended, &finished.output, seconds)),
            Ok(None) => {}
            Err(error) => {
                let reason = format!(
                    "The command failed in the editor's terminal: {error}. Check what it has done before you run it again."
                );
                return Ok(ToolOutput::error(&reason, &reason));
            }
        }
    }
    let terminal = Uuid::new_v4().to_string();
    let report = |text: String| context.report(|| Progress { terminal: terminal.clone(), text });
    // the first report has no text: it announces that the command has started
    report(String::new());
    let finished = process::run(shell, limit, &context.scratch, &context.processes, cancel, report).await?;
    Ok(output(finished.ended, &finished.output, seconds))
}

async fn in_background(shell: Shell<'_>, context: &Context) -> std::io::Result<ToolOutput> {
    let command = shell.command;
    let running = process::start(shell, &context.scratch, &context.processes).await?;
    Ok(ToolOutput::text(format!(
        "Background process started (PID: {})\nCommand: {command}\nOutput file: {}\nStatus: running\ntask_id: {id}\n\
         Note: call TaskOutput with this task_id to see new output and whether it has ended, TaskInput to write to its input, and TaskStop to \
         end it. It ends with the session.",
        running.pid(),
        running.output().display(),
        id = running.id(),
    )))
}

/// Returns why a call without a risk assessment is rejected.
fn missing_risk(input: &Input) -> Option<String> {
    let missing = ["riskLevelReason", "riskLevel"].into_iter().filter(|field| !input.contains_key(*field));
    let missing: Vec<_> = missing.map(|field| format!("\"{field}\"")).collect();
    let text = format!(
        "Execute call rejected: missing required parameters {}. Call Execute again with them: `riskLevel` is low, medium or high, `riskLevelReason` says why.",
        missing.join(", ")
    );
    (!missing.is_empty()).then_some(text)
}

/// Formats the outcome of a command, in the format of clients.
fn output(ended: Ended, output: &Captured, seconds: u64) -> ToolOutput {
    let mut text = output.text.clone();
    if let Some((path, bytes)) = &output.saved {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let kilobytes = bytes.div_ceil(1024);
        text = format!("{text}\nFull command output saved to: {} ({kilobytes}KB)", path.display());
    }
    match ended {
        Ended::Cancelled => ToolOutput::cancelled(),
        Ended::TimedOut => {
            let hint = "The command and all its child processes were ended. If it needs more time, set a longer `timeout`, or set `fireAndForget`.";
            let text = text.trim_end();
            let shown = if text.is_empty() {
                String::new()
            } else {
                format!("\n\nPartial output before timeout:\n{text}")
            };
            ToolOutput::text(format!("Command timed out after {seconds} seconds. {hint}{shown}"))
        }
        Ended::Exited(0) if text.is_empty() => {
            ToolOutput::text("Command completed successfully\n\n[Process exited with code 0]")
        }
        Ended::Exited(0) => ToolOutput::text(format!("{text}\n\n[Process exited with code 0]")),
        Ended::Exited(127) => {
            failed("Command not found. Check the name, and whether the program is installed.", &text, 127)
        }
        Ended::Exited(code) => failed(&format!("Command failed (exit code: {code})"), &text, code),
        Ended::Killed(signal) => failed(
            &format!("Command was killed by signal {signal} (exit code: {})", 128 + signal),
            &text,
            128 + signal,
        ),
    }
}

fn failed(what: &str, text: &str, code: i32) -> ToolOutput {
    let reason = format!("{what}\n{text}\n\n[Process exited with code {code}]");
    ToolOutput::error(&reason, &reason)
}
