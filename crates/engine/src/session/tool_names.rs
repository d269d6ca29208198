//! How clients name tools: by id or by the name that the model uses. Pure.

use musher_tools::{Registry, ToolInfo};

use crate::{SettingsChange, mcp};

/// Tools of droid that depend on its services, by id and name. Clients written for droid may disable them.
const OF_DROID: [(&str, &str); 11] = [
    ("ConnectorSearch", "ConnectorSearch"),
    ("dismiss-handoff-items", "DismissHandoffItems"),
    ("end-feature-run", "EndFeatureRun"),
    ("generate-droid-cli", "GenerateDroid"),
    ("generate-image", "GenerateImage"),
    ("loop-cli", "Loop"),
    ("propose-mission", "ProposeMission"),
    ("slack_post_file", "slack_post_file"),
    ("stage_settings_changes", "StageSettingsChanges"),
    ("start-mission-run", "StartMissionRun"),
    ("web_search", "WebSearch"),
];

/// Returns whether a list names a tool. As in droid, the case does not matter.
pub(super) fn are_naming(list: &[String], info: &ToolInfo) -> bool {
    list.iter().any(|text| is_name(text, info.id, info.name))
}

fn is_name(text: &str, id: &str, name: &str) -> bool {
    text.eq_ignore_ascii_case(id) || text.eq_ignore_ascii_case(name)
}

/// The texts in tool lists of a client that name no tool of a session.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unmatched {
    /// They name nothing, here and in droid.
    pub(crate) unknown: Vec<String>,
    /// They name tools that only droid has, in lists that do not disable them.
    pub(crate) missing: Vec<String>,
}

impl Unmatched {
    /// Checks the tool lists of a change of settings, and `ids`. The tools of the MCP servers are not checked: a server may connect later.
    pub(crate) fn of(
        change: &SettingsChange,
        ids: Option<&[String]>,
        registry: &Registry,
        servers: &[String],
    ) -> Self {
        let mut unmatched = Self::default();
        let lists = [
            (change.disabled_tools.as_deref(), true),
            (change.enabled_tools.as_deref(), false),
            (change.additional_tools.as_deref(), false),
            (change.restricted_tools.as_deref(), false),
            (ids, false),
        ];
        for (list, is_disabling) in lists {
            for text in list.unwrap_or_default() {
                let is_there = registry.infos().any(|info| is_name(text, info.id, info.name));
                let to = if is_there || mcp::may_mean(text, servers) {
                    continue;
                } else if OF_DROID.iter().any(|(id, name)| is_name(text, id, name)) {
                    if is_disabling {
                        continue;
                    }
                    &mut unmatched.missing
                } else {
                    &mut unmatched.unknown
                };
                if !to.contains(text) {
                    to.push(text.clone());
                }
            }
        }
        unmatched
    }

    /// Returns what is wrong, in one text; `None` if nothing is.
    pub(crate) fn problem(&self) -> Option<String> {
        let quoted =
            |list: &[String]| list.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ");
        let unknown = (!self.unknown.is_empty()).then(|| format!("unknown tools: {}", quoted(&self.unknown)));
        let missing = (!self.missing.is_empty())
            .then(|| format!("tools that are not available: {}", quoted(&self.missing)));
        match (unknown, missing) {
            (Some(unknown), Some(missing)) => Some(format!("{unknown}; {missing}")),
            (one, other) => one.or(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(list: &[&str]) -> Vec<String> {
        list.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn tool_is_named_by_id_and_by_name_in_any_case() {
        let registry = Registry::builtin();
        let execute = registry.info("Execute").unwrap();
        for text in ["Execute", "execute-cli", "execute", "EXECUTE-CLI"] {
            assert!(are_naming(&texts(&[text]), execute), "{text}");
        }
        for text in ["", "Exec", "Execute ", "read-cli"] {
            assert!(!are_naming(&texts(&[text]), execute), "{text}");
        }
    }

    #[test]
    fn names_that_match_nothing_are_found_in_every_list() {
        let servers = texts(&["git", "my server"]);
        let change = SettingsChange {
            enabled_tools: Some(texts(&["FetchUrl", "Nope", "WebSearch", "MCP:git/log"])),
            disabled_tools: Some(texts(&[
                "execute",
                "web_search",
                "Loop",
                "Never",
                "my_server___log_0a1b2c3d",
            ])),
            additional_tools: Some(texts(&["MCP:svn", "svn___log"])),
            restricted_tools: Some(texts(&["read-cli", "Never", "mcp_git_log"])),
            ..SettingsChange::default()
        };
        let found = Unmatched::of(&change, Some(&texts(&["Grep", "greb"])), &Registry::builtin(), &servers);
        assert_eq!(found.unknown, ["Never", "Nope", "MCP:svn", "svn___log", "greb"]);
        assert_eq!(found.missing, ["WebSearch"]);
        let text = found.problem().unwrap();
        assert!(text.ends_with("`greb`; tools that are not available: `WebSearch`"), "{text}");
        let none = Unmatched::of(&SettingsChange::default(), None, &Registry::builtin(), &[]);
        assert_eq!(none.problem(), None);
    }
}
