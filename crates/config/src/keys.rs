//! The known keys of settings files, and the problems for unknown ones. Pure.
//!
//! Unknown keys are reported, never removed: they may belong to a newer version, or to droid.

use serde_json::{Map, Value};

use super::Severity;
use super::file::Reader;

/// The keys of a settings file that the engine reads.
const SETTINGS: &[&str] = &[
    "allowManagedHooksOnly",
    "allowedVariables",
    "blockOnMcpLoad",
    "builtInToolAutonomyOverrides",
    "commandAllowlist",
    "commandBlocklist",
    "commandDenylist",
    "compactionTokenLimit",
    "compactionTokenLimitPerModel",
    "customModels",
    "disabledSkills",
    "hooks",
    "hooksDisabled",
    "llmRequestTimeout",
    "maxAutonomyLevel",
    "mcp",
    "mcpPolicy",
    "model",
    "modelOverrides",
    "modelPolicy",
    "reasoningEffort",
    "sandbox",
    "sessionDefaultSettings",
    "specSaveDir",
    "subagentAutonomyLevel",
];

/// The keys of `sessionDefaultSettings`.
const SESSION_DEFAULTS: &[&str] = &[
    "autonomyLevel",
    "interactionMode",
    "model",
    "reasoningEffort",
    "specModeModel",
    "specModeReasoningEffort",
];

/// The keys of `mcp`.
const MCP: &[&str] = &["callTimeoutMs"];

/// The keys of an MCP server.
pub(super) const SERVER: &[&str] = &[
    "args",
    "command",
    "disabled",
    "disabledTools",
    "enabledTools",
    "env",
    "headers",
    "oauth",
    "timeoutMs",
    "trustReadOnlyHint",
    "type",
    "url",
];

/// Documented settings of droid for features that the engine does not have.
/// From <https://docs.factory.ai/cli/configuration/settings>.
const OF_DROID: &[&str] = &[
    "awaitingInputSound",
    "byomComputersEnabled",
    "cloudSessionSync",
    "compactionModelMode",
    "completionSound",
    "diffMode",
    "disableUsageLimitAlerts",
    "disableWeeklyUsageSummary",
    "enableCustomDroids",
    "enableDroidShield",
    "enabledPlugins",
    "extraKnownMarketplaces",
    "ideAutoConnect",
    "includeCoAuthoredByDroid",
    "keepSystemAwakeDuringMissions",
    "logoAnimation",
    "managedComputersEnabled",
    "missionModelSettings",
    "missionOrchestratorModel",
    "missionOrchestratorReasoningEffort",
    "missionPolicy",
    "nerdFont",
    "networkPolicy",
    "overrideTerminalColors",
    "restrictApiKeyCreationToManagers",
    "restrictMemberVisibility",
    "sessionRetentionDays",
    "showHookOutput",
    "showThinkingInMainView",
    "showTokenUsageIndicator",
    "soundFocusMode",
    "specSaveEnabled",
    "statusLine",
    "strictKnownMarketplaces",
    "subagentModelSettings",
    "subagentSounds",
    "theme",
    "todoDisplayMode",
    "toolResultDisplay",
    "userModelPolicies",
    "wikiCloudSync",
    "worktreeDirectory",
];

/// The minimum similarity at which one key counts as a misspelling of the other.
const MIN_SIMILARITY: f64 = 0.85;

/// Reports the unknown keys of a settings file.
///
/// A file of droid may have keys that are newer than our list, so only misspellings are reported there.
pub(super) fn check_settings(reader: &mut Reader<'_>, is_of_droid: bool) {
    let json = reader.json;
    let tables = [("", SETTINGS), ("sessionDefaultSettings", SESSION_DEFAULTS), ("mcp", MCP)];
    for (name, known) in tables {
        let table =
            if name.is_empty() { Some(json.map()) } else { json.field(name).and_then(Value::as_object) };
        check(reader, table, name, known, is_of_droid);
    }
}

/// Reports the unknown keys of one table, or only those that look like a known one.
pub(super) fn check(
    reader: &mut Reader<'_>,
    table: Option<&Map<String, Value>>,
    name: &str,
    known: &[&str],
    only_misspelled: bool,
) {
    for key in table.into_iter().flat_map(Map::keys) {
        let is_known = known.contains(&key.as_str()) || (name.is_empty() && OF_DROID.contains(&key.as_str()));
        if is_known || is_comment(key) || (only_misspelled && closest(key, known).is_none()) {
            continue;
        }
        let field = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        reader.report(&field, unknown("key", key, known), Severity::Warning);
    }
}

/// Returns the message for an unknown name, with the closest known name.
pub(super) fn unknown(what: &str, given: &str, known: &[&str]) -> String {
    match closest(given, known) {
        Some(meant) => format!("unknown {what}, did you mean `{meant}`?"),
        None => format!("unknown {what}"),
    }
}

/// Returns whether a key is a comment, or names the schema of the file.
pub(super) fn is_comment(key: &str) -> bool {
    key.starts_with(['$', '_', '/', '#'])
}

/// Returns the most similar known key, if one is similar enough.
fn closest<'a>(given: &str, known: &[&'a str]) -> Option<&'a str> {
    let given = given.to_lowercase();
    let similarity = |key: &str| strsim::jaro_winkler(&given, &key.to_lowercase());
    let rated = known.iter().map(|key| (similarity(key), *key));
    let best = rated.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (best.0 >= MIN_SIMILARITY).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_keys_lead_to_the_closest_known_one() {
        for (given, meant) in [
            ("commandBlockList", Some("commandBlocklist")),
            ("commandBlacklist", Some("commandBlocklist")),
            ("comandDenylist", Some("commandDenylist")),
            ("maxAutonomy", Some("maxAutonomyLevel")),
            ("maxAutonomyLvl", Some("maxAutonomyLevel")),
            ("disableSkills", Some("disabledSkills")),
            ("x", None),
        ] {
            assert_eq!(closest(given, SETTINGS), meant, "{given}");
        }
        assert_eq!(closest("autonomyMode", SESSION_DEFAULTS), Some("autonomyLevel"));
        for key in ["description", "autoApprove", "alwaysAllow", "cwd", "name", "transport"] {
            assert_eq!(closest(key, SERVER), None, "{key}");
        }
    }

    #[test]
    fn page_has_every_setting_and_no_other() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/configuration.md");
        let page = fs_err::read_to_string(page).unwrap();
        let (_, section) = page.split_once("\n## Settings\n").unwrap();
        let rows = section.lines().skip_while(|line| !line.starts_with('|')).skip(2);
        let rows = rows.take_while(|line| line.starts_with('|'));
        let cells = rows.map(|row| row.split(" | ").next().unwrap());
        let documented: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
        let sorted = |names: Vec<&str>| {
            names.into_iter().map(str::to_owned).collect::<std::collections::BTreeSet<_>>()
        };
        let top_level = documented.iter().filter_map(|name| name.split('.').next()).collect();
        assert_eq!(sorted(top_level), sorted(SETTINGS.to_vec()));
        for (parent, keys) in [("sessionDefaultSettings.", SESSION_DEFAULTS), ("mcp.", MCP)] {
            let nested = documented.iter().filter_map(|name| name.strip_prefix(parent)).collect();
            assert_eq!(sorted(nested), sorted(keys.to_vec()), "{parent}");
        }
    }

    #[test]
    fn keys_of_droid_are_not_taken_for_misspellings() {
        for key in OF_DROID {
            assert!(!SETTINGS.contains(key), "{key}");
        }
    }
}
