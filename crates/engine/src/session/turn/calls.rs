//! The phase of a turn in which calls run: started, judged, changed by hooks, ended.

use musher_model::{Arguments, ToolCall, ToolUse};
use musher_tools::ToolOutput;

use super::batch::{Batch, OpenRequest};
use super::{Effect, Next, Phase, Turn, user_note};
use crate::event::{TurnEnd, UserRequest, WorkingState};
use crate::permission::{Policy, Refusal, Verdict};
use crate::session::plan::Plan;
use crate::{Autonomy, Event, PermissionRequest};

impl Turn {
    pub(super) fn begin_tools(&mut self, calls: Vec<ToolCall>, out: &mut Vec<Effect>) {
        let is_stuck = self.is_stuck(&calls);
        out.push(Effect::Emit(Event::State(WorkingState::Executing)));
        let mut batch = Batch::new(calls, &self.tools, out);
        if is_stuck {
            let text = format!(
                "The turn was stopped: the same call was made {} times in a row.",
                self.identical_calls
            );
            batch.cancel_rest(&ToolOutput::error(&text, &text), out);
            return self.fail(text, None, TurnEnd::Error, out);
        }
        self.phase = Phase::Tools(batch);
        self.continue_calls(out);
    }

    /// Continues a turn that was interrupted: with calls that have not started, whose results join a message, or with the model.
    pub(crate) fn continue_from(
        &mut self,
        calls: Vec<ToolUse>,
        results_id: Option<String>,
        out: &mut Vec<Effect>,
    ) {
        if calls.is_empty() {
            return self.call_model(out);
        }
        out.push(Effect::Emit(Event::State(WorkingState::Executing)));
        let calls = calls.into_iter().enumerate().map(|(index, call)| ToolCall {
            index,
            id: call.id,
            name: call.name,
            arguments: Arguments::Object(call.input),
        });
        let mut batch = Batch::new(calls.collect(), &self.tools, out);
        if let Some(id) = results_id {
            batch.join(id);
        }
        self.phase = Phase::Tools(batch);
        self.continue_calls(out);
    }

    /// Applies the verdict on a call.
    pub(crate) fn apply_verdict(&mut self, index: usize, verdict: Verdict, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        match verdict {
            Verdict::Refuse(refusal) => batch.done(index, refused(&refusal), out),
            Verdict::CannotAsk(refusal) => {
                batch.done(index, refused(&refusal), out);
                batch.cancel_rest(&ToolOutput::cancelled(), out);
                return self.finish(TurnEnd::PermissionRejected, out);
            }
            verdict => self.tool_count += usize::from(batch.apply_verdict(index, verdict, out)),
        }
        self.continue_calls(out);
    }

    /// A running call asks the user.
    pub(crate) fn ask(&mut self, index: usize, request: UserRequest, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.open = Some(OpenRequest { index, request: request.clone() });
        out.push(Effect::Emit(Event::State(WorkingState::Waiting)));
        out.push(Effect::AskUser(request));
    }

    /// A call has failed in the sandbox: the user is asked whether it may run again without.
    pub(crate) fn ask_again(
        &mut self,
        index: usize,
        request: Box<PermissionRequest>,
        output: ToolOutput,
        out: &mut Vec<Effect>,
    ) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.ask_again(index, request, output);
        self.continue_calls(out);
    }

    /// Returns whether a running call can be judged again because its paths lead elsewhere now: once, so that it ends at some time.
    pub(crate) fn may_judge_again(&self, index: usize) -> bool {
        matches!(&self.phase, Phase::Tools(batch) if batch.may_judge_again(index))
    }

    /// A call has failed because its paths lead elsewhere than when it was judged: they are judged again.
    pub(crate) fn judge_again(&mut self, index: usize, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.judge_again(index, out);
        self.continue_calls(out);
    }

    /// Returns whether the user has allowed a call to run without the sandbox after it failed there.
    pub(crate) fn runs_again(&self, index: usize) -> bool {
        matches!(&self.phase, Phase::Tools(batch) if batch.failed_in_sandbox(index).is_some())
    }

    /// Returns the policy for a call, if hooks have changed that of the session.
    pub(crate) fn call_policy(&self, index: usize) -> Option<&Policy> {
        match &self.phase {
            Phase::Tools(batch) => batch.calls.get(index)?.policy.as_deref(),
            _ => None,
        }
    }

    /// A call has ended.
    pub(crate) fn done(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.done(index, output, out);
        self.continue_calls(out);
    }

    /// Returns a call as it runs.
    pub(crate) fn call(&self, index: usize) -> Option<&ToolUse> {
        match &self.phase {
            Phase::Tools(batch) => batch.calls.get(index).map(|call| &call.tool),
            _ => None,
        }
    }

    /// Hooks have changed the arguments of a call. The message of the model stays as it is.
    pub(crate) fn rewrite(&mut self, index: usize, input: musher_tools::Input, out: &mut Vec<Effect>) {
        if let Phase::Tools(batch) = &mut self.phase
            && let Some(call) = batch.calls.get_mut(index)
        {
            call.tool.input = input;
            let ToolUse { id, name, input, .. } = call.tool.clone();
            out.push(Effect::Emit(Event::ToolCall { id, name, input }));
        }
    }

    /// Keeps the policy hooks have set for a call. A recheck uses it, too, because hooks run once.
    pub(crate) fn keep_policy(&mut self, index: usize, policy: Box<Policy>) {
        if let Phase::Tools(batch) = &mut self.phase
            && let Some(call) = batch.calls.get_mut(index)
        {
            call.policy = Some(policy);
        }
    }

    /// Hooks end the turn: this call has ended, the others do not run, and the model is not called.
    pub(crate) fn halt(&mut self, index: usize, output: ToolOutput, reason: &str, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.done(index, output, out);
        batch.cancel_rest(&ToolOutput::cancelled(), out);
        out.push(Effect::Append(user_note(reason)));
        self.finish(TurnEnd::Completed, out);
    }

    /// A new session carries out the plan: this call has ended, the others do not run, and the model is not called.
    pub(crate) fn hand_over(
        &mut self,
        index: usize,
        output: ToolOutput,
        plan: Box<Plan>,
        autonomy: Autonomy,
        out: &mut Vec<Effect>,
    ) {
        if let Phase::Tools(batch) = &mut self.phase {
            batch.done(index, output, out);
            batch.cancel_rest(&ToolOutput::cancelled(), out);
        }
        self.finish(TurnEnd::SpecHandoff, out);
        out.push(Effect::HandOver { plan, autonomy });
    }

    /// Starts the calls that can start. When all have results, calls the model.
    pub(super) fn continue_calls(&mut self, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.announce(out);
        if batch.is_done() {
            return out.push(Effect::StepDone(Next::CallModel));
        }
        self.tool_count += batch.start_next(self.limits.parallel_calls, out);
    }

    /// Counts identical calls in a row. Returns whether the limit is reached.
    fn is_stuck(&mut self, calls: &[ToolCall]) -> bool {
        let signature =
            format!("{:?}", calls.iter().map(|call| (&call.name, &call.arguments)).collect::<Vec<_>>());
        if self.last_calls == signature {
            self.identical_calls += 1;
        } else {
            self.last_calls = signature;
            self.identical_calls = 1;
        }
        self.identical_calls >= self.limits.identical_calls
    }
}

fn refused(refusal: &Refusal) -> ToolOutput {
    ToolOutput::error(&refusal.for_client, &refusal.for_model)
}
