//! The names that clients use to enable or disable tools of servers. Pure.
//!
//! A client names a tool as the model does (`server___tool`), as `MCP:server/tool`, or all tools of a server as
//! `MCP:server`. In the latter two, ambiguous bytes are percent-encoded.

use super::{McpTool, names};
use musher_config::ToolSelection;

/// Returns whether the selection of a session includes a tool. Disabling takes precedence.
pub fn is_selected(tool: &McpTool, selection: &ToolSelection) -> bool {
    let named = |list: &[String]| is_named(list, tool);
    tool.is_enabled
        && !named(&selection.disabled)
        && (selection.restricted.is_empty() || named(&selection.restricted) || named(&selection.additional))
}

/// Returns whether a list names a tool.
pub fn is_named(list: &[String], tool: &McpTool) -> bool {
    list.iter().any(|entry| means(entry, tool))
}

/// Returns whether an entry may name tools of one of these servers, whose tools need not be known.
pub fn may_mean(entry: &str, servers: &[String]) -> bool {
    let may_mean = |server: &String| match entry.strip_prefix("MCP:") {
        Some(selector) => {
            decoded(selector.split_once('/').map_or(selector, |(server, _)| server)) == server.as_bytes()
        }
        None => names::may_be_of(entry, server) || entry.starts_with(&format!("mcp_{server}_")),
    };
    servers.iter().any(may_mean)
}

fn means(entry: &str, tool: &McpTool) -> bool {
    let Some(selector) = entry.strip_prefix("MCP:") else {
        return entry == tool.model_name || entry == tool.id();
    };
    match selector.split_once('/') {
        None => decoded(selector) == tool.server.as_bytes(),
        Some((server, name)) => {
            decoded(server) == tool.server.as_bytes() && decoded(name) == tool.name.as_bytes()
        }
    }
}

/// Decodes percent-encoded text. A percent sign without two digits stays as it is.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let encoded = match (first, behind) {
            (b'%', [high, low, ..]) => digit(*high).zip(digit(*low)).map(|(high, low)| (high << 4) | low),
            _ => None,
        };
        bytes.push(encoded.unwrap_or(*first));
        rest = if encoded.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn tool(server: &str, name: &str) -> McpTool {
        McpTool {
            model_name: format!("{server}___{name}"),
            server: server.to_owned(),
            name: name.to_owned(),
            description: None,
            schema: Arc::default(),
            is_read_only: None,
            is_hint_trusted: false,
            is_enabled: true,
        }
    }

    fn without(disabled: &str) -> ToolSelection {
        ToolSelection { disabled: vec![disabled.to_owned()], ..ToolSelection::default() }
    }

    fn only(restricted: &str) -> ToolSelection {
        ToolSelection { restricted: vec![restricted.to_owned()], ..ToolSelection::default() }
    }

    #[test]
    fn every_way_to_name_a_tool_switches_it_off_or_leaves_only_it() {
        let log = tool("git", "log");
        for name in ["git___log", "mcp_git_log", "MCP:git", "MCP:git/log", "MCP:%67it/lo%67"] {
            assert!(!is_selected(&log, &without(name)), "{name}");
            assert!(is_selected(&log, &only(name)), "{name}");
        }
        for name in ["git", "log", "MCP:", "MCP:gi", "MCP:git/", "MCP:git/lo", "MCP:other/log", "mcp:git"] {
            assert!(is_selected(&log, &without(name)), "{name}");
            assert!(!is_selected(&log, &only(name)), "{name}");
        }
    }

    #[test]
    fn names_with_slashes_and_percent_signs_are_written_with_percent_signs() {
        assert!(is_selected(&tool("a/b", "50%"), &only("MCP:a%2Fb/50%25")));
        assert!(is_selected(&tool("a", "50%"), &only("MCP:a/50%")));
        assert!(!is_selected(&tool("a/b", "c"), &only("MCP:a/b/c")));
    }

    #[test]
    fn disabled_tool_stays_disabled() {
        let selection = ToolSelection {
            disabled: vec!["MCP:git/log".to_owned()],
            restricted: vec!["MCP:git".to_owned()],
            additional: vec!["git___log".to_owned()],
            ..ToolSelection::default()
        };
        assert!(!is_selected(&tool("git", "log"), &selection));
        assert!(is_selected(&tool("git", "show"), &selection));
    }
}
