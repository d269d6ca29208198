//! The agent's requests to the client: permission requests, and questions to the user.
//!
//! A request has one answer. Handlers give it in tasks of their own; a reader of a turn gives it to the pending request in the stream.

mod choice;
mod commands;
mod grant;
mod mismatch;
mod pending;
mod permission;
mod question;
mod subscription;

pub use choice::PermissionChoice;
pub use commands::SimpleCommand;
pub use grant::{SessionGrant, SessionGrants};
pub use mismatch::Mismatch;
pub(crate) use pending::Waiting;
pub use pending::{Pending, PendingPermission, PendingQuestion, PendingRequest};
pub use permission::{Decision, PermissionRequest};
pub(crate) use question::declined;
pub use question::{Answers, QuestionRequest};
pub(crate) use subscription::MAX_WAITING;
pub use subscription::Requests;
