//! Configuration: every option by its name in the TypeScript SDK.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> musher::Result<()> {
//! use musher::wire::{InteractionMode, McpServerConfig, ReasoningEffort, SessionOrigin, Tag};
//! use musher::{Agent, Answers, Autonomy, Decision, Session};
//!
//! let agent = Agent::program("/opt/bin/droid").extra_args(["--verbose"]).api_key("fk-...").env("LANG", "C");
//! let builder = Session::builder()
//!     .agent(agent)
//!     .cwd("/workspace")
//!     .machine_id("build-7")
//!     .model("some-model")
//!     .reasoning_effort(ReasoningEffort::High)
//!     .autonomy(Autonomy::Medium)
//!     .interaction_mode(InteractionMode::Auto)
//!     .spec_mode_model("another-model")
//!     .spec_mode_reasoning_effort(ReasoningEffort::Max)
//!     .mcp_server(McpServerConfig::http("docs", "https://mcp.example.com/mcp", Vec::new()))
//!     .enabled_tools(["web-search"])
//!     .disabled_tools(["execute-cli"])
//!     .tag(Tag::new("nightly"))
//!     .session_source(serde_json::json!({"platform": "ci"}))
//!     .origin(SessionOrigin::from("api"))
//!     .on_permission_sync(|_| Decision::deny())
//!     .on_question_sync(|_| Answers::Declined);
//! # drop(builder);
//! # Ok(()) }
//! ```
//!
//! | TypeScript | here | without it |
//! |---|---|---|
//! | `apiKey` | [`api_key`](crate::SessionBuilder::api_key) | the agent's stored login |
//! | `cwd` | [`cwd`](crate::SessionBuilder::cwd) | the current directory |
//! | `machineId` | [`machine_id`](crate::SessionBuilder::machine_id) | `default` |
//! | `modelId` | [`model`](crate::SessionBuilder::model) | the agent's choice |
//! | `autonomyLevel` | [`autonomy`](crate::SessionBuilder::autonomy) | the agent's choice |
//! | `interactionMode` | [`interaction_mode`](crate::SessionBuilder::interaction_mode), [`spec_mode`](crate::SessionBuilder::spec_mode) | auto |
//! | `reasoningEffort` | [`reasoning_effort`](crate::SessionBuilder::reasoning_effort) | the model's default |
//! | `specModeModelId` | [`spec_mode_model`](crate::SessionBuilder::spec_mode_model) | the session's model |
//! | `specModeReasoningEffort` | [`spec_mode_reasoning_effort`](crate::SessionBuilder::spec_mode_reasoning_effort) | the session's effort |
//! | `mcpServers` | [`mcp_server`](crate::SessionBuilder::mcp_server), [`serve_mcp`](super::mcp_tools) | none |
//! | `enabledToolIds` | [`enabled_tools`](crate::SessionBuilder::enabled_tools) | the usual ones |
//! | `disabledToolIds` | [`disabled_tools`](crate::SessionBuilder::disabled_tools) | none |
//! | `tags` | [`tag`](crate::SessionBuilder::tag) | only `sdk` |
//! | `sessionSource` | [`session_source`](crate::SessionBuilder::session_source), [`origin`](crate::SessionBuilder::origin) | none |
//! | `permissionHandler` | [`on_permission`](crate::SessionBuilder::on_permission), [`ask_on_stream`](crate::Prompt::ask_on_stream) | everything is denied |
//! | `askUserHandler` | [`on_question`](crate::SessionBuilder::on_question), [`ask_on_stream`](crate::Prompt::ask_on_stream) | questions are declined |
//! | `execPath` | [`executable`](crate::SessionBuilder::executable) | `droid` |
//! | `execArgs` | [`Agent::extra_args`](crate::Agent::extra_args) | none |
//! | `env` | [`env`](crate::SessionBuilder::env) | that of this process |
//! | `transport` | [`Agent::connector`](crate::Agent::connector), [`Agent::connection`](crate::Agent::connection) | a program |
//! | `abortSignal` of a turn | [`Prompt::cancel_token`](crate::Prompt::cancel_token) | none |
//! | `abortSignal` of a session | [`cancel_token`](crate::SessionBuilder::cancel_token) | none |
//! | `images`, `files` | [`Prompt::image`](crate::Prompt::image), [`Prompt::document`](crate::Prompt::document) | none |
//! | `outputFormat` | [`Prompt::output_schema`](crate::Prompt::output_schema), [`Session::extract`](crate::Session::extract) | text |
//! | `includePartialMessages` | [`Prompt::partial`](crate::Prompt::partial) | whole messages |
//! | `messageId` | [`Prompt::message_id`](crate::Prompt::message_id) | a random one |
//!
//! Only here: limits of turns ([`turn_timeout`](crate::SessionBuilder::turn_timeout), [`stall_timeout`](crate::SessionBuilder::stall_timeout),
//! [`budget`](crate::SessionBuilder::budget)), a limit for handlers ([`handler_timeout`](crate::SessionBuilder::handler_timeout)),
//! [`reject_while_busy`](crate::SessionBuilder::reject_while_busy), [`restrict_tools`](crate::SessionBuilder::restrict_tools),
//! [`additional_tools`](crate::SessionBuilder::additional_tools), the [system prompt](crate::SessionBuilder::system_prompt),
//! [`auto_reject_permissions`](crate::SessionBuilder::auto_reject_permissions), and all other parameters of the protocol with
//! [`params_mut`](crate::SessionBuilder::params_mut). A [resumed](super::resume) session takes only the options that concern the agent and the
//! handlers; the others are stored with the session.
