//! Responses of the user: decisions about calls, and answers to questions.

use musher_tools::{Part, ToolOutput};

use super::batch::{OpenRequest, resolved};
use super::{Effect, Phase, Turn};
use crate::event::{TurnEnd, UserRequest, WorkingState};
use crate::permission::Kind;
use crate::{Choice, Event, PermissionRequest, UserResponse};

impl Turn {
    /// Handles a response of the user. A response to a request that is not open is ignored.
    pub(crate) fn respond(&mut self, request: &str, response: UserResponse, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        let Some(OpenRequest { index, request }) = batch.open.take_if(|open| open.request.id() == request)
        else {
            return;
        };
        match request {
            UserRequest::Permission { id, choices, .. } => {
                let response = match response {
                    UserResponse::DeniedForNow { reason } => {
                        return self.deny_for_now(index, id, &reason, out);
                    }
                    UserResponse::Rewritten { input } => return self.rewritten(index, id, input, out),
                    response => response,
                };
                let decision = match response {
                    UserResponse::Decision(decision)
                        if may_choose(decision.choice, &choices, batch.request(index)) =>
                    {
                        Ok(decision)
                    }
                    UserResponse::Denied { reason } => Err(reason),
                    _ => Err(None),
                };
                match decision {
                    Ok(decision) if decision.choice != Choice::Cancel => {
                        batch.allow(index, id, decision, out);
                        self.continue_calls(out);
                    }
                    denied => self.deny(index, id, denied.err().flatten(), out),
                }
            }
            UserRequest::Questions { questions, .. } => {
                out.push(Effect::Emit(Event::State(WorkingState::Streaming)));
                match response {
                    UserResponse::Answers(answers) => {
                        let output = musher_tools::answers(&questions, &answers);
                        out.push(Effect::Answered { index, output });
                    }
                    UserResponse::Denied { reason } => self.denied(index, denial(reason), out),
                    _ => self.denied(index, ToolOutput::cancelled(), out),
                }
            }
        }
    }

    /// The user has denied a call.
    fn deny(&mut self, index: usize, request: String, reason: Option<String>, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &self.phase else { return };
        let is_plan = batch.request(index).is_some_and(is_plan);
        let output = match (batch.failed_in_sandbox(index), reason) {
            (Some(failed), reason) => kept_in_sandbox(failed, reason),
            (None, None) if is_plan => plan_denied(),
            (None, reason) => denial(reason),
        };
        out.push(Effect::Emit(Event::State(WorkingState::Streaming)));
        out.push(Effect::Emit(resolved(request, Vec::new(), Choice::Cancel)));
        self.denied(index, output, out);
    }

    /// The user has denied a call and says why: the model reads that, and the turn continues.
    fn deny_for_now(&mut self, index: usize, request: String, reason: &str, out: &mut Vec<Effect>) {
        let Phase::Tools(batch) = &mut self.phase else { return };
        let text = match reason.trim() {
            "" => "The user denied this call.".to_owned(),
            reason => format!("The user denied this call: {reason}"),
        };
        out.push(Effect::Emit(Event::State(WorkingState::Executing)));
        out.push(Effect::Emit(resolved(request, Vec::new(), Choice::Cancel)));
        batch.done(index, ToolOutput::error(&text, &text), out);
        self.continue_calls(out);
    }

    /// The user has changed a call. It is a new call for hooks and rules, so both look at it again.
    fn rewritten(
        &mut self,
        index: usize,
        request: String,
        input: musher_tools::Input,
        out: &mut Vec<Effect>,
    ) {
        out.push(Effect::Emit(Event::State(WorkingState::Executing)));
        out.push(Effect::Emit(resolved(request, Vec::new(), Choice::Cancel)));
        self.rewrite(index, input, out);
        if let Phase::Tools(batch) = &mut self.phase {
            batch.check_rewritten(index, out);
        }
        self.continue_calls(out);
    }

    /// Ends the turn because the user has denied a call: the call gets this output, the others do not run, and the model is not called.
    pub(crate) fn denied(&mut self, index: usize, output: ToolOutput, out: &mut Vec<Effect>) {
        if let Phase::Tools(batch) = &mut self.phase {
            batch.done(index, output, out);
            batch.cancel_rest(&ToolOutput::cancelled(), out);
        }
        self.finish(TurnEnd::Completed, out);
    }
}

/// Returns whether a choice counts: it was offered, or it is an edited plan, which clients may return although it is never offered.
fn may_choose(choice: Choice, choices: &[Choice], request: Option<&PermissionRequest>) -> bool {
    choices.contains(&choice) || (request.is_some_and(is_plan) && choice == Choice::ProceedEdit)
}

fn is_plan(request: &PermissionRequest) -> bool {
    matches!(request.kind, Kind::ExitSpecMode { .. })
}

fn denial(reason: Option<String>) -> ToolOutput {
    match reason {
        None => ToolOutput::cancelled(),
        Some(reason) => {
            let text = format!("Tool execution cancelled: {reason}");
            ToolOutput::error(&text, &text)
        }
    }
}

/// Returns the output of a call that failed in the sandbox and may not run without.
fn kept_in_sandbox(failed: &ToolOutput, reason: Option<String>) -> ToolOutput {
    let mut text = "The user did not allow the command to run again without the sandbox.".to_owned();
    if let Some(reason) = reason {
        text = format!("{text} {reason}");
    }
    let mut output = failed.clone();
    output.for_model.push(Part::Text(text));
    output
}

fn plan_denied() -> ToolOutput {
    let text = "Plan not approved - remaining in Spec Mode. Provide feedback to refine the spec.";
    ToolOutput::error(text, text)
}
