//! One question about several calls: only what every one of them offers is offered.

use super::{Choice, Kind, PermissionRequest};

/// The answers that fit all of these requests.
pub(crate) fn common_choices(requests: &[&PermissionRequest]) -> Vec<Choice> {
    let Some((first, others)) = requests.split_first() else { return Vec::new() };
    let fits = |choice: &&Choice| {
        others.iter().all(|other| other.choices.contains(choice) && is_same(**choice, first, other))
    };
    first.choices.iter().filter(fits).copied().collect()
}

/// Whether an answer that is remembered for a tool or a server means the same for both.
fn is_same(choice: Choice, one: &PermissionRequest, other: &PermissionRequest) -> bool {
    let (
        Kind::McpTool { server, actual_tool, .. },
        Kind::McpTool { server: other_server, actual_tool: other_tool, .. },
    ) = (&one.kind, &other.kind)
    else {
        return true;
    };
    match choice {
        Choice::ProceedAlwaysServer => server == other_server,
        Choice::ProceedAlwaysTools => server == other_server && actual_tool == other_tool,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use musher_tools::{Access, Risk};

    use super::*;

    fn request(kind: Kind, choices: &[Choice]) -> PermissionRequest {
        PermissionRequest { kind, risk: Risk::High, choices: choices.to_vec(), access: Access::Workspace }
    }

    fn exec(choices: &[Choice]) -> PermissionRequest {
        let kind = Kind::Exec {
            full_command: "x".to_owned(),
            command: "x".to_owned(),
            extracted_commands: Vec::new(),
            reason: None,
        };
        request(kind, choices)
    }

    fn mcp(server: &str, tool: &str) -> PermissionRequest {
        let kind = Kind::McpTool {
            tool_name: format!("{server}___{tool}"),
            server: server.to_owned(),
            actual_tool: tool.to_owned(),
        };
        request(kind, Choice::MCP)
    }

    #[test]
    fn one_call_that_is_always_asked_for_takes_always_from_all() {
        let (usual, always) = (exec(Choice::CALL), exec(Choice::ONCE));
        assert_eq!(common_choices(&[&usual, &usual]), Choice::CALL);
        assert_eq!(common_choices(&[&usual, &always]), Choice::ONCE);
        assert_eq!(common_choices(&[&always, &usual]), Choice::ONCE);
        assert!(common_choices(&[]).is_empty());
    }

    #[test]
    fn a_tool_or_a_server_is_only_remembered_if_all_calls_are_of_it() {
        let common = |one: PermissionRequest, other: PermissionRequest| common_choices(&[&one, &other]);
        assert_eq!(common(mcp("a", "x"), mcp("a", "x")), Choice::MCP);
        let of_server = common(mcp("a", "x"), mcp("a", "y"));
        assert!(of_server.contains(&Choice::ProceedAlwaysServer));
        assert!(!of_server.contains(&Choice::ProceedAlwaysTools));
        assert_eq!(common(mcp("a", "x"), mcp("b", "x")), Choice::CALL);
        assert_eq!(common(mcp("a", "x"), exec(Choice::CALL)), Choice::CALL);
    }
}
