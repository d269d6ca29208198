//! A running agent: one task that owns the open session, the running turn and the waiting prompts.
//!
//! - `actor` receives everything that happens, as one closed enum, and routes it; `commands` handles the commands of clients.
//! - `state` is the session: private fields, changed through methods that keep them consistent.
//! - `turn` is one turn as a pure state machine: inputs in, effects out.
//! - `active_turn` carries out the effects of the running turn; its topics are `check`, `run_call`, `port`, `prompts`, `compact`, `hooks`,
//!   `tool_hooks` and `subagents`.
//! - `tasks` defines what tasks send back; `outbox` holds events until the client reads them.
//!
//! # One tool call
//!
//! A prompt whose response calls a tool that needs permission. The columns `Actor`, `ActiveTurn` and `Turn` run on the agent's task; the
//! column `tasks` runs in other tasks, which report back through a channel.
//!
//! ```text
//! client            Actor                ActiveTurn              Turn (pure)         tasks
//!   | Prompt          |                      |                      |                  |
//!   |---------------->| log_prompt           |                      |                  |
//!   |<----------------| Reply                |                      |                  |
//!   |                 | advance: begin turn  |                      |                  |
//!   |                 |--------------------->| enter_prompt         |                  |
//!   |<- Message ------|----------------------|                      |                  |
//!   |                 |                      | step(call_model) --->|                  |
//!   |                 |                      |<- CallModel ---------|                  |
//!   |                 |                      | call_model ----------|----------------->| model
//!   |                 |                      |<- Model{event} ------|------------------|
//!   |                 |                      | step(model) -------->| Draft            |
//!   |<- TextDelta ----|----------------------|<- Emit --------------|                  |
//!   |                 |                      |<- Append, Check -----| Batch::new       |
//!   |                 |                      | check ---------------|----------------->| PreToolUse hooks,
//!   |                 |                      |<- Verdict::Ask ------|------------------|  permission::decide
//!   |                 |                      | step(apply_verdict)->| NeedsPermission  |
//!   |<- UserRequest --|----------------------|<- AskUser -----------|                  |
//!   | Decision        |                      |                      |                  |
//!   |---------------->| respond              |                      |                  |
//!   |                 |--------------------->| step(respond) ------>| allow            |
//!   |<- PermissionResolved ------------------|<- Emit, Decided -----|                  |
//!   |                 |                      | apply_decision: grant|                  |
//!   |<- Settings -----|----------------------|  (if it raised the autonomy level)      |
//!   |                 |                      |<- Run ---------------| start_next       |
//!   |                 |                      | run_call ------------|----------------->| tool
//!   |                 |                      |<- Done{output} ------|------------------|
//!   |                 |                      | call_ran ------------|----------------->| PostToolUse hooks
//!   |                 |                      |<- PostToolHooks -----|------------------|
//!   |                 |                      | step(done) --------->| announce         |
//!   |<- ToolResult ---|----------------------|<- AppendSilently, Emit                  |
//!   |                 |                      |<- StepDone(CallModel)| continue_calls   |
//!   |                 |                      | step_done: compact if full, join prompts, call_model ...
//! ```
//!
//! A call whose verdict is `Run` skips the request; `Refuse` gives it an error result at once. A call that follows a change is checked
//! again before it runs (`Recheck`).

mod active_turn;
mod actor;
mod check;
mod commands;
mod compact;
mod confinement;
mod context_message;
mod continue_turn;
mod event_log;
mod fork;
mod held_prompts;
mod hooks;
mod journal;
mod lifecycle;
mod lists;
mod model_response;
pub(crate) mod model_traits;
mod open;
mod outbox;
mod output_shape;
mod plan;
mod port;
mod prompt_queue;
mod prompts;
mod queued_prompt;
mod request;
mod result_limit;
mod run_call;
mod running;
mod saved_settings;
mod servers;
mod session_end_hooks;
mod side_call;
mod state;
mod subagents;
mod summary;
mod tasks;
mod thinking;
mod titles;
mod tool_hooks;
mod tool_names;
mod tool_selection;
mod turn;

pub(crate) use actor::Actor;
pub use fork::RewindInfo;
pub use lists::ContextBreakdown;
pub(crate) use state::Session;
pub(crate) use tool_names::Unmatched;
pub use tool_selection::ToolEntry;
