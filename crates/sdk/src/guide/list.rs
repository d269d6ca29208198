//! List: which sessions are on disk.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let (line, folder) = (r#"{"type":"session_start","title":"Fix the tests","cwd":"/workspace"}"#, folder.path());
//! # std::fs::create_dir(folder.join("-workspace")).unwrap();
//! # std::fs::write(folder.join("-workspace/8c1f.jsonl"), line).unwrap();
//! let sessions = musher::list_sessions().cwd("/workspace").limit(10).sessions_dir(folder).await?;
//! for session in &sessions {
//!     println!("{}: {}", session.id, session.session_title.as_ref().unwrap_or(&session.title));
//! }
//! # assert_eq!(sessions[0].title, "Fix the tests");
//! # Ok(()) }
//! ```
//!
//! No agent is started. Those of the current directory are listed if no other is named, or all with
//! [`outside_cwd`](crate::ListSessions::outside_cwd); the newest come first and archived ones are left out. The folder is
//! `~/.factory/sessions` if not named. What was said in a session is read by [`read_session`](crate::read_session), also without an agent.
