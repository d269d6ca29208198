//! Answers that have to be JSON of a given shape: checked, and asked for again a few times. Pure.

use jsonschema::Validator;
use serde_json::Value;

/// So often the model is asked in all.
const MOST_ATTEMPTS: usize = 3;

/// The shape an answer has to have.
#[derive(Debug)]
pub(crate) struct Shape {
    validator: Validator,
    attempts: usize,
}

impl Shape {
    /// Reads a schema, or says that it is none.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        match jsonschema::validator_for(schema) {
            Ok(validator) => Ok(Self { validator, attempts: 0 }),
            Err(_problem) => Err("The requested structured output schema is invalid.".to_owned()),
        }
    }

    /// The value of an answer, or what is wrong with it.
    pub(crate) fn read(&self, answer: &str) -> Result<Value, String> {
        let value: Value = serde_json::from_str(without_fence(answer))
            .map_err(|error| format!("Final response must be valid JSON: {error}"))?;
        if !value.is_object() {
            return Err("Structured output must be a JSON object.".to_owned());
        }
        let problem = self.validator.iter_errors(&value).next();
        match problem.map(|error| format!("{} {error}", error.instance_path())) {
            None => Ok(value),
            Some(problem) => Err(problem),
        }
    }

    /// Whether the model may try again.
    pub(crate) fn may_try_again(&mut self) -> bool {
        self.attempts += 1;
        self.attempts < MOST_ATTEMPTS
    }
}

/// What the model is told where the vendor cannot enforce the shape.
pub(crate) fn instructions(schema: &Value) -> String {
    format!(
        "Your final answer to this message must be a single JSON object of the shape below, and nothing else: no explanation, no \
         code fence. Use tools first if you need them.\n\n{schema}"
    )
}

/// What the model is told of an answer that is not accepted.
pub(crate) fn complaint(answer: &str, problem: &str) -> String {
    format!(
        "Your last answer was not accepted: {problem}\nIt was:\n{answer}\n\nAnswer again with nothing but the JSON object of the wished \
         shape."
    )
}

/// Models like to put JSON in a fence.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) else { return text };
    inner.strip_prefix("json").unwrap_or(inner).trim()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shape() -> Shape {
        let schema =
            json!({"type": "object", "properties": {"number": {"type": "number"}}, "required": ["number"]});
        Shape::new(&schema).unwrap()
    }

    #[test]
    fn an_answer_is_read_also_from_a_fence() {
        for answer in ["{\"number\": 7}", "```json\n{\"number\": 7}\n```"] {
            assert_eq!(shape().read(answer), Ok(json!({"number": 7})));
        }
    }

    #[test]
    fn what_is_wrong_is_said_in_the_words_clients_know() {
        let problem = |answer: &str| shape().read(answer).unwrap_err();
        assert!(problem("no json").starts_with("Final response must be valid JSON: "));
        assert_eq!(problem("[1]"), "Structured output must be a JSON object.");
        assert!(problem("{\"number\": \"x\"}").starts_with("/number "), "{}", problem("{\"number\": \"x\"}"));
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        assert!(Shape::new(&json!({"type": "nonsense"})).is_err());
    }

    #[test]
    fn the_model_may_try_three_times() {
        let mut shape = shape();
        assert_eq!(
            [shape.may_try_again(), shape.may_try_again(), shape.may_try_again()],
            [true, true, false]
        );
    }
}
