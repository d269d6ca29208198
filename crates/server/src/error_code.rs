//! Errors as the wire has them. The only place with their numbers and texts.

use musher_engine as engine;
use musher_wire::{Json, Reason, RpcError};

/// A line that is no message. Answered with a null id.
pub(crate) fn malformed(reason: &Reason) -> RpcError {
    match reason {
        Reason::NotJson(_) => RpcError::new(RpcError::PARSE, "Invalid JSON"),
        Reason::TooLong { .. } | Reason::TooDeep => {
            RpcError::new(RpcError::PARSE, format!("Invalid JSON-RPC message: {reason}"))
        }
        _ => RpcError::new(RpcError::PARSE, "Invalid JSON-RPC message"),
    }
}

/// A method we do not have.
pub(crate) fn unknown_method(method: &str) -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, format!("Unknown method: {method}"))
}

/// Params that are not of the method's shape; `problems` are places with reasons, such as `params.cwd: Required`.
pub(crate) fn invalid_params(method: &str, problems: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, format!("Invalid request for {method}: {problems}"))
}

/// Something the client asked for cannot be, in plain words.
pub(crate) fn refused(message: impl Into<String>) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, message)
}

/// Too much waits already.
pub(crate) fn busy(busy: &engine::Busy) -> RpcError {
    RpcError::new(RpcError::INTERNAL, format!("{busy}; try again"))
}

/// The agent ended before it answered.
pub(crate) fn ended() -> RpcError {
    RpcError::new(RpcError::INTERNAL, "the agent has ended")
}

/// We do not offer this.
pub(crate) fn unsupported(what: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL, format!("{what} is not supported"))
}

/// What the engine refused.
pub(crate) fn of_engine(error: &engine::Error) -> RpcError {
    let code = match error {
        engine::Error::SessionNotFound => RpcError::NOT_FOUND,
        engine::Error::Invalid(_) => RpcError::INVALID_PARAMS,
        _ => RpcError::INTERNAL,
    };
    let message = match error {
        // clients match on the bare text
        engine::Error::NoDirectory(_) => "Working directory does not exist".to_owned(),
        other => other.to_string(),
    };
    let mut it = RpcError::new(code, message);
    if let engine::Error::NoDirectory(path) = error {
        it.data = Some(Json::from(serde_json::json!({"cwd": path})));
    }
    it
}
