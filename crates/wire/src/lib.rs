//! Types of the Droid stream-jsonrpc protocol. Parses and prints messages; does no IO.
//!
//! A coding agent that speaks this protocol writes one JSON object per line. [`Frame::parse`] turns any line into a
//! value, [`Frame::to_line`] turns the value back into a line, and payloads are read as types on request:
//!
//! ```
//! use musher_wire::{Frame, SessionNotification};
//!
//! let line = br#"{"jsonrpc":"2.0","type":"notification","factoryApiVersion":"1.0.0","method":"droid.session_notification","params":{"notification":{"type":"droid_working_state_changed","newState":"idle"}}}"#;
//! match Frame::parse(line) {
//!     Frame::Notification(notification) => match notification.session()?.notification {
//!         SessionNotification::DroidWorkingStateChanged(changed) => assert_eq!(changed.new_state.as_str(), "idle"),
//!         other => println!("something else: {}", other.tag()),
//!     },
//!     other => println!("not a notification: {other:?}"),
//! }
//! # Ok::<(), musher_wire::ShapeError>(())
//! ```
//!
//! The crate makes three guarantees. Tests over recorded traffic and property tests check them:
//!
//! - **Total.** Every input parses as a [`Frame`]; invalid input is [`Frame::Malformed`] with the reason and the text.
//! - **Lossless.** Unknown methods, tags, enum values and fields survive reading and printing.
//! - **Open.** Additions of newer peers are not errors: see [`Extra`], [`Unknown`] and the `Unrecognized` variants.
//!
//! Rust names follow from wire names: `droid.initialize_session` is [`InitializeSession`] with [`InitializeSessionParams`] and
//! [`InitializeSessionResult`]; the notification `assistant_text_delta` is [`AssistantTextDelta`].

mod agent;
mod audit;
mod client;
mod common;
mod daemon;
mod depth;
mod error;
mod frame;
mod json;
mod method;
mod notify;
mod object;
mod rpc_error;
mod trace;
mod typed;

pub use agent::*;
pub use audit::{Audit, Findings};
pub use client::*;
pub use common::*;
pub use daemon::*;
pub use depth::MAX_DEPTH;
pub use error::{Path, Reason, ShapeError};
pub use frame::{
    API_VERSION, Envelope, Frame, Id, JSONRPC, Malformed, Notification, PROTOCOL_VERSION, Request, Response,
    Word,
};
pub use json::{Extra, Json};
pub use method::*;
pub use notify::*;
pub use object::{Object, Unknown};
pub use rpc_error::RpcError;
pub use trace::TraceParent;
