//! The payloads of the front end as types; their doc comments are the descriptions in the schema.
//!
//! Objects for the agent are kept unchanged. `null` counts as absent.

use std::collections::BTreeMap;

use musher_claude::Json;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The payload of `session.create`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct CreatePayload {
    /// The first message. If it is blank, none is sent.
    pub(crate) prompt: Option<String>,
    /// Content blocks instead of a prompt, such as images.
    #[schemars(with = "Option<Vec<serde_json::Map<String, Value>>>")]
    pub(crate) content: Option<Vec<Json>>,
    /// The working directory.
    #[schemars(with = "String")]
    pub(crate) cwd: Option<String>,
    /// The options; all are optional.
    pub(crate) options: Option<SessionOptions>,
}

/// The options of a session.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct SessionOptions {
    /// The agent; `claude` if absent.
    pub(crate) agent: Option<AgentKind>,
    /// A model name or alias.
    pub(crate) model: Option<String>,
    /// The permission mode at the start.
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Tools and rules that need no permission.
    pub(crate) allowed_tools: Option<Vec<String>>,
    /// Tools and rules that are denied.
    pub(crate) disallowed_tools: Option<Vec<String>>,
    /// The system prompt; empty if absent.
    pub(crate) system_prompt: Option<SystemPrompt>,
    /// Maximum number of model calls per message.
    pub(crate) max_turns: Option<u64>,
    /// Maximum cost of the session, in US dollars.
    pub(crate) max_budget_usd: Option<f64>,
    /// Maximum number of thinking tokens.
    pub(crate) max_thinking_tokens: Option<u64>,
    /// Whether parts of unfinished messages are sent.
    pub(crate) include_partial_messages: Option<bool>,
    /// Whether `rewindFiles` works. User messages are then repeated with their id.
    pub(crate) enable_file_checkpointing: Option<bool>,
    /// Additional directories besides `cwd`.
    pub(crate) additional_directories: Option<Vec<String>>,
    /// MCP servers by name.
    pub(crate) mcp_servers: Option<BTreeMap<String, McpServerConfig>>,
    /// Subagents by name.
    pub(crate) agents: Option<BTreeMap<String, AgentDefinition>>,
    /// Hooks by event; each call is a `callback.request`.
    pub(crate) hooks: Option<BTreeMap<String, Vec<HookConfig>>>,
    /// The sandbox of commands. Keys in `snake_case` or in the agent's spelling.
    pub(crate) sandbox: Option<SandboxSettings>,
    /// The settings files to read; all if absent, none if empty.
    pub(crate) setting_sources: Option<Vec<SettingSource>>,
    /// Beta features of the API.
    pub(crate) betas: Option<Vec<String>>,
    /// The format of the result.
    pub(crate) output_format: Option<OutputFormat>,
    /// The model to use when the first one is overloaded.
    pub(crate) fallback_model: Option<String>,
    /// The `sdk_session_id` of a session to resume.
    pub(crate) resume: Option<String>,
    /// The message of that session to rewind to.
    pub(crate) resume_session_at: Option<String>,
    /// Whether to continue a copy of the session.
    pub(crate) fork_session: Option<bool>,
    /// Allows a later change to `bypassPermissions`.
    pub(crate) allow_dangerously_skip_permissions: Option<bool>,
    /// The available built-in tools.
    pub(crate) tools: Option<Vec<String>>,
    /// Whether only `mcp_servers` are used, without those of the configuration.
    pub(crate) strict_mcp_config: Option<bool>,
    /// Plugins.
    pub(crate) plugins: Option<Vec<Plugin>>,
}

impl SessionOptions {
    /// The names of all options, to find unknown ones.
    pub(crate) const NAMES: &'static [&'static str] = &[
        "agent",
        "model",
        "permission_mode",
        "allowed_tools",
        "disallowed_tools",
        "system_prompt",
        "max_turns",
        "max_budget_usd",
        "max_thinking_tokens",
        "include_partial_messages",
        "enable_file_checkpointing",
        "additional_directories",
        "mcp_servers",
        "agents",
        "hooks",
        "sandbox",
        "setting_sources",
        "betas",
        "output_format",
        "fallback_model",
        "resume",
        "resume_session_at",
        "fork_session",
        "allow_dangerously_skip_permissions",
        "tools",
        "strict_mcp_config",
        "plugins",
    ];
}

/// An agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AgentKind {
    /// The Claude Code CLI.
    Claude,
    /// Factory's Droid.
    Droid,
    /// The engine of musher.
    Engine,
}

/// How much may be done without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum PermissionMode {
    /// Asks before it changes anything.
    Default,
    /// Edits files without asking.
    AcceptEdits,
    /// Never asks.
    BypassPermissions,
    /// Plans only.
    Plan,
    /// Denies what would need permission.
    DontAsk,
    /// Lets a model decide.
    Auto,
}

/// The system prompt.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a string or {type: \"preset\", preset: \"claude_code\", append?: string}")]
pub(crate) enum SystemPrompt {
    /// Only this text.
    Custom(String),
    /// The agent's own prompt.
    Preset(Preset),
}

/// The agent's own prompt.
#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names of the protocol")]
pub(crate) struct Preset {
    r#type: PresetType,
    /// The name of the preset.
    preset: Option<PresetName>,
    /// A text to append.
    pub(crate) append: Option<String>,
}

#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PresetType {
    Preset,
}

#[derive(Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PresetName {
    ClaudeCode,
}

/// A settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SettingSource {
    /// The user's.
    User,
    /// The project's, shared.
    Project,
    /// The project's, not shared.
    Local,
}

impl SettingSource {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// The format of the result.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct OutputFormat {
    #[expect(dead_code, reason = "required by the protocol")]
    r#type: OutputType,
    /// A JSON schema.
    pub(crate) schema: Object,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputType {
    JsonSchema,
}

/// A hook.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct HookConfig {
    /// The tools it applies to, such as `Bash` or `Write|Edit`; all if absent.
    pub(crate) matcher: Option<String>,
}

/// A plugin.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Plugin {
    #[expect(dead_code, reason = "there is only one value")]
    r#type: Option<PluginType>,
    /// The directory of the plugin.
    pub(crate) path: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PluginType {
    Local,
}

/// An object that is passed on unchanged.
#[derive(Debug, Clone)]
pub(crate) struct Object(pub(crate) Json);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        if json.text().starts_with('{') {
            return Ok(Self(json));
        }
        Err(serde::de::Error::custom(format!("invalid type: {}, expected an object", kind_of(json.text()))))
    }
}

impl JsonSchema for Object {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Object".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "object"})
    }
}

/// An MCP server: `{type?: "stdio", command, args?, env?}`, `{type: "sse" | "http", url, headers?}`.
#[derive(Debug)]
pub(crate) struct McpServerConfig(pub(crate) Json);

/// A subagent; further fields are passed on.
#[derive(Debug)]
pub(crate) struct AgentDefinition(pub(crate) Json);

/// The sandbox of commands; further fields are passed on.
#[derive(Debug)]
pub(crate) struct SandboxSettings(pub(crate) Json);

mod shapes {
    //! The fields of objects that are passed on unchanged: only checked, never used.
    #![expect(dead_code, reason = "these fields are only checked")]

    use super::{BTreeMap, Deserialize, JsonSchema};

    /// An MCP server.
    #[derive(Deserialize, JsonSchema)]
    pub(super) struct McpServerConfig {
        /// `stdio` if absent.
        r#type: Option<String>,
        /// The program of a `stdio` server.
        command: Option<String>,
        /// The arguments of the program.
        args: Option<Vec<String>>,
        /// The environment of the program.
        env: Option<BTreeMap<String, String>>,
        /// The URL of an `sse` or `http` server.
        url: Option<String>,
        /// HTTP headers to send.
        headers: Option<BTreeMap<String, String>>,
    }

    /// A subagent.
    #[derive(Deserialize, JsonSchema)]
    pub(super) struct AgentDefinition {
        /// When to use the subagent.
        description: String,
        /// The system prompt of the subagent.
        prompt: String,
        /// The tools of the subagent; all if absent.
        tools: Option<Vec<String>>,
        /// `sonnet`, `opus`, `haiku`, `inherit` or a model name.
        model: Option<String>,
    }

    /// The sandbox of commands.
    #[derive(Deserialize, JsonSchema)]
    pub(super) struct SandboxSettings {
        enabled: Option<bool>,
        auto_allow_bash_if_sandboxed: Option<bool>,
        excluded_commands: Option<Vec<String>>,
        allow_unsandboxed_commands: Option<bool>,
        network: Option<SandboxNetwork>,
        ignore_violations: Option<IgnoreViolations>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(clippy::struct_field_names, reason = "the names of the protocol")]
    pub(super) struct SandboxNetwork {
        allow_local_binding: Option<bool>,
        allow_unix_sockets: Option<Vec<String>>,
        allow_all_unix_sockets: Option<bool>,
    }

    #[derive(Deserialize, JsonSchema)]
    pub(super) struct IgnoreViolations {
        file: Option<Vec<String>>,
        network: Option<Vec<String>>,
    }
}

/// Deserializes an object unchanged, after checking its known fields.
macro_rules! pass_through {
    ($($name:ident),*) => {
        $(
            impl<'de> Deserialize<'de> for $name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let Object(json) = Object::deserialize(deserializer)?;
                    let read = &mut serde_json::Deserializer::from_str(json.text());
                    match serde_path_to_error::deserialize::<_, shapes::$name>(read) {
                        Ok(_) => Ok(Self(json)),
                        // the caller knows the path so far; the rest of it goes into the message
                        Err(error) => {
                            let (path, text) = (error.path().to_string(), error.inner().to_string());
                            Err(serde::de::Error::custom(format!("in `{path}`: {text}")))
                        }
                    }
                }
            }

            impl JsonSchema for $name {
                fn schema_name() -> std::borrow::Cow<'static, str> {
                    stringify!($name).into()
                }

                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    shapes::$name::json_schema(generator)
                }
            }
        )*
    };
}

pass_through!(McpServerConfig, AgentDefinition, SandboxSettings);

/// The payload of `session.send`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SendPayload {
    /// The text of the user.
    pub(crate) message: Option<String>,
    /// Content blocks instead of a text, such as images.
    #[schemars(with = "Option<Vec<serde_json::Map<String, Value>>>")]
    pub(crate) content: Option<Vec<Json>>,
}

/// The payload of `query.call`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct QueryPayload {
    /// `supportedModels`, `supportedCommands`, `accountInfo`, `mcpServerStatus`, `setModel`, `setPermissionMode`,
    /// `setMaxThinkingTokens` or `rewindFiles`.
    #[schemars(with = "String")]
    pub(crate) method: Option<String>,
    /// The arguments of the method.
    #[schemars(with = "Option<Vec<Value>>")]
    pub(crate) args: Option<Vec<Json>>,
}

/// Returns the JSON type of a text.
pub(crate) fn kind_of(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}
