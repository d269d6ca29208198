//! Responses that must match a schema: accepted, requested again, or given up.

use super::{Effect, Turn, labelled, message, reminder};
use crate::Event;
use crate::event::TurnEnd;
use crate::session::model_response::ModelResponse;
use crate::session::output_shape::correction;
use musher_message::{Content, Role, Visibility};

impl Turn {
    /// The response of the model is complete, and must match a schema. A response that does not is never logged as a message.
    pub(super) fn complete_shaped_response(&mut self, mut response: ModelResponse, out: &mut Vec<Effect>) {
        let Some(shape) = &mut self.shape else { return };
        let text = response.text();
        match shape.read(&text) {
            Ok(value) => {
                let mut content = response.content;
                content.retain(|part| !matches!(part, Content::Text(_)));
                content.push(Content::Text(value.to_string()));
                let id = response.message_id.to_string();
                let answer = message(id, Role::Assistant, content, Visibility::Both);
                out.push(Effect::Append(labelled(
                    answer,
                    &response.labels.split_off(response.labels.len().saturating_sub(1)),
                )));
                let message_id = response.message_id;
                out.push(Effect::Emit(Event::StructuredOutput { message_id, output: value }));
                out.push(Effect::Used(response.usage));
                self.finish(TurnEnd::Completed, out);
            }
            Err(problem) if shape.may_try_again() => {
                out.push(Effect::Used(response.usage));
                out.push(Effect::Append(reminder(&correction(&text, &problem))));
                self.call_model(out);
            }
            Err(problem) => {
                out.push(Effect::Used(response.usage));
                self.fail(problem, Some("StructuredOutputError"), TurnEnd::StructuredOutputInvalid, out);
            }
        }
    }
}
