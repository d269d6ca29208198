//! Test helper: a process that runs a command with the tool `Execute` and waits to be killed. Usage: `musher-tools-command-host COMMAND`.
//!
//! Prints the output of the command.

use std::io::{self, Write as _};

use musher_tools::{Context, Execute, Tool as _, Workspace, command_environment};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let command = std::env::args().nth(1).ok_or("a command expected")?;
    let folder = std::env::temp_dir();
    let context = Context::new(Workspace::open(&folder)?, folder)
        .with_environment(command_environment(std::env::vars_os(), &[], &[]))
        .with_progress(|progress| say(&progress.text));
    let input = json!({
        "command": command, "timeout": 3600, "summary": "Wait", "riskLevel": "low", "riskLevelReason": "a test",
    });
    let Value::Object(input) = input else { return Err("not an object".into()) };
    let output = Execute.run(input, &context, CancellationToken::new()).await;
    Err(format!("the command has ended: {}", output.client_text()).into())
}

fn say(text: &str) {
    #[expect(clippy::disallowed_methods, reason = "the test reads this")]
    let mut stdout = io::stdout();
    // fails if the test has ended
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).ok();
}
