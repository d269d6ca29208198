//! What the two `OpenAI` formats have in common: parts of messages and the choice of tools.

use serde_json::{Value, json};

use crate::{Effort, Media, ToolChoice};

/// A choice other than the vendor's default.
pub(super) fn choice(choice: &ToolChoice, named: impl FnOnce(&str) -> Value) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Named(name) => Some(named(name)),
    }
}

/// The vendor knows no more than `xhigh`.
pub(super) fn effort(effort: Effort) -> &'static str {
    effort.min(Effort::XHigh).name()
}

pub(super) fn file_name(media: &Media) -> &str {
    media.name.as_deref().unwrap_or("document.pdf")
}
