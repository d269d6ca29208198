//! Calls from the client to the agent, by family: the params and results of each.

mod catalog;
mod context;
mod mcp;
mod message;
mod rewind;
mod session;
mod settings;

pub use catalog::*;
pub use context::*;
pub use mcp::*;
pub use message::*;
pub use rewind::*;
pub use session::*;
pub use settings::*;

use crate::object::object;

object! {
    /// No arguments: `{}`.
    pub struct Empty {}
}

object! {
    /// The answer of calls that only say whether they worked.
    pub struct Success {
        success: bool = "success",
    }
}
