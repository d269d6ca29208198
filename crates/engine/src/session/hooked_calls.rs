//! Hooks around calls: before anybody is asked, and with the result before anybody reads it.

use musher_model::ToolUse;
use musher_tools::{Part, ToolOutput};
use tokio_util::sync::CancellationToken;

use super::actor::Actor;
use super::children::{Back, FromTurn};
use super::hooking::Kit;
use super::turn::hook_context;
use crate::hooks::{HookOutcome, Moment, Verdict as HookVerdict};
use crate::permission::{Grants, Policy, Refusal};
use crate::{Autonomy, HookRun};

/// Ids of a run that is about a call.
fn about_call(call: &ToolUse) -> HookRun {
    HookRun { tool_call_id: Some(call.id.clone()), ..HookRun::default() }
}

/// What hooks say before a call.
pub(super) enum HookSays {
    /// The rules decide about it.
    Proceed,
    /// It does not run.
    Refuse(Refusal),
    /// The turn ends, for this reason.
    Halt(String),
}

/// Asks the hooks before a call. They may change its arguments and the rules for it; they may also refuse it or end the turn.
pub(super) async fn before_call(
    kit: &Kit,
    call: &mut ToolUse,
    policy: &mut Policy,
    cancel: &CancellationToken,
    back: &Back,
) -> HookSays {
    let moment = Moment::PreToolUse { tool_name: &call.name, tool_input: &call.input };
    let mut outcome = kit.fire_in_turn(&moment, &about_call(call), cancel, back).await;
    let (stop, block, input) = (outcome.stop.take(), outcome.block.take(), outcome.updated_input.take());
    let verdict = outcome.verdict;
    back.send(FromTurn::Advised(Box::new(outcome))).await;
    if let Some(reason) = stop {
        return HookSays::Halt(reason);
    }
    if let Some(reason) = block {
        return HookSays::Refuse(Refusal::new(reason));
    }
    // what hooks do not name stays as it was
    call.input.extend(input.unwrap_or_default());
    judged_by(verdict, policy);
    HookSays::Proceed
}

/// The rules for a call hooks have spoken about. Their yes is that of a user who is asked once: what is always asked for still is, and
/// what nobody can allow is still refused.
fn judged_by(verdict: Option<HookVerdict>, policy: &mut Policy) {
    match verdict {
        Some(HookVerdict::Allow) => policy.autonomy = Autonomy::High,
        Some(HookVerdict::Ask) => {
            policy.ask_all = true;
            policy.allow.clear();
            policy.grants = Grants::default();
        }
        Some(HookVerdict::Deny) | None => {}
    }
}

impl Actor {
    /// What a task needs to ask hooks about a call, if any wants to be asked.
    pub(super) fn hooks_before(&self, call: &ToolUse) -> Option<Kit> {
        self.hooks_at(&Moment::PreToolUse { tool_name: &call.name, tool_input: &call.input })
    }

    /// Hooks have spoken about a call; people and the model are told what they should know.
    pub(super) fn advised(&mut self, outcome: &HookOutcome) {
        self.tell_of_hooks(outcome);
        if let (Some(session), Some(text)) = (&mut self.session, &outcome.additional_context) {
            session.new_notes.push(hook_context("PreToolUse", text));
        }
    }

    /// A call has run: hooks look at what came of it, and then it counts.
    pub(super) fn ran(&mut self, index: usize, output: ToolOutput) {
        let call = self.turns.running().and_then(|running| running.turn.call(index)).cloned();
        // what failed has nothing to be looked at
        let Some(call) = call.filter(|_| !output.is_error) else { return self.call_done(index, output) };
        let moment =
            Moment::PostToolUse { tool_name: &call.name, tool_input: &call.input, tool_response: "" };
        let Some(kit) = self.hooks_at(&moment) else { return self.call_done(index, output) };
        let Some((back, cancel)) = self.child() else { return };
        back.clone().spawn(async move {
            let response = output.wire_text();
            let moment = Moment::PostToolUse {
                tool_name: &call.name,
                tool_input: &call.input,
                tool_response: &response,
            };
            let outcome = kit.fire_in_turn(&moment, &about_call(&call), &cancel, &back).await;
            back.send(FromTurn::Reviewed { index, output, outcome: Box::new(outcome) }).await;
        });
    }

    /// Hooks have looked at what came of a call.
    pub(super) fn reviewed(&mut self, index: usize, mut output: ToolOutput, outcome: &HookOutcome) {
        self.tell_of_hooks(outcome);
        for text in outcome.block.iter().chain(&outcome.additional_context) {
            output.for_model.push(Part::Text(hook_context("PostToolUse", text)));
        }
        match &outcome.stop {
            None => self.call_done(index, output),
            Some(reason) => {
                let reason = reason.clone();
                self.with_turn(|turn, effects| turn.halt(index, output, &reason, effects));
            }
        }
    }
}
