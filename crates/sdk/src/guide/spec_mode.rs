//! Spec mode: a plan first.
//!
//! In spec mode the agent only reads and plans, and then asks to leave it, with the plan in the request.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/spec_mode_exit.jsonl")?.agent();
//! use musher::{Decision, Session};
//!
//! let session = Session::builder()
//!     .agent(droid)
//!     .spec_mode()
//!     .on_permission_sync(|asked| match asked.plan() {
//!         Some(plan) => {
//!             println!("{plan}");
//!             Decision::allow_once()
//!         }
//!         None => Decision::allow_once(),
//!     })
//!     .open()
//!     .await?;
//! let result = session.send("Plan a refactoring of src/lib.rs.").await?;
//! # assert_eq!(result.text, "Implemented.");
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! A running session enters it with [`enter_spec_mode`](crate::Session::enter_spec_mode), which can also set another model and effort. The
//! decision determines what follows: [`allow_once`](crate::Decision::allow_once) carries the plan out in this session,
//! [`edit_plan`](crate::Decision::edit_plan) does so with changes,
//! [`ProceedAutoRunLow`](crate::wire::ToolConfirmationOutcome::ProceedAutoRunLow) and its like set the autonomy, and
//! [`ProceedNewSessionHigh`](crate::wire::ToolConfirmationOutcome::ProceedNewSessionHigh) and its like hand it over to a fresh session: the
//! turn then ends as [`HandedOver`](crate::TurnEnd::HandedOver), and [`Session::id`](crate::Session::id) is the new one.
