//! Calls from the agent to the client: permission and questions.

mod ask_user;
mod permission;

pub use ask_user::*;
pub use permission::*;
