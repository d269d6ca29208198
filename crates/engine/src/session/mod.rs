//! A running agent: one task that owns the session which is open, the turn that runs, and the prompts that wait.
//!
//! - `actor` receives everything that can happen, as one closed enum, and performs what the turn asks for.
//! - `turn` is the pure part: what follows from a model's words, a tool's result, an answer or an interrupt.
//! - `outbox` holds events until whoever reads them is ready; while it is full nothing is read from models and tools.

mod actor;
mod answer;
mod branches;
mod children;
mod commands;
mod compact;
mod consent;
mod farewell;
mod first;
mod hooked_calls;
mod hooking;
mod journal;
mod lifecycle;
mod lists;
mod open;
mod outbox;
mod perform;
mod plan;
mod port;
mod prompt;
mod prompts;
mod queue;
mod request;
mod run;
mod running;
mod saved;
mod servers;
mod shape;
mod side_call;
mod state;
mod subagents;
mod summary;
mod titles;
mod tool_selection;
mod turn;

pub(crate) use actor::Actor;
pub use branches::RewindInfo;
pub use lists::ContextBreakdown;
pub(crate) use state::Session;
pub use tool_selection::ToolEntry;
