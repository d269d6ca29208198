//! Responses that must be JSON of a given schema: checked, and requested again a few times. Pure.

use jsonschema::Validator;
use serde_json::Value;

/// How often the model is asked in all.
const MAX_ATTEMPTS: usize = 3;

/// The schema a response must match.
#[derive(Debug)]
pub(crate) struct Shape {
    validator: Validator,
    attempts: usize,
}

impl Shape {
    /// Compiles a schema.
    ///
    /// # Errors
    ///
    /// Returns the message for clients if the schema is invalid.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        match jsonschema::validator_for(schema) {
            Ok(validator) => Ok(Self { validator, attempts: 0 }),
            Err(_problem) => Err("The requested structured output schema is invalid.".to_owned()),
        }
    }

    /// Returns the value of a response, or its problem.
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

    /// Counts a failed attempt. Returns whether the model may try again.
    pub(crate) fn may_try_again(&mut self) -> bool {
        self.attempts += 1;
        self.attempts < MAX_ATTEMPTS
    }
}

/// Returns the instructions for a model whose vendor cannot enforce the schema.
pub(crate) fn instructions(schema: &Value) -> String {
    format!(
        "Your final answer to this message must be a single JSON object that matches the schema below, and nothing else: no explanation, no \
         code fence. Use tools first if you need them.\n\n{schema}"
    )
}

/// Returns what the model reads about a response that was not accepted.
pub(crate) fn correction(answer: &str, problem: &str) -> String {
    format!(
        "Your last answer was not accepted: {problem}\nIt was:\n{answer}\n\nAnswer again with nothing but a JSON object that matches the \
         schema."
    )
}

/// Removes a Markdown code fence, which models like to add.
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
    fn fenced_answer_is_read() {
        for answer in ["{\"number\": 7}", "```json\n{\"number\": 7}\n```"] {
            assert_eq!(shape().read(answer), Ok(json!({"number": 7})));
        }
    }

    #[test]
    fn problems_have_the_texts_clients_know() {
        let problem = |answer: &str| shape().read(answer).unwrap_err();
        assert!(problem("no json").starts_with("Final response must be valid JSON: "));
        assert_eq!(problem("[1]"), "Structured output must be a JSON object.");
        assert!(problem("{\"number\": \"x\"}").starts_with("/number "), "{}", problem("{\"number\": \"x\"}"));
    }

    #[test]
    fn invalid_schema_is_refused() {
        assert!(Shape::new(&json!({"type": "nonsense"})).is_err());
    }

    #[test]
    fn model_may_try_three_times() {
        let mut shape = shape();
        assert_eq!(
            [shape.may_try_again(), shape.may_try_again(), shape.may_try_again()],
            [true, true, false]
        );
    }
}
