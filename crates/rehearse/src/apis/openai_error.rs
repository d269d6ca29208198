//! `OpenAI`'s error body and its usual messages, for both `OpenAI` formats.

use serde_json::{Value, json};

use crate::script::HttpError;

pub(super) fn body(error: &HttpError) -> Value {
    let usual = usual(error.status);
    let code = error.code.as_deref().or(usual.code);
    json!({"error": {
        "message": error.message.as_deref().unwrap_or(usual.message),
        "type": error.kind.as_deref().unwrap_or(usual.kind),
        "param": null,
        "code": code
    }})
}

/// Returns the code and the message, for the formats that send only these.
pub(super) fn code_and_message(error: &HttpError) -> (String, String) {
    let usual = usual(error.status);
    let code = error.code.as_deref().or(usual.code).or(error.kind.as_deref()).unwrap_or(usual.kind);
    (code.to_owned(), error.message.as_deref().unwrap_or(usual.message).to_owned())
}

struct Usual {
    kind: &'static str,
    code: Option<&'static str>,
    message: &'static str,
}

fn usual(status: u16) -> Usual {
    let (kind, code, message) = match status {
        401 => ("invalid_request_error", Some("invalid_api_key"), "Incorrect API key provided."),
        402 => ("insufficient_quota", Some("insufficient_quota"), "You have run out of credits."),
        403 => ("permission_error", Some("permission_denied"), "You are not allowed to use this model."),
        404 => ("invalid_request_error", Some("model_not_found"), "The model does not exist."),
        408 | 504 => ("timeout_error", None, "The request timed out."),
        413 => ("invalid_request_error", Some("request_too_large"), "The request is too large."),
        429 => ("requests", Some("rate_limit_exceeded"), "Rate limit reached for requests."),
        503 | 529 => ("server_error", None, "The engine is currently overloaded."),
        500.. => {
            ("server_error", Some("server_error"), "The server had an error while processing your request.")
        }
        _ => ("invalid_request_error", None, "The request is invalid."),
    };
    Usual { kind, code, message }
}
