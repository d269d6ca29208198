//! Control messages as types: what we ask the CLI, what it asks us, and the answers.

use musher_wire::Json;
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::lenient;

/// The id of a request, ours or the CLI's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestId(pub(crate) String);

impl RequestId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The CLI answered a request with an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Refusal {
    /// What it says.
    pub message: String,
    /// A word for programs; newer versions only.
    pub code: Option<String>,
}

/// What we can ask the CLI besides a turn.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Call {
    /// The first of all: hooks, agents, prompts. Made by [`Options::initialize`](crate::Options::initialize).
    Initialize(Json),
    /// Stops the turn that runs. An idle session agrees and does nothing.
    Interrupt,
    /// How much it may do without asking, from now on.
    SetPermissionMode(PermissionMode),
    /// Another model; `None` for the default.
    SetModel(Option<String>),
    /// How much it may think; `None` for the default.
    SetMaxThinkingTokens(Option<u64>),
    /// Which MCP servers there are and how they stand.
    McpStatus,
    /// Puts files back to where they were before a user message.
    RewindFiles {
        /// The id the user message was sent with.
        user_message_id: String,
        /// Only tell what would change.
        dry_run: bool,
    },
    /// Any other request: its `subtype`, and its further fields as an object.
    Other {
        /// The subtype.
        subtype: String,
        /// The other fields.
        fields: musher_wire::Extra,
    },
}

impl Call {
    /// The word for it on the wire.
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
    /// Only plans.
    Plan,
    /// Asks nothing. Needs a start with [`Options::allow_dangerously_skip_permissions`](crate::Options).
    BypassPermissions,
    /// Refuses what it would have to ask for.
    DontAsk,
    /// Lets a model decide.
    Auto,
}

impl PermissionMode {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::BypassPermissions, Self::DontAsk, Self::Auto];

    /// The word for it on the wire.
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

    /// The one with this word. An old CLI takes any word, so that it has to be checked here.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == word)
    }
}

/// The CLI asks whether a tool may run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// To answer it.
    pub id: RequestId,
    /// The tool.
    pub tool_name: String,
    /// What it is called with.
    pub input: Json,
    /// The call.
    pub tool_use_id: Option<String>,
    /// Changes of the rules that would make the question unnecessary; to be given back in the answer.
    pub suggestions: Vec<Json>,
    /// Everything the CLI sent, with what has no field here.
    pub raw: Json,
}

/// The answer to a [`PermissionRequest`].
#[derive(Debug, Clone, PartialEq)]
pub enum Permission {
    /// The tool runs.
    Allow {
        /// With another input than the model wanted.
        updated_input: Option<Json>,
        /// Changes of the rules, as in the suggestions.
        updated_permissions: Option<Json>,
    },
    /// The tool does not run.
    Deny {
        /// Told to the model.
        message: String,
        /// Whether the turn ends, too.
        interrupt: Option<bool>,
    },
}

impl Permission {
    /// The tool runs as the model wanted.
    pub fn allow() -> Self {
        Self::Allow { updated_input: None, updated_permissions: None }
    }

    /// The tool does not run, and the model is told why.
    pub fn deny(message: impl Into<String>) -> Self {
        Self::Deny { message: message.into(), interrupt: None }
    }
}

/// The CLI passes a message on to an MCP server that lives in our process.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct McpRequest {
    /// To answer it.
    pub id: RequestId,
    /// The server.
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

/// The answer to a permission request, with an input in any case: 2.1.197 fails the tool without one.
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
