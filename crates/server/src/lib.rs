//! Serves the engine to clients: the Droid protocol over any connection.
//!
//! [`serve`] joins a [`Connection`](musher_rpc::Connection) with an agent of [`musher_engine`]: messages of the client become commands,
//! events of the engine become messages. Three promises hold whatever the client sends:
//!
//! - Every request gets exactly one response with its id; input that is not a message gets one error with a null id.
//! - Events are written in the order in which the engine emits them. The server adds no order of its own.
//! - A question is settled only by a well-formed, known answer while it is pending. Everything else counts as a refusal.
//!
//! [`daemon`] serves many sessions to many clients over WebSocket; each of its sessions is such an agent behind a connection.
//!
//! The path of a message: `dispatch` finds the method, `handle` makes a command of its params, the engine runs it, `convert` turns
//! the outcome into a message. Not here: what a command does, and where bytes come from.

mod connect;
mod console;
mod convert;
pub mod daemon;
mod dispatch;
mod editor;
mod error_code;
mod handle;
mod params;
mod pending;
mod serve;

pub use connect::connect;
pub use serve::{End, serve};

// a page of the repository, which is not part of the package
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/engine.md")]
struct EnginePage;
