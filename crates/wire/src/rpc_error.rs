//! The error object of a response, and the error codes that droid uses.

use std::fmt;

use crate::Json;
use crate::object::object;

object! {
    /// The error that a peer returned for a call.
    pub struct RpcError {
        /// Error code; see the constants of this type.
        code: i64 = "code",
        /// Text for display.
        message: String = "message",
    } optional {
        /// Additional data. droid daemons send details of invalid parameters here.
        data: Json = "data",
    }
}

impl RpcError {
    /// The text is not JSON or not a valid message. The response has a null id.
    pub const PARSE: i64 = -32700;
    /// 0.57 and 0.99: unknown method or invalid parameters. The response has a null id.
    pub const INVALID_REQUEST: i64 = -32600;
    /// Unknown method.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// Invalid parameters, or a request that cannot be met, such as "nothing to compact".
    pub const INVALID_PARAMS: i64 = -32602;
    /// Any other error, such as "no active session".
    pub const INTERNAL: i64 = -32603;
    /// Not authenticated.
    pub const AUTHENTICATION: i64 = -32001;
    /// The session does not exist.
    pub const NOT_FOUND: i64 = -32004;
    /// The session's connection is lost.
    pub const DISCONNECTED: i64 = -32005;
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}
