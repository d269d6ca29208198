//! Puts the engine on the wire: serves the Droid protocol over any connection.
//!
//! [`serve`] joins a [`Connection`](musher_rpc::Connection) with an agent of [`musher_engine`]: what the client sends becomes commands,
//! what happens becomes messages. Three promises hold whatever the client sends:
//!
//! - Every request gets exactly one response with its id; what is no message gets one error with a null id.
//! - What happens is written in the order in which the agent tells it. The server adds no order of its own.
//! - Only a well-formed, known answer to a question that is open counts. All else is a refusal.
//!
//! The way of a message: `dispatch` finds the method, `handle` makes a command of its params, the agent does it, `convert` makes
//! a message of what came of it. What is not here: what a command does, and where bytes come from.

mod connect;
mod convert;
mod dispatch;
mod error_code;
mod handle;
mod open;
mod params;
mod serve;

pub use connect::connect;
pub use serve::{End, serve, serve_without_asking};
