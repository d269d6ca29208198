//! The [`Tool`] trait and the built-in tools of the engine: files, search, commands, patches, web pages.
//!
//! A tool takes JSON arguments and a [`Context`] and always returns a [`ToolOutput`] with two texts: a short one for the client and a full
//! one for the model. A failure is an output too.
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
//! - [`Processes`] tracks started processes, and ends them with all their descendants.
//! - [`ToolInfo`] describes a tool, and [`Tool::action`] describes what a call does, for the permission rules.
//! - [`SessionPort`] is how a tool reaches its session: to ask the user, load a skill, start a subagent.
//!
//! Not here: whether a call may run (the engine decides before it runs a tool), sessions, models, the wire.

mod advice;
mod builtin;
mod context;
mod editor;
mod info;
mod input;
pub mod limits;
mod long_result;
mod notebook;
mod pdf;

mod process;
mod registry;
mod seen;
mod session_port;
mod text;
mod tool;

pub use builtin::{
    AddressRule, ApplyPatch, AskUser, Create, Edit, Execute, ExitSpecMode, FetchUrl, Glob, Grep, Ls, Read,
    SearchProvider, Skill, Task, TaskInput, TaskOutput, TaskStop, Todo, TodoStatus, TodoWrite, ToolSearch,
    UserQuestion, WebSearch, answers,
};
pub use context::{Context, Progress};
pub use editor::{Editor, EditorAnswer, EditorOffers, TerminalExit, TerminalOrder, TerminalOutput};
pub use info::{Category, Concurrency, EditStyle, Feature, ListedFrom, Offer, ToolInfo, object_schema};
pub use musher_message::{Media, Part};
pub use musher_permission::{Access, Action, FileKind, Resolved, Risk, Workspace};
pub use musher_process::{Layers, Network, Sandbox};
pub use process::{
    Background, DeniedAction, Ended, LAUNCH_COMMAND, Piped, Processes, SandboxDenial, command_environment,
    looks_like_credential,
};
pub use registry::Registry;
pub use seen::SeenFiles;
pub use session_port::{SessionPort, SessionRequest, SubagentTask};
pub use tool::{FileChange, Input, Run, Tool, ToolOutput};
