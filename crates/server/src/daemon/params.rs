//! Reads params as an ordered list of fields, so that a call can be passed on without the fields that only the daemon knows.

use musher_wire::{Extra, Json, Request, RpcError, Side, inspect};

use super::error;

/// Returns the fields of a request, checked against the type of its method.
pub(crate) fn checked(request: &Request) -> Result<Extra, RpcError> {
    let fields = fields(request)?;
    let params = request.params.clone().unwrap_or_else(Json::empty_object);
    match inspect(&request.method, Side::Params, &params) {
        Some(Err(problem)) => Err(error::shape(&problem)),
        _ => Ok(fields),
    }
}

/// Returns the fields of a request.
pub(crate) fn fields(request: &Request) -> Result<Extra, RpcError> {
    let Some(params) = &request.params else { return Ok(Extra::default()) };
    params.to().map_err(|_invalid| error::invalid("", "object", "other"))
}

/// Returns a text field that must be there.
pub(crate) fn text(fields: &Extra, name: &str) -> Result<String, RpcError> {
    match fields.get(name) {
        None => Err(error::invalid(name, "string", "undefined")),
        Some(value) => value.to().map_err(|_invalid| error::invalid(name, "string", "other")),
    }
}

/// Returns a field that may be absent or null. A value of another type is an error.
pub(crate) fn optional<T: serde::de::DeserializeOwned>(
    fields: &Extra,
    name: &str,
    expected: &str,
) -> Result<Option<T>, RpcError> {
    match fields.get(name) {
        None => Ok(None),
        Some(value) => value.to().map_err(|_invalid| error::invalid(name, expected, "other")),
    }
}
