//! Client for model vendors: one request type, one event stream, three vendor formats.
//!
//! - [`Request`] and [`ModelEvent`]: a model call and its answer, independent of the vendor.
//! - [`Format`]: the three vendor formats as pure functions, from request to JSON body and from server-sent event to
//!   [`ModelEvent`]s.
//! - [`Provider`]: the trait of models that can be called. [`HttpProvider`] calls a vendor; other providers can run in process.
//! - [`with_retries`]: repeats failed calls according to a [`RetryPolicy`].
//! - [`Catalog`]: the available models, from settings and the environment.
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
//! The crate guarantees, for any input of a vendor, that a tool call is reported as complete only after its answer has
//! ended properly, so that a truncated call never runs, and that every wait, line, event and response is bounded.
//!
//! Sessions, tools and prompts are out of scope. `musher-http` makes the connections.

mod catalog;
mod error;
mod event;
mod family;
mod formats;
mod http_provider;
mod listing;
mod pairing;
mod price;
mod provider;
mod reasoning;
mod rejection;
mod request;
mod retry;
mod retry_after;
mod secret;

pub use catalog::{
    Catalog, CatalogProblem, ModelEntry, Origin, Refreshed, Snapshot, VendorVariables, known_models,
    snapshot, vendors,
};
pub use error::{ErrorClass, ModelError};
pub use event::{Arguments, FinishReason, ModelEvent, Retry, ToolCall, Usage};
pub use formats::{Decoder, Format, FormatOptions};
pub use http_provider::{Endpoint, HttpProvider};
pub use listing::list_models;
pub use musher_message::{Media, Proof, Thinking, ToolUse};
pub use pairing::paired;
pub use price::{Price, PriceStep, Rates};
pub use provider::{EventStream, Provider};
pub use reasoning::{Reasoning, Verbosity};
pub use request::{
    Block, Cache, Effort, Label, Message, OutputSchema, Request, Role, ToolChoice, ToolResult, ToolSpec,
};
pub use retry::{RetryPolicy, with_retries};
pub use secret::{Secret, redact};
