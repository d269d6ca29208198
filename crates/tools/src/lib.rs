//! The [`Tool`] trait and the built-in tools of the engine: files, search, commands, patches, pages.
//!
//! A tool takes JSON arguments and a [`Context`] and always gives a [`ToolOutput`] with two texts: a short one for people and a full
//! one for the model. What goes wrong is an output too.
//!
//! ```
//! use musher_tools::{Context, Registry, Workspace};
//! use tokio_util::sync::CancellationToken;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
//! # let folder = tempfile::tempdir()?;
//! # let (folder, scratch) = (folder.path(), folder.path().join("scratch"));
//! let context = Context::new(Workspace::open(folder)?, scratch);
//! let tools = Registry::builtin();
//! let input = serde_json::json!({"file_path": "notes.txt", "content": "one\ntwo\n"});
//! let create = tools.get("Create").expect("it is built in");
//! let output = create.run(input.as_object().unwrap().clone(), &context, CancellationToken::new()).await;
//! assert!(!output.is_error);
//! # Ok(()) }
//! ```
//!
//! - [`Workspace`] resolves paths to what they really are, and opens files so that nothing can be swapped in between.
//! - [`Processes`] knows what was started, and ends it with everything below it.
//! - [`CATALOG`] has the fixed facts of every tool, also of those that live in the engine.
//!
//! What is not here: whether a call is allowed (the engine decides, before it runs a tool), sessions, models, the wire.

mod builtin;
mod catalog;
mod context;
mod editor;
mod input;
pub mod limits;
mod paths;
mod process;
mod registry;
mod text;
mod tool;

pub use builtin::{
    AddressRule, ApplyPatch, Create, Edit, Execute, FetchUrl, Glob, Grep, Ls, Read, Todo, TodoStatus,
    TodoWrite, missing_risk,
};
pub use catalog::{CATALOG, Category, Risk, ToolInfo, engine_tool_schema, tool_info};
pub use context::{Context, Progress, SeenFiles};
pub use editor::{Editor, EditorAnswer, EditorOffers, TerminalExit, TerminalOrder, TerminalOutput};
pub use paths::{Access, FileKind, Resolved, Sensitive, Workspace};
pub use process::{Background, Ended, Piped, Processes, command_environment};
pub use registry::Registry;
pub use tool::{Input, Part, Run, Tool, ToolOutput};
