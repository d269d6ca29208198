//! Messages of a conversation: role, text, reasoning, tool calls, tool results and media.
//!
//! Models, tools, the store and the engine share these types. Each of them converts messages to a form of its own, such as a
//! vendor's request, a line on disk or a notification. This crate does not depend on those forms.
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
