//! Autonomy: what runs without a permission request.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/settings_update.jsonl")?.agent();
//! use musher::wire::UpdateSessionSettingsParams;
//! use musher::{Autonomy, Session};
//!
//! let session = Session::builder().agent(droid).autonomy(Autonomy::High).open().await?;
//!
//! // and later
//! let less = UpdateSessionSettingsParams { autonomy_level: Some(Autonomy::Low), ..Default::default() };
//! let state = session.update_settings(less).await?;
//! println!("{:?}", state.settings.autonomy_level);
//! # assert!(state.settings.autonomy_level.is_some());
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! `Off` asks for everything except reading, `Low` also creates files, `Medium` and `High` also run commands. Permission requests go to the
//! [permission handler](super::permission).
