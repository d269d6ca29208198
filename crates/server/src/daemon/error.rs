//! Errors of the daemon dialect, with the codes and texts that official clients know.

use musher_wire::{Json, PROTOCOL_VERSION, Request, RpcError, ShapeError};
use serde_json::{Value, json};

pub(crate) fn parse() -> RpcError {
    RpcError::new(RpcError::PARSE, "Parse error")
}

pub(crate) fn unknown_method(method: &str) -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, format!("Method not found: {method}"))
}

pub(crate) fn not_authenticated() -> RpcError {
    let text = "Connection not authenticated. Must call daemon.authenticate first.";
    RpcError::new(RpcError::AUTHENTICATION, text)
}

pub(crate) fn wrong_credential() -> RpcError {
    RpcError::new(RpcError::AUTHENTICATION, "Invalid credential")
}

pub(crate) fn no_directory(cwd: &str) -> RpcError {
    let mut error = RpcError::new(RpcError::INVALID_PARAMS, "Directory not found");
    error.data = Some(Json::from(json!({"cwd": cwd})));
    error
}

pub(crate) fn no_session(id: &str) -> RpcError {
    RpcError::new(RpcError::NOT_FOUND, format!("Session not found: {id}"))
}

pub(crate) fn not_open() -> RpcError {
    RpcError::new(RpcError::INTERNAL, "No active session found for ID")
}

pub(crate) fn internal(message: impl Into<String>) -> RpcError {
    RpcError::new(RpcError::INTERNAL, message)
}

/// Too much waits already; the call can be made again.
pub(crate) fn busy(what: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL, format!("{what}; try again"))
}

/// Returns the error for a field that is missing or has the wrong type.
pub(crate) fn invalid(field: &str, expected: &str, received: &str) -> RpcError {
    let message = if received == "undefined" {
        "Required".to_owned()
    } else {
        format!("Expected {expected}, received {received}")
    };
    let mut path = vec![Value::from("params")];
    path.extend(field.split('.').filter(|part| !part.is_empty()).map(Value::from));
    invalid_params(&json!({
        "code": "invalid_type", "expected": expected, "received": received, "path": path, "message": message,
    }))
}

/// Returns the error for a field with a value that is not allowed.
pub(crate) fn invalid_value(field: &str, message: &str) -> RpcError {
    invalid_params(&json!({"code": "custom", "path": ["params", field], "message": message}))
}

/// Returns the error for params that do not have the shape of the method.
pub(crate) fn shape(error: &ShapeError) -> RpcError {
    let text = error.source.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    let place = error.path.as_str().replace('[', ".").replace(']', "");
    let place = place.strip_prefix("params").unwrap_or(&place).trim_start_matches('.');
    if let Some(field) = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        let field = if place.is_empty() { field.to_owned() } else { format!("{place}.{field}") };
        return invalid(&field, "string", "undefined");
    }
    invalid_value(place, text)
}

fn invalid_params(issue: &Value) -> RpcError {
    let mut error = RpcError::new(RpcError::INVALID_PARAMS, "Invalid request params");
    error.data = Some(Json::from(json!({"issues": [issue], "name": "ZodError"})));
    error
}

/// Adds the versions of both sides if they differ, as the real daemon does. It is information, not the cause.
pub(crate) fn with_versions(mut error: RpcError, request: &Request) -> RpcError {
    let Some(theirs) = request.envelope.protocol_version.as_deref() else { return error };
    // errors about sessions and params do not have it
    let is_about_connection =
        [RpcError::METHOD_NOT_FOUND, RpcError::AUTHENTICATION, RpcError::PARSE].contains(&error.code);
    if theirs == PROTOCOL_VERSION || !is_about_connection {
        return error;
    }
    let mut data = match error.data.as_ref().and_then(|data| data.to_value().ok()) {
        Some(Value::Object(data)) => data,
        _ => serde_json::Map::new(),
    };
    let mismatch = json!({
        "localFactoryProtocolVersion": PROTOCOL_VERSION,
        "peerFactoryProtocolVersion": theirs,
        "messageType": "request",
        "method": request.method,
        "requestId": request.id.as_str(),
    });
    data.insert("protocolVersionMismatch".to_owned(), mismatch);
    error.data = Some(Json::from(Value::Object(data)));
    error
}
