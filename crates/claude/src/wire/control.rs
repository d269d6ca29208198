//! Control messages as types: calls of the host, requests of the CLI, and the responses.

use musher_wire::Json;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::lenient;

/// The id of a request, of either side.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub(crate) String);

impl RequestId {
    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An error response of the CLI.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refusal {
    /// The message.
    pub message: String,
    /// A code for programs; newer versions only.
    pub code: Option<String>,
}

/// A call of the host to the CLI.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Call {
    /// The first call: hooks, agents, prompts. Created by [`Options::initialize`](crate::Options::initialize).
    Initialize(Json),
    /// Interrupts the running turn. Does nothing in an idle session.
    Interrupt,
    /// Changes the permission mode.
    SetPermissionMode(PermissionMode),
    /// Changes the model; `None` for the default.
    SetModel(Option<String>),
    /// Changes the maximum number of thinking tokens; `None` for the default.
    SetMaxThinkingTokens(Option<u64>),
    /// Returns the MCP servers and their status.
    McpStatus,
    /// Restores files to their state before a user message.
    RewindFiles {
        /// The id of the user message.
        user_message_id: String,
        /// Only report what would change.
        dry_run: bool,
    },
    /// Any other call: its `subtype`, and its other fields as an object.
    Other {
        /// The subtype.
        subtype: String,
        /// The other fields.
        fields: musher_wire::Extra,
    },
}

impl Call {
    /// Returns the call's `subtype` on the wire.
    pub fn subtype(&self) -> &str {
        match self {
            Self::Initialize(_) => "initialize",
            Self::Interrupt => "interrupt",
            Self::SetPermissionMode(_) => "set_permission_mode",
            Self::SetModel(_) => "set_model",
            Self::SetMaxThinkingTokens(_) => "set_max_thinking_tokens",
            Self::McpStatus => "mcp_status",
            Self::RewindFiles { .. } => "rewind_files",
            Self::Other { subtype, .. } => subtype,
        }
    }
}

impl Serialize for Call {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("subtype", self.subtype())?;
        match self {
            Self::Initialize(fields) => {
                let fields: musher_wire::Extra = fields.to().map_err(serde::ser::Error::custom)?;
                fields.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
            }
            Self::Interrupt | Self::McpStatus => {}
            Self::SetPermissionMode(mode) => map.serialize_entry("mode", mode.as_str())?,
            Self::SetModel(model) => map.serialize_entry("model", model)?,
            Self::SetMaxThinkingTokens(tokens) => map.serialize_entry("max_thinking_tokens", tokens)?,
            Self::RewindFiles { user_message_id, dry_run } => {
                map.serialize_entry("user_message_id", user_message_id)?;
                if *dry_run {
                    map.serialize_entry("dry_run", &true)?;
                }
            }
            Self::Other { fields, .. } => {
                fields.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
            }
        }
        map.end()
    }
}

/// How much the CLI may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermissionMode {
    /// Asks before it changes anything.
    Default,
    /// Edits files without asking.
    AcceptEdits,
    /// Plans only.
    Plan,
    /// Never asks. Requires a start with [`Options::allow_dangerously_skip_permissions`](crate::Options).
    BypassPermissions,
    /// Denies what would need permission.
    DontAsk,
    /// Lets a model decide.
    Auto,
}

impl PermissionMode {
    /// All modes.
    pub const ALL: [Self; 6] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::BypassPermissions, Self::DontAsk, Self::Auto];

    /// Returns the mode's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::BypassPermissions => "bypassPermissions",
            Self::DontAsk => "dontAsk",
            Self::Auto => "auto",
        }
    }

    /// Parses a name. Needed because an old CLI accepts any name.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}

/// A permission request of the CLI: may a tool run?
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The id to answer it with.
    pub id: RequestId,
    /// The name of the tool.
    pub tool_name: String,
    /// The arguments.
    pub input: Json,
    /// The id of the tool call.
    pub tool_use_id: Option<String>,
    /// Changes of the rules that would make the request unnecessary; may be returned in the answer.
    pub suggestions: Vec<Json>,
    /// The whole request, including fields without a type.
    pub raw: Json,
}

/// The decision on a [`PermissionRequest`].
#[derive(Debug, Clone, PartialEq)]
pub enum Permission {
    /// The tool runs.
    Allow {
        /// The arguments to use instead of the model's.
        updated_input: Option<Json>,
        /// Changes of the rules, such as the suggestions.
        updated_permissions: Option<Json>,
    },
    /// The tool does not run.
    Deny {
        /// The reason, for the model.
        message: String,
        /// Whether to interrupt the turn too.
        interrupt: Option<bool>,
    },
}

impl Permission {
    /// Allows the tool with the model's arguments.
    pub fn allow() -> Self {
        Self::Allow { updated_input: None, updated_permissions: None }
    }

    /// Denies the tool, with a reason for the model.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny { message: message.into(), interrupt: None }
    }
}

/// A message that the CLI passes to an in-process MCP server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct McpRequest {
    /// The id to answer it with.
    pub id: RequestId,
    /// The name of the server.
    pub server_name: String,
    /// A JSON-RPC message.
    pub message: Json,
}

/// The body of a `can_use_tool` request.
#[derive(Deserialize)]
pub(crate) struct CanUseTool {
    pub(crate) tool_name: String,
    pub(crate) input: Json,
    #[serde(default, deserialize_with = "lenient::field")]
    pub(crate) tool_use_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub(crate) permission_suggestions: Vec<Json>,
}

/// The body of an `mcp_message` request.
#[derive(Deserialize)]
pub(crate) struct McpMessage {
    pub(crate) server_name: String,
    pub(crate) message: Json,
}

/// The answer to a permission request. Always includes the arguments: version 2.1.197 fails the tool without them.
#[derive(Serialize)]
#[serde(tag = "behavior", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub(crate) enum PermissionAnswer<'a> {
    Allow {
        updated_input: &'a Json,
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_permissions: Option<&'a Json>,
    },
    Deny {
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        interrupt: Option<bool>,
    },
}
