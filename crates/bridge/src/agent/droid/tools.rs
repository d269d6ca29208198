//! Tools by name: what front ends written for Claude Code call them, what the agent calls them, and rules about them. Pure.
//!
//! A rule that is not understood allows nothing: the front end is asked then.

use musher::Mismatch;
use musher::wire::{PermissionDetails, PermissionToolUse};

/// The names in Claude Code that are others here.
const NAMES: [(&str, &str); 9] = [
    ("Bash", "Execute"),
    ("Write", "Create"),
    ("MultiEdit", "Edit"),
    ("NotebookEdit", "Edit"),
    ("WebFetch", "FetchUrl"),
    ("Agent", "Task"),
    ("AskUserQuestion", ASK_USER),
    ("ExitPlanMode", EXIT_SPEC_MODE),
    ("KillShell", "TaskStop"),
];

/// The names that models use, and the ids that settings use.
const IDS: [(&str, &str); 21] = [
    ("Read", "read-cli"),
    ("LS", "ls-cli"),
    ("Grep", "grep_tool_cli"),
    ("Glob", "glob-search-cli"),
    ("Execute", "execute-cli"),
    ("Edit", "edit-cli"),
    // some models patch instead of editing and creating
    ("Edit", "apply-patch-cli"),
    ("Create", "create-cli"),
    ("Create", "apply-patch-cli"),
    ("ApplyPatch", "apply-patch-cli"),
    ("TodoWrite", "todo_write"),
    ("WebSearch", "web_search"),
    ("FetchUrl", "fetch_url"),
    ("Skill", "skill"),
    ("ToolSearch", "tool-search-cli"),
    ("AskUser", "ask-user"),
    ("ExitSpecMode", "exit-spec-mode"),
    ("Task", "task-cli"),
    ("TaskOutput", "task-output-cli"),
    ("TaskStop", "task-stop-cli"),
    ("GenerateImage", "generate-image"),
];

pub(super) const ASK_USER: &str = "AskUser";
pub(super) const EXIT_SPEC_MODE: &str = "ExitSpecMode";

/// Returns the agent's name for a tool.
pub(super) fn name(theirs: &str) -> String {
    if let Some(rest) = theirs.strip_prefix("mcp__") {
        let (server, tool) = rest.split_once("__").unwrap_or((rest, ""));
        // the name of a server is the prefix of all its tools
        return format!("{server}___{}", if tool == "*" { "" } else { tool });
    }
    NAMES.iter().find(|(claude, _)| *claude == theirs).map_or(theirs, |(_, ours)| ours).to_owned()
}

/// Returns the name for a tool in the front end's protocol, where that has one.
pub(super) fn told_name(ours: &str) -> String {
    match ours {
        ASK_USER => "AskUserQuestion".to_owned(),
        EXIT_SPEC_MODE => "ExitPlanMode".to_owned(),
        _ => match ours.split_once("___") {
            Some((server, tool)) => format!("mcp__{server}__{tool}"),
            None => ours.to_owned(),
        },
    }
}

/// Returns the ids of a tool in settings; none if there is no such tool.
pub(super) fn ids(theirs: &str) -> Vec<String> {
    let name = name(theirs);
    let ids =
        IDS.iter().filter(|(known, id)| *known == name || *id == theirs).map(|(_, id)| (*id).to_owned());
    let mut ids: Vec<_> = ids.collect();
    ids.dedup();
    ids
}

/// Returns the ids of all tools that are known.
pub(super) fn all_ids() -> Vec<String> {
    let mut ids: Vec<_> = IDS.iter().map(|(_, id)| (*id).to_owned()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Rules that allow tool calls without a permission request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rules(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// The agent's name of the tool.
    tool: String,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Everything,
    /// A command, word for word.
    Command(String),
    /// Commands that begin so.
    Commands(String),
    /// A rule that is not understood.
    Nothing,
}

impl Rules {
    /// Adds a rule such as `Read`, `Bash(git diff:*)` or `mcp__server__tool`; false if it is not understood.
    pub(super) fn add(&mut self, text: &str) -> bool {
        match text.split_once('(').map(|(tool, rest)| (tool, rest.strip_suffix(')').unwrap_or(rest))) {
            None => self.add_parts(text, None),
            Some((tool, content)) => self.add_parts(tool, Some(content)),
        }
    }

    /// [`add`](Self::add) with the parts of a rule.
    pub(super) fn add_parts(&mut self, tool: &str, content: Option<&str>) -> bool {
        let tool = name(tool);
        let what = match content {
            None | Some("" | "*") => What::Everything,
            Some(content) if tool == "Execute" => {
                let prefix = content.strip_suffix(":*").or_else(|| content.strip_suffix(" *"));
                prefix.map_or_else(|| What::Command(content.to_owned()), |it| What::Commands(it.to_owned()))
            }
            Some(_) => What::Nothing,
        };
        let is_understood = what != What::Nothing;
        self.0.push(Rule { tool, what });
        is_understood
    }

    /// Adds a rule for one command, word for word, whatever characters it ends with.
    pub(super) fn add_command(&mut self, tool: &str, command: &str) {
        self.0.push(Rule { tool: name(tool), what: What::Command(command.to_owned()) });
    }

    /// Returns whether one of them allows this call.
    pub(super) fn allow(&self, asked: &PermissionToolUse) -> bool {
        self.0.iter().any(|rule| rule.allows(asked))
    }
}

impl Rule {
    fn allows(&self, asked: &PermissionToolUse) -> bool {
        let tool = &asked.tool_use.name;
        let is_of_server = self.tool.ends_with("___") && tool.starts_with(&self.tool);
        if *tool != self.tool && !is_of_server {
            return false;
        }
        let PermissionDetails::Exec(_) = &asked.details else { return self.what == What::Everything };
        // a rule is about what runs: it says nothing about a call that is described otherwise
        let Some(command) = shown_command(asked) else { return false };
        let command = command.trim();
        match &self.what {
            What::Everything => true,
            What::Command(allowed) => command == allowed.trim(),
            What::Commands(prefix) => {
                let rest = command.strip_prefix(prefix.as_str());
                // more than one command could hide behind the first
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')) && is_one_command(command)
            }
            What::Nothing => false,
        }
    }
}

/// Returns the command of a request, if its details show the command of the call itself.
pub(super) fn shown_command(asked: &PermissionToolUse) -> Option<&str> {
    let PermissionDetails::Exec(exec) = &asked.details else { return None };
    Mismatch::of(asked).is_empty().then_some(exec.full_command.as_str())
}

fn is_one_command(command: &str) -> bool {
    command.chars().all(|letter| letter.is_alphanumeric() || " _-./:=,@%+~^'\"".contains(letter))
}

#[cfg(test)]
mod tests {
    use musher::wire::ToolUse;
    use serde_json::json;

    use super::*;

    fn runs(command: &str) -> PermissionToolUse {
        serde_json::from_value(json!({
            "toolUse": {"type": "tool_use", "id": "c", "name": "Execute", "input": {"command": command}},
            "confirmationType": "exec", "details": {"type": "exec", "fullCommand": command}
        }))
        .unwrap()
    }

    fn uses(tool: &str) -> PermissionToolUse {
        let mut asked = runs("");
        asked.tool_use = ToolUse::new("c", tool, json!({}));
        asked.details = serde_json::from_value(json!({"type": "mcp_tool", "toolName": tool}))
            .expect("a tool of a server");
        asked
    }

    fn rules(texts: &[&str]) -> Rules {
        let mut rules = Rules::default();
        for text in texts {
            rules.add(text);
        }
        rules
    }

    #[test]
    fn command_with_a_pattern_at_its_end_stays_exact() {
        let mut rules = Rules::default();
        rules.add_command("Bash", "rm *");
        assert!(rules.allow(&runs("rm *")));
        for command in ["rm -rf x", "rm x", "rm"] {
            assert!(!rules.allow(&runs(command)), "{command}");
        }
    }

    #[test]
    fn call_that_is_described_otherwise_is_covered_by_no_rule() {
        let mut asked = runs("ls");
        asked.tool_use = ToolUse::new("c", "Execute", json!({"command": "rm x"}));
        assert!(!rules(&["Bash", "Bash(ls)", "Bash(rm x)"]).allow(&asked));
    }

    #[test]
    fn prefix_allows_one_command_and_never_a_second_behind_it() {
        let rules = rules(&["Bash(git diff:*)", "Bash(npm test)", "Bash(make *)"]);
        for command in ["git diff", "git diff --stat src", "npm test", "make all"] {
            assert!(rules.allow(&runs(command)), "{command}");
        }
        for command in [
            "git difftool",
            "git diff; rm x",
            "git diff $(rm x)",
            "git diff\nrm x",
            "git diff > x",
            "npm test x",
        ] {
            assert!(!rules.allow(&runs(command)), "{command}");
        }
    }

    #[test]
    fn names_of_both_agents_and_whole_servers_are_understood() {
        let rules = rules(&["Bash", "Read", "mcp__probe__peek", "mcp__files", "mcp__notes__*"]);
        for asked in [runs("rm -rf x"), uses("probe___peek"), uses("files___read"), uses("notes___add")] {
            assert!(rules.allow(&asked));
        }
        for asked in [uses("probe___poke"), uses("Read___all"), uses("filesystem___read")] {
            assert!(!rules.allow(&asked), "{asked:?}");
        }
        assert_eq!(told_name("probe___peek"), "mcp__probe__peek");
        assert_eq!(ids("Write"), ["create-cli", "apply-patch-cli"]);
        assert_eq!(ids("execute-cli"), ["execute-cli"]);
        assert!(ids("Nothing").is_empty());
    }

    #[test]
    fn rule_that_is_not_understood_allows_nothing() {
        let mut rules = Rules::default();
        assert!(!rules.add("Edit(src/**)"));
        assert!(!rules.allow(&uses("Edit")));
    }
}
