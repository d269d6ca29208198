//! The sandbox of one call: found from its command before it runs, and left if the user allows that after it has failed there.

use std::sync::Arc;

use musher_model::ToolUse;
use musher_tools::{Context, SandboxDenial, Tool, ToolOutput};

use super::active_turn::ActiveTurn;
use crate::PermissionRequest;
use crate::permission::{Action, Mode, Policy};
use crate::sandbox::{CommandAccess, Sandboxes, again_request};

/// A call of a command, and what decides about its sandbox.
#[derive(Debug, Clone)]
pub(super) struct Confinement {
    sandboxes: Arc<Sandboxes>,
    policy: Policy,
    line: String,
    /// The user has approved this call.
    is_approved: bool,
    /// The user has approved it after it failed in the sandbox.
    is_again: bool,
}

impl ActiveTurn<'_> {
    /// Returns what decides about the sandbox of a call; `None` if it runs no command.
    pub(super) fn confinement(
        &self,
        index: usize,
        call: &ToolUse,
        tool: &dyn Tool,
        is_approved: bool,
    ) -> Option<Confinement> {
        let Ok(Action::Command { line, .. }) = tool.action(&call.input) else { return None };
        let turn = &self.running.turn;
        Some(Confinement {
            sandboxes: Arc::clone(self.session.sandboxes()),
            policy: turn.call_policy(index).unwrap_or(self.session.policy()).clone(),
            line: line.to_owned(),
            is_approved,
            is_again: turn.runs_again(index),
        })
    }
}

impl Confinement {
    /// Adds the sandbox to the context of the call. The error is the output of a call that cannot run.
    pub(super) async fn apply(&self, context: Context) -> Result<Context, ToolOutput> {
        let this = self.clone();
        let applied = tokio::task::spawn_blocking(move || this.applied(context)).await;
        applied
            .map_err(|error| error.to_string())
            .and_then(|applied| applied.map_err(|error| error.to_string()))
            .map_err(|error| {
                let text = format!("The command was not started: cannot prepare its sandbox: {error}");
                ToolOutput::error(&text, &text)
            })
    }

    /// Blocks.
    fn applied(&self, context: Context) -> std::io::Result<Context> {
        if self.is_again && self.policy.mode != Mode::Spec {
            return Ok(context);
        }
        let access = CommandAccess::of(&self.line, &self.policy, &context.workspace, self.is_approved);
        let sandbox = self.sandboxes.of_command(access, &self.policy);
        let sandbox = sandbox.map(|sandbox| context.with_temp(sandbox)).transpose()?;
        tracing::debug!(?access, is_sandboxed = sandbox.is_some(), "a command starts");
        Ok(context.confined(sandbox))
    }

    /// Returns the permission request to run the call again without the sandbox; `None` if the user cannot be asked, or may not allow it.
    pub(super) async fn again(
        &self,
        denial: &SandboxDenial,
        context: &Context,
    ) -> Option<Box<PermissionRequest>> {
        let policy = &self.policy;
        if policy.mode == Mode::Spec || policy.auto_reject || policy.skip_all {
            return None;
        }
        let (this, denial, workspace) = (self.clone(), denial.clone(), Arc::clone(&context.workspace));
        let find = move || again_request(&this.line, &denial, &this.policy, &workspace).map(Box::new);
        tokio::task::spawn_blocking(find).await.ok().flatten()
    }
}
