//! Reads loosely typed JSON as the formats need it: a missing value or one of another type is empty.

use serde_json::Value;

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn is_true(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or_default()
}

pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the texts of a content field, which is a string or a list of blocks. Blocks without text are skipped.
pub(super) fn texts(content: Option<&Value>) -> Vec<&str> {
    match content {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(blocks)) => {
            blocks.iter().filter_map(|block| block.as_str().or_else(|| block.get("text")?.as_str())).collect()
        }
        _ => Vec::new(),
    }
}

pub(super) fn joined(content: Option<&Value>) -> String {
    texts(content).join("\n")
}

/// Returns the model of a request; the error is for the client.
pub(super) fn model(body: &Value) -> Result<String, String> {
    if !body.is_object() {
        return Err("the request body must be a JSON object".to_owned());
    }
    match body.get("model").and_then(Value::as_str) {
        Some(model) if !model.is_empty() => Ok(model.to_owned()),
        _ => Err("model: you must provide a model parameter".to_owned()),
    }
}
