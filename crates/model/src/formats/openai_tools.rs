//! Parts common to the two `OpenAI` formats: message parts and tool choice.

use serde_json::{Value, json};

use crate::{Media, ToolChoice};

/// Returns the tool choice, or `None` for the vendor's default.
pub(super) fn choice(choice: &ToolChoice, named: impl FnOnce(&str) -> Value) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Named(name) => Some(named(name)),
    }
}

pub(super) fn file_name(media: &Media) -> &str {
    media.name.as_deref().unwrap_or("document.pdf")
}
