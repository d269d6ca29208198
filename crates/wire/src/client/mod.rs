//! Calls from the client to the agent, by family: parameters and results.

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
    /// The empty object `{}`: no parameters, or no result.
    pub struct Empty {}
}

object! {
    /// Result of calls that report success or failure only.
    pub struct Success {
        /// Whether the call succeeded.
        success: bool = "success",
    }
}
