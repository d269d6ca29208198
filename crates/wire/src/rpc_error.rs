//! The error object of a response, and the codes the real agent uses.

use std::fmt;

use crate::Json;
use crate::object::object;

object! {
    /// Why a call failed, as the peer tells it.
    pub struct RpcError {
        code: i64 = "code",
        message: String = "message",
    } optional {
        data: Json = "data",
    }
}

impl RpcError {
    /// The text is not JSON, or no message. Answered with a null id.
    pub const PARSE: i64 = -32700;
    /// 0.57 and 0.99: unknown method or bad params. Answered with a null id.
    pub const INVALID_REQUEST: i64 = -32600;
    /// Unknown method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Bad params, and refusals such as "nothing to compact".
    pub const INVALID_PARAMS: i64 = -32602;
    /// Anything else, such as "no active session".
    pub const INTERNAL: i64 = -32603;
    /// Not authenticated.
    pub const AUTHENTICATION: i64 = -32001;
    /// No such session.
    pub const NOT_FOUND: i64 = -32004;
    /// The session's connection is gone.
    pub const DISCONNECTED: i64 = -32005;
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}
