//! MCP servers as configured in `mcp.json`.

use std::collections::BTreeMap;
use std::time::Duration;

use musher_model::Secret;
use serde::Deserialize;
use serde_json::Value;

use super::file::Reader;
use super::{Environment, Level, keys};

/// The configuration of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// The level of its file; `None` if a client gave it for a session.
    pub level: Option<Level>,
    /// Its transport.
    pub transport: Transport,
    /// Whether it is disabled.
    pub is_disabled: bool,
    /// If not `None`, all other tools are disabled.
    pub enabled_tools: Option<Vec<String>>,
    /// Disabled tools.
    pub disabled_tools: Vec<String>,
    /// The timeout of a call.
    pub timeout: Option<Duration>,
    /// Whether the user believes which of its tools it calls read-only.
    pub is_hint_trusted: bool,
    /// How the user logs in to it.
    pub oauth: OAuth,
}

/// How the user logs in to a server with OAuth. Everything is optional: the server names what is needed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OAuth {
    /// Whether OAuth is not used.
    pub is_disabled: bool,
    /// The client id, if musher cannot register itself.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<Secret>,
    /// The scopes to request, separated by spaces.
    pub scopes: Option<String>,
    /// The port on loopback that the browser returns to.
    pub callback_port: Option<u16>,
}

/// The transport of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    /// A program that communicates over its stdin and stdout.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Additional environment variables. Often secrets.
        env: Vec<(String, Secret)>,
    },
    /// Streamable HTTP.
    Http {
        /// The URL.
        url: String,
        /// Headers of every request. Often secrets.
        headers: Vec<(String, Secret)>,
    },
    /// The older HTTP+SSE transport.
    Sse {
        /// The URL.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, Secret)>,
    },
}

impl McpServer {
    /// Creates a server that a client gives for a session.
    pub fn of_session(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            level: None,
            transport,
            is_disabled: false,
            enabled_tools: None,
            disabled_tools: Vec::new(),
            timeout: None,
            is_hint_trusted: false,
            oauth: OAuth::default(),
        }
    }
}

impl OAuth {
    /// Reads the value of `oauth`: `false`, or an object.
    pub fn parse(value: Option<&Value>) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields {
            client_id: Option<String>,
            client_secret: Option<Secret>,
            #[serde(default, alias = "scope")]
            scopes: Value,
            callback_port: Option<u16>,
        }
        match value {
            None | Some(Value::Null | Value::Bool(true)) => Ok(Self::default()),
            Some(Value::Bool(false)) => Ok(Self { is_disabled: true, ..Self::default() }),
            Some(value) => {
                let fields =
                    Fields::deserialize(value).map_err(|error| format!("invalid `oauth`: {error}"))?;
                let scopes = match &fields.scopes {
                    Value::Null => None,
                    Value::String(text) => Some(text.clone()),
                    Value::Array(list) => {
                        Some(list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "))
                    }
                    _ => return Err("invalid `oauth.scopes`: expected a list of names".to_owned()),
                };
                Ok(Self {
                    is_disabled: false,
                    client_id: fields.client_id,
                    client_secret: fields.client_secret,
                    scopes: scopes.filter(|scopes| !scopes.is_empty()),
                    callback_port: fields.callback_port,
                })
            }
        }
    }
}

impl Transport {
    /// Returns the protocol's name of the transport.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, Secret>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, Secret>,
    #[serde(default)]
    disabled: bool,
    enabled_tools: Option<Vec<String>>,
    #[serde(default)]
    disabled_tools: Vec<String>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    trust_read_only_hint: bool,
    oauth: Option<Value>,
}

/// Adds the servers of a file. It takes precedence over those before it.
pub(super) fn add(
    servers: &mut Vec<McpServer>,
    reader: &mut Reader<'_>,
    level: Level,
    environment: Environment<'_>,
) {
    let entries = match reader.json.field("mcpServers") {
        None | Some(Value::Null) => return,
        Some(Value::Object(entries)) if entries.is_empty() => return,
        Some(Value::Object(entries)) => entries,
        Some(_) => {
            // which servers are disabled is unknown
            let severity = reader.severity();
            return reader.report("mcpServers", "expected an object with a name as each key", severity);
        }
    };
    if !reader.is_file_trusted {
        return reader.ignore("mcpServers");
    }
    for (name, value) in entries {
        // even if this entry is invalid: it may disable the server
        servers.retain(|other| other.name != *name);
        let field = format!("mcpServers.{name}");
        match parse_server(name, value, level, environment) {
            Ok(server) => servers.push(server),
            Err(message) => reader.complain(&field, message),
        }
        // other programs add keys of their own to this format
        keys::check(reader, value.as_object(), &field, keys::SERVER, true);
    }
}

/// Reads one entry of `mcpServers`.
pub fn parse_server(
    name: &str,
    value: &Value,
    level: Level,
    environment: Environment<'_>,
) -> Result<McpServer, String> {
    let entry = Entry::deserialize(value).map_err(|error| error.to_string())?;
    let expand = |field: &str, text: &str| expand(field, text, environment);
    let pairs = |field: &str, map: BTreeMap<String, Secret>| -> Result<Vec<_>, String> {
        map.into_iter().map(|(name, value)| Ok((name, Secret::new(expand(field, value.expose())?)))).collect()
    };
    let transport = match (entry.kind.as_deref(), entry.command, entry.url) {
        (None | Some("stdio"), Some(command), _) => Transport::Stdio {
            command: expand("command", &command)?,
            args: entry.args.iter().map(|arg| expand("args", arg)).collect::<Result<_, _>>()?,
            env: pairs("env", entry.env)?,
        },
        (Some("sse"), _, Some(url)) => {
            Transport::Sse { url: expand("url", &url)?, headers: pairs("headers", entry.headers)? }
        }
        (None | Some("http" | "streamable-http" | "streamableHttp"), _, Some(url)) => {
            Transport::Http { url: expand("url", &url)?, headers: pairs("headers", entry.headers)? }
        }
        (Some("stdio") | None, None, _) => return Err("`command` is missing".to_owned()),
        (Some("http" | "streamable-http" | "streamableHttp" | "sse"), _, None) => {
            return Err("`url` is missing".to_owned());
        }
        (Some(other), _, _) => return Err(format!("unknown type `{other}`: use stdio, http or sse")),
    };
    Ok(McpServer {
        name: name.to_owned(),
        level: Some(level),
        transport,
        is_disabled: entry.disabled,
        enabled_tools: entry.enabled_tools,
        disabled_tools: entry.disabled_tools,
        timeout: entry.timeout_ms.map(Duration::from_millis),
        is_hint_trusted: entry.trust_read_only_hint,
        oauth: OAuth::parse(entry.oauth.as_ref()).and_then(|oauth| {
            let secret =
                oauth.client_secret.as_ref().map(|secret| expand("oauth.clientSecret", secret.expose()));
            Ok(OAuth { client_secret: secret.transpose()?.map(Secret::new), ..oauth })
        })?,
    })
}

/// Expands `${NAME}` and `${NAME:-default}` to environment variables.
fn expand(field: &str, text: &str, environment: Environment<'_>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, end)) = after.split_once('}') else { break };
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let value = environment(name).or_else(|| default.map(str::to_owned));
        let value = value.ok_or_else(|| format!("`{field}` needs the variable {name}, which is not set"))?;
        out.push_str(before);
        out.push_str(&value);
        rest = end;
    }
    out.push_str(rest);
    Ok(out)
}
