//! The Droid stream-jsonrpc protocol as types: parses and prints, does no IO.

mod audit;
mod depth;
mod error;
mod frame;
mod json;
mod object;
mod rpc_error;

pub use audit::{Audit, Findings};
pub use depth::MAX_DEPTH;
pub use error::{Path, Reason, ShapeError};
pub use frame::{
    API_VERSION, Envelope, Frame, Id, JSONRPC, Malformed, Notification, PROTOCOL_VERSION, Request, Response,
    Word,
};
pub use json::{Extra, Json};
pub use object::{Object, Unknown};
pub use rpc_error::RpcError;
