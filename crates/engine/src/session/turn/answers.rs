//! Somebody answers a question of a turn: a call is agreed to or refused, or the model learns what it wanted to know.

use musher_tools::ToolOutput;

use super::batch::{Open, id_of, resolved};
use super::{Decision, Effect, Phase, Turn, UserAnswer};
use crate::event::{Question, TurnEnd, WorkingState};
use crate::permission::Kind;
use crate::{Choice, Happening, PermissionRequest};

impl Turn {
    /// Somebody answered. What is no answer to the question that is open is none at all.
    pub(crate) fn answered(&mut self, question: &str, answer: UserAnswer, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        let Some(Open { index, question }) = batch.open.take_if(|open| id_of(&open.question) == question)
        else {
            return;
        };
        match question {
            Question::Permission { id, choices, .. } => {
                let decision = match answer {
                    UserAnswer::Permission { choice, edited_plan }
                        if may_choose(choice, &choices, batch.request(index)) =>
                    {
                        Ok(Decision { choice, edited_plan })
                    }
                    UserAnswer::Refused { reason } => Err(reason),
                    UserAnswer::Permission { .. } | UserAnswer::Questions(_) => Err(None),
                };
                match decision {
                    Ok(decision) if decision.choice != Choice::Cancel => {
                        batch.agreed(index, id, decision, out);
                        self.go_on(out);
                    }
                    refused => self.refused(index, id, refused.err().flatten(), out),
                }
            }
            Question::Ask { questions, .. } => {
                out.push(Effect::Emit(Happening::State(WorkingState::Streaming)));
                match answer {
                    UserAnswer::Questions(answers) => {
                        let output = musher_tools::answers(&questions, &answers);
                        out.push(Effect::Answered { index, output });
                    }
                    UserAnswer::Refused { reason } => self.cancelled(index, refusal(reason), out),
                    UserAnswer::Permission { .. } => self.cancelled(index, ToolOutput::cancelled(), out),
                }
            }
        }
    }

    /// Somebody refused a call.
    fn refused(&mut self, index: usize, question: String, reason: Option<String>, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &self.phase else { return };
        let is_plan = batch.calls.get(index).is_some_and(|call| call.tool.name == "ExitSpecMode");
        let output = if is_plan && reason.is_none() { plan_refused() } else { refusal(reason) };
        out.push(Effect::Emit(Happening::State(WorkingState::Streaming)));
        out.push(Effect::Emit(resolved(question, Vec::new(), Choice::Cancel)));
        self.cancelled(index, output, out);
    }

    /// Somebody refused: this call gets the reason, the others are not run, and the turn ends without asking the model.
    pub(crate) fn cancelled(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        if let Phase::Tools(batch) = &mut self.phase {
            batch.done(index, output, out);
            batch.cancel_rest(&ToolOutput::cancelled(), out);
        }
        self.finish(TurnEnd::Completed, out);
    }
}

/// What is not offered is no answer; only a changed plan is taken all the same.
fn may_choose(choice: Choice, choices: &[Choice], request: Option<&PermissionRequest>) -> bool {
    let is_plan = request.is_some_and(|request| matches!(request.kind, Kind::ExitSpecMode { .. }));
    choices.contains(&choice) || (is_plan && choice == Choice::ProceedEdit)
}

fn refusal(reason: Option<String>) -> ToolOutput {
    match reason {
        None => ToolOutput::cancelled(),
        Some(reason) => {
            let text = format!("Tool execution cancelled: {reason}");
            ToolOutput::error(&text, &text)
        }
    }
}

fn plan_refused() -> ToolOutput {
    let text = "Plan not approved - remaining in Spec Mode. Provide feedback to refine the spec.";
    ToolOutput::error(text, text)
}
