//! The list of models, in the format of the client's vendor.

use serde_json::{Value, json};

use super::Api;

/// Formats the list; it is never empty.
pub(crate) fn list(api: Api, names: &[String], now: u64) -> Value {
    let data: Vec<Value> = names.iter().map(|name| one(api, name, now)).collect();
    match api {
        Api::Anthropic => {
            json!({"data": data, "has_more": false, "first_id": names.first(), "last_id": names.last()})
        }
        Api::OpenaiChat | Api::OpenaiResponses => json!({"object": "list", "data": data}),
    }
}

pub(crate) fn one(api: Api, name: &str, now: u64) -> Value {
    match api {
        Api::Anthropic => {
            let created_at = "2026-01-01T00:00:00Z";
            json!({"type": "model", "id": name, "display_name": name, "created_at": created_at, "lifecycle": "active"})
        }
        Api::OpenaiChat | Api::OpenaiResponses => {
            json!({"id": name, "object": "model", "created": now, "owned_by": "rehearsal"})
        }
    }
}
