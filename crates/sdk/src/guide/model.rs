//! Model and effort: choose the model and its reasoning effort.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/settings_update.jsonl")?.agent();
//! use musher::Session;
//! use musher::wire::{ReasoningEffort, UpdateSessionSettingsParams};
//!
//! let builder = Session::builder().agent(droid).model("custom:fake").reasoning_effort(ReasoningEffort::High);
//! let session = builder.open().await?;
//! for model in session.state().models {
//!     println!("{}", model.id);
//! }
//!
//! let change = UpdateSessionSettingsParams { model_id: Some("another".to_owned()), ..Default::default() };
//! let state = session.update_settings(change).await?;
//! println!("{:?}", state.settings.model_id);
//! # assert!(state.settings.model_id.is_some());
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! Read the settings in effect from the returned state: agents silently ignore values that they do not know.
