//! Options of a session: everything that can be set before the first turn.
//!
//! Values only. `options/launch.rs` converts them to command-line arguments and fields of the first request.

mod launch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use musher_wire::{Extra, Json};

use crate::PermissionMode;
pub(crate) use launch::Started;

/// The options of a session. All are optional; the CLI decides those that are not set.
///
/// ```
/// use musher_claude::{Options, PermissionMode};
///
/// let options = Options::new()
///     .model("sonnet")
///     .permission_mode(PermissionMode::AcceptEdits)
///     .allowed_tools(["Read", "Bash(ls:*)"])
///     .max_turns(3);
/// assert!(options.args().contains(&"--model=sonnet".into()));
/// assert!(options.args().contains(&"--allowedTools=Read,Bash(ls:*)".into()));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Options {
    /// A model name or alias. Not checked before the first turn.
    pub model: Option<String>,
    /// The model to use when the first one is overloaded.
    pub fallback_model: Option<String>,
    /// The permission mode at the start.
    pub permission_mode: Option<PermissionMode>,
    /// Allows a later change to [`PermissionMode::BypassPermissions`].
    pub allow_dangerously_skip_permissions: bool,
    /// The available built-in tools.
    pub tools: Option<Vec<String>>,
    /// Tools and rules that need no permission.
    pub allowed_tools: Vec<String>,
    /// Tools and rules that are denied.
    pub disallowed_tools: Vec<String>,
    /// The system prompt.
    pub system_prompt: SystemPrompt,
    /// Maximum number of model calls per user message.
    pub max_turns: Option<u64>,
    /// Maximum cost of the process, in US dollars.
    pub max_budget_usd: Option<f64>,
    /// Maximum number of thinking tokens.
    pub max_thinking_tokens: Option<u64>,
    /// Whether pieces of unfinished messages are sent.
    pub include_partial_messages: bool,
    /// Whether files can be restored with [`Call::RewindFiles`](crate::Call::RewindFiles). User messages are then repeated by the CLI.
    pub enable_file_checkpointing: bool,
    /// Additional directories besides the working directory.
    pub additional_directories: Vec<PathBuf>,
    /// MCP servers by name, in the format of the CLI's configuration.
    pub mcp_servers: Extra,
    /// Whether only these servers are used, without those of the configuration.
    pub strict_mcp_config: bool,
    /// Names of in-process MCP servers; their messages arrive as events.
    pub sdk_mcp_servers: Vec<String>,
    /// Subagents by name.
    pub agents: Option<Json>,
    /// Hooks by event.
    pub hooks: BTreeMap<String, Vec<Hook>>,
    /// The sandbox of commands, in the format of the CLI's settings.
    pub sandbox: Option<Json>,
    /// The settings files to read: `user`, `project`, `local`. `None` for all, empty for none.
    pub setting_sources: Option<Vec<String>>,
    /// Beta features of the API.
    pub betas: Vec<String>,
    /// A JSON schema that the result must match.
    pub output_schema: Option<Json>,
    /// Directories of plugins.
    pub plugins: Vec<PathBuf>,
    /// The session to start, resume or fork.
    pub session: SessionSource,
    /// Additional command-line arguments.
    pub extra_args: Vec<String>,
    /// Additional environment variables.
    pub env: Vec<(String, String)>,
}

/// The system prompt of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SystemPrompt {
    /// The preset that makes the model a coding agent.
    #[default]
    Preset,
    /// The preset, followed by this text.
    Append(String),
    /// Only this text. May be empty.
    Custom(String),
}

/// Where the session of a process comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SessionSource {
    /// A new session; the CLI chooses its id.
    #[default]
    New,
    /// A new session with this id, which must be a UUID.
    NewWithId(String),
    /// An existing session.
    Resume {
        /// The id of the session.
        id: String,
        /// The message to rewind to.
        at: Option<String>,
    },
    /// A copy of an existing session.
    Fork {
        /// The id of the original.
        id: String,
        /// The message to rewind to.
        at: Option<String>,
        /// The id of the copy, a UUID; the CLI chooses it if absent.
        new_id: Option<String>,
    },
}

/// A hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The tools it applies to, such as `Bash|Write`; all if absent.
    pub matcher: Option<String>,
    /// The id that the CLI calls it with.
    pub callback_id: String,
    /// How long the CLI waits for the response. After that, it denies the tool.
    pub timeout: Option<Duration>,
}

/// Generates a setter for each field.
macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty => $convert:expr;)*) => {
        impl Options {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, $name: $type) -> Self {
                    self.$name = $convert($name);
                    self
                }
            )*
        }
    };
}

setters! {
    /// Sets the model.
    model: impl Into<String> => |it: _| Some(Into::into(it));
    /// Sets the model to use when the first one is overloaded.
    fallback_model: impl Into<String> => |it: _| Some(Into::into(it));
    /// Sets the permission mode.
    permission_mode: PermissionMode => Some;
    /// Sets the available built-in tools.
    tools: impl IntoIterator<Item: Into<String>> => |it: _| Some(strings(it));
    /// Sets the tools and rules that need no permission.
    allowed_tools: impl IntoIterator<Item: Into<String>> => strings;
    /// Sets the tools and rules that are denied.
    disallowed_tools: impl IntoIterator<Item: Into<String>> => strings;
    /// Sets the system prompt.
    system_prompt: SystemPrompt => std::convert::identity;
    /// Sets the maximum number of model calls per user message.
    max_turns: u64 => Some;
    /// Sets the maximum cost of the process, in US dollars.
    max_budget_usd: f64 => Some;
    /// Sets the maximum number of thinking tokens.
    max_thinking_tokens: u64 => Some;
    /// Sets the additional directories.
    additional_directories: impl IntoIterator<Item: Into<PathBuf>> => paths;
    /// Sets the MCP servers.
    mcp_servers: Extra => std::convert::identity;
    /// Sets the subagents.
    agents: Json => Some;
    /// Sets the sandbox.
    sandbox: Json => Some;
    /// Sets the settings files to read.
    setting_sources: impl IntoIterator<Item: Into<String>> => |it: _| Some(strings(it));
    /// Sets the beta features.
    betas: impl IntoIterator<Item: Into<String>> => strings;
    /// Sets the JSON schema of the result.
    output_schema: Json => Some;
    /// Sets the session to start, resume or fork.
    session: SessionSource => std::convert::identity;
}

impl Options {
    /// Creates options with nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests pieces of unfinished messages.
    #[must_use]
    pub fn with_partial_messages(mut self) -> Self {
        self.include_partial_messages = true;
        self
    }

    /// Enables file checkpoints, so that files can be restored.
    #[must_use]
    pub fn with_file_checkpointing(mut self) -> Self {
        self.enable_file_checkpointing = true;
        self
    }

    /// Adds an environment variable for the CLI.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }
}

fn strings(words: impl IntoIterator<Item: Into<String>>) -> Vec<String> {
    words.into_iter().map(Into::into).collect()
}

fn paths(paths: impl IntoIterator<Item: Into<PathBuf>>) -> Vec<PathBuf> {
    paths.into_iter().map(Into::into).collect()
}

#[cfg(test)]
mod tests;
