//! What the tools for background commands have in common: the output that shows their state.

use std::fmt::Write;
use std::sync::Arc;

use crate::process::{Ended, Look, RunningCommand, denial, denial_note};
use crate::{Context, ToolOutput};

/// Returns the state of a command and its new output.
pub(super) async fn output(command: Arc<RunningCommand>, context: &Context) -> ToolOutput {
    let seen = Arc::clone(&context.seen);
    let look = move || {
        let look = command.look()?;
        seen.add_shown(&look.text);
        Ok::<_, std::io::Error>(text(&look, &command))
    };
    match tokio::task::spawn_blocking(look).await {
        Ok(Ok(text)) => ToolOutput::text(text),
        Ok(Err(error)) => failed(&error.to_string()),
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(error: &str) -> ToolOutput {
    let text = format!(
        "The output of the command cannot be read: {error}. Call TaskStop to end it, or continue without its output."
    );
    ToolOutput::error(&text, &text)
}

fn text(look: &Look, command: &RunningCommand) -> String {
    let mut text = match look.ended {
        None => format!("Status: running (PID: {})", command.pid()),
        Some(Ended::Exited(code)) => format!("Status: ended\n[Process exited with code {code}]"),
        Some(Ended::Killed(signal)) => format!("Status: ended\n[Process was killed by signal {signal}]"),
        Some(Ended::TimedOut | Ended::Cancelled) => "Status: ended".to_owned(),
    };
    if look.text.is_empty() {
        text.push_str("\nNo new output.");
        return text;
    }
    if look.skipped > 0 {
        // writing to a string cannot fail
        write!(
            text,
            "\n[{} bytes of output are not shown; all of it is in {}]",
            look.skipped,
            command.output().display()
        )
        .ok();
    }
    text.push_str("\nNew output:\n");
    text.push_str(&look.text);
    let has_failed = !matches!(look.ended, None | Some(Ended::Exited(0)));
    if let Some(sandbox) = command.sandbox().filter(|_| has_failed)
        && let Some(denial) = denial(&look.text, sandbox)
    {
        write!(
            text,
            "\n{} To ask the user whether it may run without the sandbox, run it without fireAndForget.",
            denial_note(&denial, sandbox)
        )
        .ok();
    }
    text
}
