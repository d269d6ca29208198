//! The JSON schema of the protocol, generated from the types that parse and print it.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::frame::{Created, ErrorPayload, QueryResult};
use super::payload::{CreatePayload, QueryPayload, SendPayload};

/// Returns the JSON schema of every line: `$defs/FrontEndMessage` for lines of the front end, `$defs/BridgeMessage` for lines of the
/// bridge.
pub fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let mut of = |name: &str, schema: Schema| -> Value {
        generator.definitions_mut().insert(name.to_owned(), schema.to_value());
        json!({"$ref": format!("#/$defs/{name}")})
    };
    let nothing = of("Nothing", schemars::json_schema!({"type": "object"}));
    let answer = of("CallbackResponse", callback_response());
    let question = of("CallbackRequest", callback_request());
    let message = of(
        "SdkMessage",
        schemars::json_schema!({
            "type": "object",
            "description": "A message of the agent, unchanged.",
            "properties": {"type": {"type": "string"}},
            "required": ["type"]
        }),
    );
    let create = json!(subschema::<CreatePayload>(&mut generator));
    let send = json!(subschema::<SendPayload>(&mut generator));
    let query = json!(subschema::<QueryPayload>(&mut generator));
    let created = json!(subschema::<Created<'_>>(&mut generator));
    let result = json!(subschema::<QueryResult>(&mut generator));
    let error = json!(subschema::<ErrorPayload>(&mut generator));
    let front_end = [
        line("session.create", &create, &["id", "payload"]),
        line("session.send", &send, &["id", "session_id", "payload"]),
        line("session.interrupt", &nothing, &["id", "session_id"]),
        line("session.kill", &nothing, &["id", "session_id"]),
        line("callback.response", &answer, &["id", "session_id", "payload"]),
        line("query.call", &query, &["id", "session_id", "payload"]),
    ];
    let bridge = [
        line("session.created", &created, &["id", "session_id", "payload"]),
        line("sdk.message", &message, &["session_id", "payload"]),
        line("callback.request", &question, &["id", "session_id", "payload"]),
        line("query.result", &result, &["id", "session_id", "payload"]),
        line("session.interrupted", &nothing, &["id", "session_id", "payload"]),
        line("session.killed", &nothing, &["id", "session_id", "payload"]),
        line("error", &error, &["payload"]),
    ];
    let mut definitions = generator.take_definitions(true);
    definitions.insert("FrontEndMessage".to_owned(), json!({"oneOf": front_end}));
    definitions.insert("BridgeMessage".to_owned(), json!({"oneOf": bridge}));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "musher bridge",
        "description": "One line of the protocol between a front end and `musher bridge`.",
        "anyOf": [{"$ref": "#/$defs/FrontEndMessage"}, {"$ref": "#/$defs/BridgeMessage"}],
        "$defs": definitions,
    })
}

fn subschema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn line(kind: &str, payload: &Value, required: &[&str]) -> Value {
    let mut all = vec!["type"];
    all.extend(required);
    json!({
        "type": "object",
        "properties": {
            "type": {"const": kind},
            "id": {"type": "string"},
            "session_id": {"type": "string"},
            "payload": payload,
        },
        "required": all,
    })
}

/// Written by hand, because one object has the fields of both kinds.
fn callback_response() -> Schema {
    schemars::json_schema!({
        "type": "object",
        "description": "The answer to a callback.request: the first fields for can_use_tool, the others for hooks.",
        "properties": {
            "behavior": {"enum": ["allow", "deny"]},
            "updated_input": {"type": "object"},
            "updated_permissions": {"type": "array"},
            "message": {"type": "string"},
            "interrupt": {"type": "boolean"},
            "continue": {"type": "boolean"},
            "suppress_output": {"type": "boolean"},
            "stop_reason": {"type": "string"},
            "decision": {"type": "string"},
            "system_message": {"type": "string"},
            "reason": {"type": "string"},
            "hook_specific_output": {"type": "object"}
        }
    })
}

fn callback_request() -> Schema {
    schemars::json_schema!({
        "type": "object",
        "description": "A permission request, or a call of a hook.",
        "properties": {
            "callback_type": {"enum": ["can_use_tool", "hook"]},
            "tool_name": {"type": "string"},
            "tool_input": {"type": "object"},
            "suggestions": {"type": "array"},
            "tool_use_id": {"type": "string"},
            "blocked_path": {"type": "string"},
            "decision_reason": {"type": "string"},
            "decision_reason_type": {"type": "string"},
            "agent_id": {"type": "string"},
            "title": {"type": "string"},
            "display_name": {"type": "string"},
            "description": {"type": "string"},
            "requires_user_interaction": {"type": "boolean"},
            "hook_event": {"type": "string"},
            "hook_input": {"type": "object"}
        },
        "required": ["callback_type"]
    })
}
