//! Talks to model vendors: one request type, one event stream, three formats.
//!
//! - [`Request`] and [`ModelEvent`]: what is asked and what is answered, in no vendor's words.
//! - [`Format`]: the three vendor formats as pure functions, request to JSON body and server-sent event to [`ModelEvent`]s.
//! - [`Provider`]: whoever can be asked. [`HttpProvider`] is one; a model in process can be another.
//! - [`with_retries`]: asks a provider until there is an answer or no hope, by the rule in [`RetryPolicy`].
//! - [`Catalog`]: which models there are, from settings and the environment.
//!
//! ```
//! use musher_model::{Format, FormatOptions, Message, Request};
//! use serde_json::json;
//!
//! let request = Request::new("some-model", vec![Message::user("Hello")]);
//! let body = Format::OpenaiChat.body(&request, &FormatOptions::default());
//! assert_eq!(body["messages"], json!([{"role": "user", "content": "Hello"}]));
//! ```
//!
//! Two promises hold whatever a vendor sends. A tool call is reported as complete only after the proper end of the answer it is
//! part of, so that nothing cut off is ever run. And every wait, line, event and response is bounded.
//!
//! What is not here: sessions, tools, prompts. Connections are made by `musher-http`.

mod catalog;
mod error;
mod event;
mod formats;
mod http_provider;
mod pairing;
mod provider;
mod request;
mod retry;
mod retry_after;
mod secret;

pub use catalog::{Catalog, CatalogProblem, ModelEntry, Origin, VendorVariables, vendors};
pub use error::{ErrorClass, ModelError};
pub use event::{Arguments, FinishReason, ModelEvent, Retry, ToolCall, Usage};
pub use formats::{Decoder, Format, FormatOptions};
pub use http_provider::{Endpoint, HttpProvider};
pub use musher_message::{Media, Proof, Thinking, ToolUse};
pub use pairing::paired;
pub use provider::{EventStream, Provider};
pub use request::{
    Block, Cache, Effort, Message, OutputSchema, Request, Role, ToolChoice, ToolResult, ToolSpec,
};
pub use retry::{RetryPolicy, with_retries};
pub use secret::{Secret, redact};
