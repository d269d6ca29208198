//! Plan first: the agent is read-only until its plan is approved; then it continues at a low autonomy level.

#![allow(clippy::print_stdout, reason = "an example talks to people")]

use musher::wire::{PermissionDetails, ToolConfirmationOutcome};
use musher::{Agent, Decision, PermissionRequest, Session};

#[tokio::main]
async fn main() -> musher::Result<()> {
    let prompt = std::env::args().nth(1).unwrap_or_else(|| "Plan how to tidy this project.".to_owned());
    let session = Session::builder()
        .agent(agent())
        .spec_mode()
        .on_permission_sync(|request| decide(&request))
        .open()
        .await?;
    let result = session.send(prompt).await?;
    println!("{:?}: {}", result.end, result.text);
    let settings = session.state().settings;
    println!("mode {:?}, autonomy {:?}", settings.interaction_mode, settings.autonomy_level);
    session.close().await
}

fn decide(request: &PermissionRequest) -> Decision {
    if let Some(plan) = request.plan() {
        println!("The plan:\n{plan}");
        // a plan that would touch everything is made smaller
        return if plan.contains("rewrite everything") {
            Decision::edit_plan("Change one file only.")
        } else {
            ToolConfirmationOutcome::ProceedAutoRunLow.into()
        };
    }
    let is_edit = |details: &PermissionDetails| matches!(details, PermissionDetails::Edit(_));
    let only_edits = request.tool_uses.iter().all(|tool_use| is_edit(&tool_use.details));
    if only_edits { Decision::allow_once() } else { Decision::deny() }
}

/// The agent of `MUSHER_AGENT`: `engine`, `droid` or a program; droid without it.
fn agent() -> Agent {
    Agent::from_env()
}
