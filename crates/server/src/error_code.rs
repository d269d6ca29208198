//! Errors of the wire. The only module with their codes and texts.

use musher_engine as engine;
use musher_engine::store::StoreError;
use musher_wire::{Json, Reason, RpcError};

/// Returns the response to input that is not a message. It has a null id.
pub(crate) fn malformed(reason: &Reason) -> RpcError {
    match reason {
        Reason::NotJson(_) => RpcError::new(RpcError::PARSE, "Invalid JSON"),
        Reason::TooLong { .. } | Reason::TooDeep => {
            RpcError::new(RpcError::PARSE, format!("Invalid JSON-RPC message: {reason}"))
        }
        _ => RpcError::new(RpcError::PARSE, "Invalid JSON-RPC message"),
    }
}

/// Returns the error for a method that does not exist.
pub(crate) fn unknown_method(method: &str) -> RpcError {
    RpcError::new(RpcError::METHOD_NOT_FOUND, format!("Unknown method: {method}"))
}

/// Returns the error for params that do not have the method's shape; `problems` are places with reasons, such as `params.cwd: Required`.
pub(crate) fn invalid_params(method: &str, problems: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, format!("Invalid request for {method}: {problems}"))
}

/// Returns the error for a request that cannot be fulfilled; `message` says why.
pub(crate) fn refused(message: impl Into<String>) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, message)
}

/// Returns the error for a full queue of the agent.
pub(crate) fn busy(busy: &engine::Busy) -> RpcError {
    RpcError::new(RpcError::INTERNAL, format!("{busy}; try again"))
}

/// Returns the error for an agent that ended before it replied.
pub(crate) fn ended() -> RpcError {
    RpcError::new(RpcError::INTERNAL, "the agent has ended")
}

/// Returns the error for what the server does not offer.
pub(crate) fn unsupported(what: &str) -> RpcError {
    RpcError::new(RpcError::INTERNAL, format!("{what} is not supported"))
}

/// Returns the engine's error.
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
    if let engine::Error::Running(StoreError::Locked { holder, .. }) = error {
        it.data = Some(Json::from(serde_json::json!({"runningInProcess": holder})));
    }
    if let engine::Error::NoDirectory(path) = error {
        it.data = Some(Json::from(serde_json::json!({"cwd": path})));
    }
    it
}
