//! A tool of a server, as the engine and its clients see it.

use std::collections::HashSet;
use std::sync::Arc;

use rmcp::model::Tool;
use serde_json::{Map, Value};

use super::names;
use crate::McpToolView;
use musher_config::McpServer;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct McpTool {
    /// Its name for the model, unique among all tools of all servers.
    pub model_name: String,
    /// The server.
    pub server: String,
    /// Its name on the server.
    pub name: String,
    /// Its description.
    pub description: Option<String>,
    /// The schema of its arguments.
    pub schema: Arc<Map<String, Value>>,
    /// Whether the server declares it read-only.
    pub is_read_only: Option<bool>,
    /// Whether the user believes this declaration.
    pub is_hint_trusted: bool,
    /// Whether it is enabled.
    pub is_enabled: bool,
}

/// The maximum length of a description, in bytes.
const MAX_DESCRIPTION: usize = 16 << 10;

impl McpTool {
    /// Returns the entry for lists of clients.
    pub fn view(&self) -> McpToolView {
        McpToolView {
            server: self.server.clone(),
            name: self.name.clone(),
            description: self.description.clone(),
            enabled: self.is_enabled,
            read_only: self.is_read_only,
            schema: Value::Object((*self.schema).clone()),
        }
    }

    /// Returns how clients name it.
    pub fn id(&self) -> String {
        format!("mcp_{}_{}", self.server, self.name)
    }
}

/// Converts a tool, with a unique name for the model.
pub(super) fn typed(server: &McpServer, tool: &Tool, taken: &mut HashSet<String>) -> McpTool {
    let description = tool.description.as_deref().map(|text| {
        let mut end = text.len().min(MAX_DESCRIPTION);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text[..end].to_owned()
    });
    McpTool {
        model_name: names::model_name(&server.name, &tool.name, taken),
        server: server.name.clone(),
        name: tool.name.clone().into_owned(),
        description,
        schema: Arc::clone(&tool.input_schema),
        is_read_only: tool.annotations.as_ref().and_then(|annotations| annotations.read_only_hint),
        is_hint_trusted: server.is_hint_trusted,
        is_enabled: is_enabled(server, &tool.name),
    }
}

/// Returns whether a tool is enabled.
pub(super) fn is_enabled(server: &McpServer, tool: &str) -> bool {
    let is_named = |list: &Vec<String>| list.iter().any(|name| name == tool);
    server.enabled_tools.as_ref().is_none_or(is_named) && !is_named(&server.disabled_tools)
}
