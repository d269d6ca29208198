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
//! No agent is started. Lists the sessions of the current directory by default, of another one with [`cwd`](crate::ListSessions::cwd), or all with
//! [`outside_cwd`](crate::ListSessions::outside_cwd). The newest come first, and archived ones are left out. The directory is
//! `~/.factory/sessions` by default. [`read_session`](crate::read_session) reads the messages of a session, also without an agent.
