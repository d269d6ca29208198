//! Calls from the agent to the client: permission, questions, and the files and terminals of an editor.

mod ask_user;
mod editor;
mod permission;

pub use ask_user::*;
pub use editor::*;
pub use permission::*;
