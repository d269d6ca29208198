//! Enums of strings, by subject. All are open: unknown values are preserved.

mod hook;
mod mcp;
mod message;
mod mission;
mod mode;
mod permission;
mod sandbox;
mod session;
mod tool;
mod turn;

pub use hook::*;
pub use mcp::*;
pub use message::*;
pub use mission::*;
pub use mode::*;
pub use permission::*;
pub use sandbox::*;
pub use session::*;
pub use tool::*;
pub use turn::*;
