//! Skills: list and disable them.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! # let text = std::fs::read_to_string("../../fixtures/wire/droid-0.225.2/list_everything.jsonl").unwrap();
//! # let is_wanted = |line: &&str| ["1", "7"].iter().any(|id| line.contains(&format!(r#""id":"{id}""#)));
//! # let wanted: Vec<_> = text.lines().filter(is_wanted).collect();
//! # let droid = musher::Replay::parse(&wanted.join("\n"))?.agent();
//! let session = musher::Session::builder().agent(droid).open().await?;
//! let skills = session.client().list_skills().await?.skills;
//! for skill in &skills {
//!     println!("{}: {}", skill.name, skill.description.as_deref().unwrap_or_default());
//! }
//! # assert!(!skills.is_empty());
//! session.close().await?;
//! # Ok(()) }
//! ```
//!
//! [`set_skill_disabled`](crate::Client::set_skill_disabled) disables one, and
//! [`disable_builtin_skills`](crate::SessionBuilder::disable_builtin_skills) leaves out those which come with the agent.
