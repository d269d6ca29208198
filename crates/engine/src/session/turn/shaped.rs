//! Answers that have to have a shape: taken, asked for again, or given up.

use super::{Effect, Turn, message, reminder};
use crate::Happening;
use crate::event::TurnEnd;
use crate::session::answer::Answer;
use crate::session::shape::complaint;
use musher_message::{Content, Role, Visibility};

impl Turn {
    /// The model has answered, and the answer has to have a shape. One that has not is never a message of the conversation.
    pub(super) fn answered_in_shape(&mut self, answer: Answer, out: &mut Vec<Effect>) {
        let Some(shape) = &mut self.shape else { return };
        let text = answer.text();
        match shape.read(&text) {
            Ok(value) => {
                let mut content = answer.content;
                content.retain(|part| !matches!(part, Content::Text(_)));
                content.push(Content::Text(value.to_string()));
                let id = answer.message_id.to_string();
                out.push(Effect::Append(message(id, Role::Assistant, content, Visibility::Both)));
                let message_id = answer.message_id;
                out.push(Effect::Emit(Happening::StructuredOutput { message_id, output: value }));
                out.push(Effect::Used(answer.usage));
                self.finish(TurnEnd::Completed, out);
            }
            Err(problem) if shape.may_try_again() => {
                out.push(Effect::Used(answer.usage));
                out.push(Effect::AppendQuietly(reminder(&complaint(&text, &problem))));
                self.call_model(out);
            }
            Err(problem) => {
                out.push(Effect::Used(answer.usage));
                self.fail(problem, Some("StructuredOutputError"), TurnEnd::StructuredOutputInvalid, out);
            }
        }
    }
}
