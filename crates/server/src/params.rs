//! Reads the params of a request, and reports problems in the wording that clients know from droid.

use musher_wire::{Method, Request, RpcError, ShapeError};

use crate::error_code;

/// Reads the params of the method `M`.
pub(crate) fn read<M: Method>(request: &Request) -> Result<M::Params, RpcError> {
    let received = match &request.params {
        None => return Err(error_code::invalid_params(&request.method, "params: Required")),
        Some(params) => kind(params.text()),
    };
    if received != "object" {
        let problem = format!("params: Expected object, received {received}");
        return Err(error_code::invalid_params(&request.method, &problem));
    }
    request.read::<M>().map_err(|error| error_code::invalid_params(&request.method, &problem(&error)))
}

/// Reports an invalid value and its place in the params.
pub(crate) fn wrong(request: &Request, place: &str, why: &str) -> RpcError {
    error_code::invalid_params(&request.method, &format!("params.{place}: {why}"))
}

fn problem(error: &ShapeError) -> String {
    // list indices are written like field names
    let place = error.path.as_str().replace('[', ".").replace(']', "");
    let message = error.source.to_string();
    // the parser appends the position in the text, which does not help the author of an object
    let message = message.split(" at line ").next().unwrap_or_default();
    if let Some(field) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
        return format!("{place}.{field}: Required");
    }
    if let Some((received, expected)) =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("{place}: Expected {}, received {}", plain(expected), plain(received));
    }
    format!("{place}: {message}")
}

/// Returns the JSON name of a type that the parser names.
fn plain(message: &str) -> &str {
    let first = message.trim_start_matches("an ").trim_start_matches("a ");
    match first.split([' ', '`']).next().unwrap_or_default() {
        "map" | "object" => "object",
        "sequence" => "array",
        "string" | "borrowed" => "string",
        "integer" | "floating" | "number" | "u64" | "i64" | "JSON" => "number",
        "boolean" => "boolean",
        "null" | "unit" => "null",
        _ => first,
    }
}

/// Returns the JSON type of a text.
fn kind(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}

#[cfg(test)]
mod tests {
    use musher_wire::{AddUserMessage, Frame, InitializeSession, ListTools};

    use super::*;

    fn problem_of<M: Method>(params: &str) -> String {
        let line = format!(r#"{{"type":"request","id":"1","method":"{}"{params}}}"#, M::NAME);
        let Frame::Request(request) = Frame::parse(line.as_bytes()) else { panic!("{line}") };
        let message = read::<M>(&request).unwrap_err().message;
        message.strip_prefix(&format!("Invalid request for {}: ", M::NAME)).unwrap().to_owned()
    }

    #[test]
    fn invalid_params_are_reported_as_droid_reports_them() {
        assert_eq!(problem_of::<ListTools>(""), "params: Required");
        assert_eq!(problem_of::<ListTools>(r#","params":[]"#), "params: Expected object, received array");
        assert_eq!(problem_of::<ListTools>(r#","params":null"#), "params: Expected object, received null");
        assert_eq!(
            problem_of::<InitializeSession>(r#","params":{"cwd":"/w"}"#),
            "params.machineId: Required"
        );
        assert_eq!(
            problem_of::<AddUserMessage>(r#","params":{"text":5}"#),
            "params.text: Expected string, received number"
        );
        assert_eq!(
            problem_of::<AddUserMessage>(r#","params":{"text":"","images":{}}"#),
            "params.images: Expected array, received object"
        );
        assert_eq!(
            problem_of::<AddUserMessage>(r#","params":{"text":"","images":[{"type":5}]}"#),
            "params.images.0.type: Expected string, received number"
        );
    }
}
