//! Hooks around calls: `PreToolUse` before the verdict, `PostToolUse` with the result before the model reads it.

use musher_model::ToolUse;
use musher_tools::{Part, ToolOutput};
use tokio_util::sync::CancellationToken;

use super::active_turn::ActiveTurn;
use super::hooks::HookRunner;
use super::tasks::{TurnInput, TurnSender};
use super::turn::hook_context;
use crate::hooks::{HookDecision, HookEvent, HookOutcome};
use crate::permission::{Grants, Policy, Refusal};
use crate::{Autonomy, HookRun};

/// Returns the ids of a hook run about a call.
fn about_call(call: &ToolUse) -> HookRun {
    HookRun { tool_call_id: Some(call.id.clone()), ..HookRun::default() }
}

/// What happens to a call after its `PreToolUse` hooks.
pub(super) enum AfterHooks {
    /// The permission rules judge it.
    Check,
    /// It does not run.
    Refuse(Refusal),
    /// It does not run, and the turn ends, for this reason.
    Halt(String),
}

/// Runs the `PreToolUse` hooks of a call. They may change its arguments and the policy for it, refuse it, or end the turn.
pub(super) async fn run_pre_tool_hooks(
    runner: &HookRunner,
    call: &mut ToolUse,
    policy: &mut Policy,
    cancel: &CancellationToken,
    sender: &TurnSender,
) -> AfterHooks {
    let event = HookEvent::PreToolUse { tool_name: &call.name, tool_input: &call.input };
    let mut outcome = runner.run_in_turn(&event, &about_call(call), cancel, sender).await;
    let (stop, block, input) = (outcome.stop.take(), outcome.block.take(), outcome.updated_input.take());
    let decision = outcome.decision;
    sender.send(TurnInput::PreToolHooks(Box::new(outcome))).await;
    if let Some(reason) = stop {
        return AfterHooks::Halt(reason);
    }
    if let Some(reason) = block {
        return AfterHooks::Refuse(Refusal::new(reason));
    }
    // arguments that hooks do not name stay as they are
    call.input.extend(input.unwrap_or_default());
    apply_hook_decision(decision, policy);
    AfterHooks::Check
}

/// Changes the policy for a call as hooks have decided. "Allow" is like an allow of the user for this call: what needs permission every
/// time still does, and what no decision can allow is still refused.
fn apply_hook_decision(decision: Option<HookDecision>, policy: &mut Policy) {
    match decision {
        Some(HookDecision::Allow) => policy.autonomy = Autonomy::High,
        Some(HookDecision::Ask) => {
            policy.ask_all = true;
            policy.allow.clear();
            policy.grants = Grants::default();
        }
        Some(HookDecision::Deny) | None => {}
    }
}

impl ActiveTurn<'_> {
    /// Returns what a task needs to run the `PreToolUse` hooks of a call, if there are any.
    pub(super) fn pre_tool_hooks(&self, call: &ToolUse) -> Option<HookRunner> {
        self.session.hooks_for(&HookEvent::PreToolUse { tool_name: &call.name, tool_input: &call.input })
    }

    /// Reports the outcome of `PreToolUse` hooks to the user and the model.
    pub(super) fn pre_tool_hooks_done(&mut self, outcome: &HookOutcome) {
        self.report_hooks(outcome);
        if let Some(text) = &outcome.additional_context {
            self.session.remind(hook_context("PreToolUse", text));
        }
    }

    /// A call has ended: runs its `PostToolUse` hooks, unless it has failed.
    pub(super) fn call_ran(&mut self, index: usize, output: ToolOutput) {
        let call = self.running.turn.call(index).filter(|_| !output.is_error).cloned();
        let Some(call) = call else { return self.call_done(index, output) };
        let event =
            HookEvent::PostToolUse { tool_name: &call.name, tool_input: &call.input, tool_response: "" };
        let Some(runner) = self.session.hooks_for(&event) else { return self.call_done(index, output) };
        let (sender, cancel) = self.task();
        sender.clone().spawn(async move {
            let response = output.client_text();
            let event = HookEvent::PostToolUse {
                tool_name: &call.name,
                tool_input: &call.input,
                tool_response: &response,
            };
            let outcome = runner.run_in_turn(&event, &about_call(&call), &cancel, &sender).await;
            sender.send(TurnInput::PostToolHooks { index, output, outcome: Box::new(outcome) }).await;
        });
    }

    /// The `PostToolUse` hooks of a call have ended: the model reads what they say with the result.
    pub(super) fn post_tool_hooks_done(
        &mut self,
        index: usize,
        mut output: ToolOutput,
        outcome: &HookOutcome,
    ) {
        self.report_hooks(outcome);
        for text in outcome.block.iter().chain(&outcome.additional_context) {
            output.for_model.push(Part::Text(hook_context("PostToolUse", text)));
        }
        match &outcome.stop {
            None => self.call_done(index, output),
            Some(reason) => self.step(|turn, effects| turn.halt(index, output, reason, effects)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_allow_up_to_high_and_their_ask_ignores_earlier_grants() {
        let mut policy = Policy::default();
        policy.grants.add_server("files", crate::permission::Risk::High);
        apply_hook_decision(None, &mut policy);
        assert_eq!((policy.autonomy, policy.ask_all), (Autonomy::Off, false));
        apply_hook_decision(Some(HookDecision::Allow), &mut policy);
        assert_eq!(policy.autonomy, Autonomy::High);
        apply_hook_decision(Some(HookDecision::Ask), &mut policy);
        assert!(policy.ask_all);
        assert!(!policy.grants.covers("files", "read", crate::permission::Risk::Low));
    }
}
