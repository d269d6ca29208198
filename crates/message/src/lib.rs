//! Messages of a conversation: who says what, with text, thinking, tool calls, their results and media.
//!
//! These types are the vocabulary that models, tools, the store and the engine share. Each of them has its own form of a message: a vendor's
//! request, a line on disk, a notification. Those forms are made where they belong; nothing here knows them.
//!
//! ```
//! use musher_message::{Content, Message, Role};
//!
//! let message = Message::new("m1", Role::User, vec![Content::Text("Hello.".to_owned())]);
//! assert_eq!(message.text(), "Hello.");
//! ```

mod message;
mod part;

pub use message::{Content, Message, Role, Visibility};
pub use part::{Media, Part, Proof, Thinking, ToolUse};
