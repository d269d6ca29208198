//! Reasoning in parts (`reasoning_details`), put together from the fragments of a stream, so that it can be sent back as a whole.
//!
//! `OpenRouter` documents the parts ("Reasoning Tokens", "Preserving reasoning", read in November 2026): fragments of a part have its
//! index and type, texts are joined, and all other fields are kept as they are.

use serde_json::{Map, Value};

/// The fields whose fragments are joined.
const TEXTS: [&str; 3] = ["text", "summary", "data"];

/// The parts of the reasoning so far.
#[derive(Debug, Default)]
pub(super) struct Details {
    parts: Vec<Map<String, Value>>,
}

impl Details {
    /// Adds a fragment.
    pub(super) fn add(&mut self, fragment: &Value) {
        let Value::Object(fragment) = fragment else { return };
        // an encrypted part is never split
        let is_text = fragment.get("type").and_then(Value::as_str) != Some("reasoning.encrypted");
        let same = |part: &&mut Map<String, Value>| {
            is_text && ["type", "index"].iter().all(|key| part.get(*key) == fragment.get(*key))
        };
        let Some(part) = self.parts.last_mut().filter(same) else {
            return self.parts.push(fragment.clone());
        };
        for (key, value) in fragment {
            match (part.get_mut(key), value) {
                (_, Value::Null) => {}
                (Some(Value::String(whole)), Value::String(piece)) if TEXTS.contains(&key.as_str()) => {
                    whole.push_str(piece);
                }
                _ => drop(part.insert(key.clone(), value.clone())),
            }
        }
    }

    /// Takes the parts, if there are any.
    pub(super) fn take(&mut self) -> Option<Vec<Value>> {
        let parts = std::mem::take(&mut self.parts);
        (!parts.is_empty()).then(|| parts.into_iter().map(Value::Object).collect())
    }
}

/// Returns the text of a fragment, as far as it is disclosed.
pub(super) fn text(fragment: &Value) -> &str {
    let text = |key: &str| fragment.get(key).and_then(Value::as_str);
    text("text").or_else(|| text("summary")).unwrap_or_default()
}
