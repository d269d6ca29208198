//! What the CLI says about the session itself.

use musher_wire::Json;
use serde::Deserialize;

use super::lenient;
use super::message::Message;

/// What a session is made of, told at the start of every turn.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Init {
    /// The session.
    #[serde(deserialize_with = "lenient::or_default")]
    pub session_id: String,
    /// Where it works.
    #[serde(deserialize_with = "lenient::or_default")]
    pub cwd: String,
    /// The model.
    #[serde(deserialize_with = "lenient::or_default")]
    pub model: String,
    /// How much it may do without asking.
    #[serde(rename = "permissionMode", deserialize_with = "lenient::or_default")]
    pub permission_mode: String,
    /// The tools it has.
    #[serde(deserialize_with = "lenient::or_default")]
    pub tools: Vec<String>,
    /// The MCP servers it knows.
    #[serde(deserialize_with = "lenient::or_default")]
    pub mcp_servers: Vec<McpServer>,
    /// The commands that begin with a slash.
    #[serde(deserialize_with = "lenient::or_default")]
    pub slash_commands: Vec<String>,
    /// The subagents it can start.
    #[serde(deserialize_with = "lenient::or_default")]
    pub agents: Vec<String>,
    /// The version of the CLI.
    #[serde(deserialize_with = "lenient::or_default")]
    pub claude_code_version: String,
}

/// An MCP server of a session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// `connected`, `pending`, `failed`, …
    pub status: String,
}

/// Something about the session, by its subtype.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum System {
    /// What it does now, or a change of the permission mode.
    Status(Status),
    /// The conversation was shortened.
    CompactBoundary {
        /// What was the reason and how much it helped.
        compact_metadata: Json,
    },
    /// The API failed and is asked again.
    ApiRetry(ApiRetry),
    /// Another model goes on.
    ModelFallback(ModelFallback),
    /// A background task or a subagent began, changed or ended.
    Task(Task),
    /// `running`, `requires_action` or `idle`.
    SessionStateChanged(String),
    /// The list of slash commands is another one.
    CommandsChanged(Vec<Json>),
    /// A notice for the user.
    Informational(String),
    /// A subtype or a shape this version of the driver does not know.
    Other(String),
}

/// What the session does now.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Status {
    /// `requesting`, `compacting`, or nothing.
    #[serde(default, deserialize_with = "lenient::field")]
    pub status: Option<String>,
    /// The new permission mode, if it changed.
    #[serde(default, rename = "permissionMode", deserialize_with = "lenient::field")]
    pub permission_mode: Option<String>,
}

/// The API failed and is asked again.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ApiRetry {
    /// The how-manieth try comes next.
    pub attempt: u64,
    /// How many there will be at most.
    pub max_retries: u64,
    /// How long the CLI waits first.
    pub retry_delay_ms: f64,
    /// The HTTP status.
    #[serde(default, deserialize_with = "lenient::field")]
    pub error_status: Option<u16>,
}

/// Another model goes on.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ModelFallback {
    /// The one that did not answer.
    pub original_model: String,
    /// The one that goes on.
    pub fallback_model: String,
}

/// A background task or a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Task {
    /// `task_started`, `task_updated`, `task_progress` or `task_notification`.
    pub subtype: String,
    /// The task.
    pub task_id: String,
    /// The tool call that started it.
    #[serde(default, deserialize_with = "lenient::field")]
    pub tool_use_id: Option<String>,
    /// How it stands, when it ended.
    #[serde(default, deserialize_with = "lenient::field")]
    pub status: Option<String>,
    /// What it did.
    #[serde(default, deserialize_with = "lenient::field")]
    pub summary: Option<String>,
}

impl System {
    pub(crate) fn read(subtype: &str, message: &Message) -> Self {
        #[derive(Deserialize)]
        struct Compact {
            compact_metadata: Json,
        }
        #[derive(Deserialize)]
        struct State {
            state: String,
        }
        #[derive(Deserialize)]
        struct Commands {
            commands: Vec<Json>,
        }
        #[derive(Deserialize)]
        struct Informational {
            content: String,
        }
        let known = match subtype {
            "status" => message.read().map(Self::Status),
            "compact_boundary" => {
                message.read().map(|Compact { compact_metadata }| Self::CompactBoundary { compact_metadata })
            }
            "api_retry" => message.read().map(Self::ApiRetry),
            "model_fallback" => message.read().map(Self::ModelFallback),
            "task_started" | "task_updated" | "task_progress" | "task_notification" => {
                message.read().map(Self::Task)
            }
            "session_state_changed" => message.read().map(|State { state }| Self::SessionStateChanged(state)),
            "commands_changed" => message.read().map(|Commands { commands }| Self::CommandsChanged(commands)),
            "informational" => message.read().map(|Informational { content }| Self::Informational(content)),
            _ => None,
        };
        known.unwrap_or_else(|| Self::Other(subtype.to_owned()))
    }
}
