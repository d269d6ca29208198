//! Responses that are not the end of an answer: refused by the model or a filter, paused by the vendor, or cut off.

use musher_model::FinishReason;

use super::{Effect, Phase, Turn, labelled, message, reminder};
use crate::event::TurnEnd;
use crate::session::model_response::ModelResponse;
use musher_message::{Content, Role, Visibility};
use musher_tools::ToolOutput;

use super::batch::Batch;

/// How often in a row the model may continue a response that was cut off or paused.
const MAX_CONTINUATIONS: usize = 5;

/// The name of a refusal, by which the SDK knows it.
pub(crate) const REFUSAL: &str = "ModelRefusal";

/// Returns whether the model has more to say.
pub(super) fn is_incomplete(reason: &FinishReason) -> bool {
    matches!(reason, FinishReason::Length | FinishReason::Paused | FinishReason::ContextWindow)
}

impl Turn {
    /// The model or a filter of its vendor has refused: ends the turn and says so.
    ///
    /// The model does not read what it has said before the refusal: vendors advise to discard it, because it leads to more refusals.
    pub(super) fn refused(&mut self, response: ModelResponse, out: &mut Vec<Effect>) {
        let ModelResponse { message_id, mut content, calls, labels, refusal, usage, .. } = response;
        content.retain(|part| !matches!(part, Content::ToolUse(_)));
        if !content.is_empty() {
            let said = message(message_id.to_string(), Role::Assistant, content, Visibility::UserOnly);
            out.push(Effect::Append(labelled(said, &labels)));
        }
        out.push(Effect::Used(usage));
        if !calls.is_empty() {
            let text = "Not run: the model refused to continue.";
            Batch::new(calls, &self.tools, out).close(&ToolOutput::error(text, text), out);
        }
        let text = match refusal.as_deref().map(str::trim).filter(|reason| !reason.is_empty()) {
            Some(reason) => format!("The model refused to answer: {reason}"),
            None => "The model refused to answer, or a filter of its vendor blocked the answer.".to_owned(),
        };
        self.fail(text, Some(REFUSAL), TurnEnd::ModelRefused, out);
    }

    /// The response is not complete: lets the model continue, a limited number of times.
    pub(super) fn continue_response(
        &mut self,
        reason: &FinishReason,
        has_answer: bool,
        out: &mut Vec<Effect>,
    ) {
        if *reason == FinishReason::ContextWindow && !std::mem::replace(&mut self.has_overflowed, true) {
            if has_answer {
                out.push(Effect::Append(reminder(CUT_OFF)));
            }
            self.phase = Phase::Compacting;
            let error = "The conversation has filled the context window of the model.".to_owned();
            return out.push(Effect::ContextOverflow { error });
        }
        if self.continuations >= MAX_CONTINUATIONS {
            let text = format!(
                "The model did not complete its answer: it reached its limit {} times in a row.",
                self.continuations + 1
            );
            return self.fail(text, None, TurnEnd::Error, out);
        }
        self.continuations += 1;
        let text = match reason {
            // the vendor continues when it gets the answer back as it is
            FinishReason::Paused if has_answer => None,
            FinishReason::Paused => Some("Continue."),
            _ if has_answer => Some(CUT_OFF),
            _ => Some(
                "You reached the maximum length of a message while you were thinking, before you said anything. Think less, and answer \
                 or call a tool now. Split long work into several steps.",
            ),
        };
        if let Some(text) = text {
            out.push(Effect::Append(reminder(text)));
        }
        self.call_model(out);
    }
}

const CUT_OFF: &str = "Your message was cut off at the maximum length. Continue exactly where it stopped.";
