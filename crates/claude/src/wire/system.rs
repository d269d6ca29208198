//! Messages of the CLI about the session itself.

use musher_wire::Json;
use serde::Deserialize;

use super::lenient;
use super::message::Message;

/// The properties of a session, sent at the start of every turn.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Init {
    /// The id of the session.
    #[serde(deserialize_with = "lenient::or_default")]
    pub session_id: String,
    /// The working directory.
    #[serde(deserialize_with = "lenient::or_default")]
    pub cwd: String,
    /// The model.
    #[serde(deserialize_with = "lenient::or_default")]
    pub model: String,
    /// The permission mode.
    #[serde(rename = "permissionMode", deserialize_with = "lenient::or_default")]
    pub permission_mode: String,
    /// The available tools.
    #[serde(deserialize_with = "lenient::or_default")]
    pub tools: Vec<String>,
    /// The known MCP servers.
    #[serde(deserialize_with = "lenient::or_default")]
    pub mcp_servers: Vec<McpServer>,
    /// The slash commands.
    #[serde(deserialize_with = "lenient::or_default")]
    pub slash_commands: Vec<String>,
    /// The subagents.
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
    /// The name of the server.
    pub name: String,
    /// `connected`, `pending`, `failed`, …
    pub status: String,
}

/// A message about the session, by its subtype.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum System {
    /// The current status, or a change of the permission mode.
    Status(Status),
    /// The conversation was compacted.
    CompactBoundary {
        /// The trigger and the effect.
        compact_metadata: Json,
    },
    /// The API failed; the CLI retries.
    ApiRetry(ApiRetry),
    /// The CLI continues with another model.
    ModelFallback(ModelFallback),
    /// A background task or a subagent started, changed or ended.
    Task(Task),
    /// `running`, `requires_action` or `idle`.
    SessionStateChanged(String),
    /// The list of slash commands has changed.
    CommandsChanged(Vec<Json>),
    /// A notice for the user.
    Informational(String),
    /// An unknown subtype or shape.
    Other(String),
}

/// The current status of the session.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Status {
    /// `requesting`, `compacting`, or empty.
    #[serde(default, deserialize_with = "lenient::field")]
    pub status: Option<String>,
    /// The new permission mode, if it changed.
    #[serde(default, rename = "permissionMode", deserialize_with = "lenient::field")]
    pub permission_mode: Option<String>,
}

/// The API failed; the CLI retries.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ApiRetry {
    /// The number of the next attempt.
    pub attempt: u64,
    /// The maximum number of attempts.
    pub max_retries: u64,
    /// The delay before the attempt, in milliseconds.
    pub retry_delay_ms: f64,
    /// The HTTP status.
    #[serde(default, deserialize_with = "lenient::field")]
    pub error_status: Option<u16>,
}

/// The CLI continues with another model.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ModelFallback {
    /// The model that failed.
    pub original_model: String,
    /// The model that is used now.
    pub fallback_model: String,
}

/// A background task or a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Task {
    /// `task_started`, `task_updated`, `task_progress` or `task_notification`.
    pub subtype: String,
    /// The id of the task.
    pub task_id: String,
    /// The tool call that started it.
    #[serde(default, deserialize_with = "lenient::field")]
    pub tool_use_id: Option<String>,
    /// The status, at the end.
    #[serde(default, deserialize_with = "lenient::field")]
    pub status: Option<String>,
    /// A summary of what it did.
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
