//! What a session starts with: everything the CLI can be told before the first turn.
//!
//! Only values. How they become words of the command line and fields of the first request is `options/launch.rs`.

mod launch;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use musher_wire::{Extra, Json};

use crate::PermissionMode;
pub(crate) use launch::Started;

/// The options of a session. All are optional; what is not set is left to the CLI.
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
    /// A name or an alias. Not checked before the first turn.
    pub model: Option<String>,
    /// The model to go on with when the first one is overloaded.
    pub fallback_model: Option<String>,
    /// How much may be done without asking.
    pub permission_mode: Option<PermissionMode>,
    /// Allows to change to [`PermissionMode::BypassPermissions`] later.
    pub allow_dangerously_skip_permissions: bool,
    /// The built-in tools there are at all.
    pub tools: Option<Vec<String>>,
    /// Tools and rules that need no question.
    pub allowed_tools: Vec<String>,
    /// Tools and rules that are forbidden.
    pub disallowed_tools: Vec<String>,
    /// What the model is told first.
    pub system_prompt: SystemPrompt,
    /// How many calls of the model one user message may cause.
    pub max_turns: Option<u64>,
    /// What the process may cost, in US dollars.
    pub max_budget_usd: Option<f64>,
    /// How much the model may think.
    pub max_thinking_tokens: Option<u64>,
    /// Whether pieces of unfinished messages are told.
    pub include_partial_messages: bool,
    /// Whether files can be put back with [`Call::RewindFiles`](crate::Call::RewindFiles). User messages are then told back.
    pub enable_file_checkpointing: bool,
    /// Folders besides the working folder.
    pub additional_directories: Vec<PathBuf>,
    /// MCP servers by name, as in the CLI's own configuration.
    pub mcp_servers: Extra,
    /// Whether only these servers count, not those of the configuration.
    pub strict_mcp_config: bool,
    /// Names of MCP servers in our own process; their messages come as events.
    pub sdk_mcp_servers: Vec<String>,
    /// Subagents by name.
    pub agents: Option<Json>,
    /// Hooks by event.
    pub hooks: BTreeMap<String, Vec<Hook>>,
    /// The sandbox of commands, in the words of the CLI's settings.
    pub sandbox: Option<Json>,
    /// Which settings files are read: `user`, `project`, `local`. `None` for all, empty for none.
    pub setting_sources: Option<Vec<String>>,
    /// Beta features of the API.
    pub betas: Vec<String>,
    /// A JSON schema that the result has to follow.
    pub output_schema: Option<Json>,
    /// Folders of plugins.
    pub plugins: Vec<PathBuf>,
    /// The session to begin with, or to go on with.
    pub session: Which,
    /// More words for the command line.
    pub extra_args: Vec<String>,
    /// More variables for the environment.
    pub env: Vec<(String, String)>,
}

/// What the model is told first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SystemPrompt {
    /// The prompt that makes the model a coding agent, with something added to it.
    #[default]
    Preset,
    /// The preset, and this after it.
    Append(String),
    /// This alone. May be empty.
    Custom(String),
}

/// Which session a process serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Which {
    /// A new one with an id of the CLI's choice.
    #[default]
    New,
    /// A new one with this id, which has to be a UUID.
    NewWithId(String),
    /// One that was there before.
    Resume {
        /// Its id.
        id: String,
        /// The message to go back to.
        at: Option<String>,
    },
    /// A copy of one that was there before.
    Fork {
        /// The id of the original.
        id: String,
        /// The message to go back to.
        at: Option<String>,
        /// The id of the copy, a UUID; of the CLI's choice if absent.
        new_id: Option<String>,
    },
}

/// One hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The tools it is for, such as `Bash|Write`; all if absent.
    pub matcher: Option<String>,
    /// The id it is called with.
    pub callback_id: String,
    /// How long the CLI waits for its answer. When it gives up, it refuses the tool.
    pub timeout: Option<Duration>,
}

/// Writes a setter for each field.
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
    /// Sets the model to fall back to.
    fallback_model: impl Into<String> => |it: _| Some(Into::into(it));
    /// Sets how much may be done without asking.
    permission_mode: PermissionMode => Some;
    /// Sets which built-in tools there are.
    tools: impl IntoIterator<Item: Into<String>> => |it: _| Some(strings(it));
    /// Sets what needs no question.
    allowed_tools: impl IntoIterator<Item: Into<String>> => strings;
    /// Sets what is forbidden.
    disallowed_tools: impl IntoIterator<Item: Into<String>> => strings;
    /// Sets what the model is told first.
    system_prompt: SystemPrompt => std::convert::identity;
    /// Sets how many calls of the model one user message may cause.
    max_turns: u64 => Some;
    /// Sets what the process may cost.
    max_budget_usd: f64 => Some;
    /// Sets how much the model may think.
    max_thinking_tokens: u64 => Some;
    /// Sets the folders besides the working folder.
    additional_directories: impl IntoIterator<Item: Into<PathBuf>> => paths;
    /// Sets the MCP servers.
    mcp_servers: Extra => std::convert::identity;
    /// Sets the subagents.
    agents: Json => Some;
    /// Sets the sandbox.
    sandbox: Json => Some;
    /// Sets which settings files are read.
    setting_sources: impl IntoIterator<Item: Into<String>> => |it: _| Some(strings(it));
    /// Sets the beta features.
    betas: impl IntoIterator<Item: Into<String>> => strings;
    /// Sets the schema of the result.
    output_schema: Json => Some;
    /// Sets which session this is.
    session: Which => std::convert::identity;
}

impl Options {
    /// Nothing set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells pieces of unfinished messages, too.
    #[must_use]
    pub fn with_partial_messages(mut self) -> Self {
        self.include_partial_messages = true;
        self
    }

    /// Remembers files, so that they can be put back.
    #[must_use]
    pub fn with_file_checkpointing(mut self) -> Self {
        self.enable_file_checkpointing = true;
        self
    }

    /// Adds a variable to the environment of the CLI.
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
