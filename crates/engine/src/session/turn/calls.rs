//! The part of a turn in which calls run: begun, judged, changed by hooks, ended.

use musher_model::{ToolCall, ToolUse};
use musher_tools::ToolOutput;

use super::batch::{Batch, Open};
use super::{Effect, Next, Phase, Turn, user_note};
use crate::event::{Question, TurnEnd, WorkingState};
use crate::permission::{Policy, Refusal, Verdict};
use crate::session::plan::Plan;
use crate::{Autonomy, Happening};

impl Turn {
    pub(super) fn begin_tools(&mut self, calls: Vec<ToolCall>, out: &mut Vec<Effect>) {
        let is_stuck = self.is_stuck(&calls);
        out.push(Effect::Emit(Happening::State(WorkingState::Executing)));
        let mut batch = Batch::new(calls, &self.tools, out);
        if is_stuck {
            let text = format!(
                "The same call was made {} times in a row; the turn was stopped.",
                self.identical_calls
            );
            batch.cancel_rest(&ToolOutput::error(&text, &text), out);
            return self.fail(text, None, TurnEnd::Error, out);
        }
        self.phase = Phase::Tools(batch);
        self.go_on(out);
    }

    /// A call may run, or not.
    pub(crate) fn prepared(&mut self, index: usize, verdict: Verdict, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        match verdict {
            Verdict::Refuse(refusal) => batch.done(index, refused(&refusal), out),
            Verdict::CannotAsk(refusal) => {
                batch.done(index, refused(&refusal), out);
                batch.cancel_rest(&ToolOutput::cancelled(), out);
                return self.finish(TurnEnd::PermissionRejected, out);
            }
            verdict => self.tool_count += usize::from(batch.judged(index, verdict, out)),
        }
        self.go_on(out);
    }

    /// A call that runs asks somebody.
    pub(crate) fn ask(&mut self, index: usize, question: Question, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.open = Some(Open { index, question: question.clone() });
        out.push(Effect::Emit(Happening::State(WorkingState::Waiting)));
        out.push(Effect::Ask(question));
    }

    /// A call is over.
    pub(crate) fn done(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.done(index, output, out);
        self.go_on(out);
    }

    /// The call of an index, as it is run.
    pub(crate) fn call(&self, index: usize) -> Option<&ToolUse> {
        match &self.phase {
            Phase::Tools(batch) => batch.calls.get(index).map(|call| &call.tool),
            _ => None,
        }
    }

    /// Hooks have changed the arguments of a call. The model's own words stay as they are.
    pub(crate) fn rewrite(&mut self, index: usize, input: musher_tools::Input, out: &mut Vec<Effect>) {
        if let Phase::Tools(batch) = &mut self.phase
            && let Some(call) = batch.calls.get_mut(index)
        {
            call.tool.input = input;
            let ToolUse { id, name, input } = call.tool.clone();
            out.push(Effect::Emit(Happening::ToolCall { id, name, input }));
        }
    }

    /// Hooks have changed the rules for a call. They hold when it is judged again, too: hooks are asked once.
    pub(crate) fn keep_rules(&mut self, index: usize, rules: Box<Policy>) {
        if let Phase::Tools(batch) = &mut self.phase
            && let Some(call) = batch.calls.get_mut(index)
        {
            call.rules = Some(rules);
        }
    }

    /// Hooks end the turn: this call is over, others are not run, and the model is not asked again.
    pub(crate) fn halt(&mut self, index: usize, output: ToolOutput, reason: &str, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.done(index, output, out);
        batch.cancel_rest(&ToolOutput::cancelled(), out);
        out.push(Effect::Append(user_note(reason)));
        self.finish(TurnEnd::Completed, out);
    }

    /// A plan is carried out elsewhere: this call is over, others are not run, and the model is not asked again.
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

    /// Begins what can begin; with all results there, asks the model.
    pub(super) fn go_on(&mut self, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        batch.announce(out);
        if batch.is_done() {
            return out.push(Effect::Settled(Next::Ask));
        }
        self.tool_count += batch.begin_next(self.limits.parallel_calls, out);
    }

    /// Whether the model makes the same calls again and again.
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
    ToolOutput::error(&refusal.for_wire, &refusal.for_model)
}
