//! The list of known differences. An unlisted difference is an error, and so is a listed difference that does not occur.

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

use super::compare::Difference;
use super::play::folder;

/// One entry: a reason, and the differences it explains.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Known {
    /// Why musher differs.
    #[expect(dead_code, reason = "for readers; the field is required")]
    reason: String,
    differences: Vec<Pattern>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pattern {
    /// The scenarios that show the difference. Each must.
    #[serde(rename = "in")]
    scenarios: Vec<String>,
    /// Whether other scenarios may show it too.
    #[serde(default)]
    elsewhere: bool,
    /// Whether it may be absent: two events race in droid.
    #[serde(default)]
    sometimes: bool,
    /// The kind of message; `*` stands for any text.
    message: String,
    /// The field, as a JSON pointer; `*` stands for any text. Absent for the whole message.
    #[serde(default)]
    at: String,
    /// Droid's value; absent for any. In a text, `*` stands for any text.
    droid: Option<Value>,
    /// The same for musher.
    musher: Option<Value>,
}

/// Reads the list.
pub(crate) fn read() -> Result<Vec<Known>> {
    let path = folder().join("known-differences.yaml");
    let text = fs_err::read_to_string(&path)?;
    serde_saphyr::from_str(&text).with_context(|| format!("in {}", path.display()))
}

#[cfg(test)]
impl Known {
    /// Returns the scenarios that the entry names.
    pub(crate) fn scenarios(&self) -> impl Iterator<Item = &String> {
        self.differences.iter().flat_map(|pattern| &pattern.scenarios)
    }
}

/// Checks the differences of a scenario; returns the unlisted ones, and the listed ones that did not occur.
pub(crate) fn check(scenario: &str, found: &[Difference], known: &[Known]) -> Vec<String> {
    let patterns: Vec<_> = known.iter().flat_map(|entry| &entry.differences).collect();
    let is_meant = |pattern: &Pattern| pattern.scenarios.iter().any(|name| name == scenario);
    let unknown = found.iter().filter(|difference| {
        !patterns
            .iter()
            .any(|pattern| (pattern.elsewhere || is_meant(pattern)) && pattern.matches(difference))
    });
    let gone = patterns.iter().filter(|pattern| {
        is_meant(pattern) && !pattern.sometimes && !found.iter().any(|difference| pattern.matches(difference))
    });
    let gone =
        gone.map(|pattern| format!("known, but not seen any more: {} {}\n", pattern.message, pattern.at));
    unknown.map(ToString::to_string).chain(gone).collect()
}

impl Pattern {
    fn matches(&self, difference: &Difference) -> bool {
        let is = |wanted: &Option<Value>, found: &Option<Value>| match (wanted, found) {
            (None, _) => true,
            (Some(Value::String(pattern)), Some(Value::String(text))) => like(pattern, text),
            _ => wanted == found,
        };
        like(&self.message, &difference.kind)
            && like(&self.at, &difference.at)
            && is(&self.droid, &difference.droid)
            && is(&self.musher, &difference.musher)
    }
}

/// Whether a text matches a pattern, in which `*` stands for any text.
fn like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|tail| {
            tail.char_indices().map(|(at, _)| at).chain([tail.len()]).any(|at| like(rest, &tail[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn star_stands_for_any_text() {
        assert!(like("answer * to droid.list_tools", "answer 3 to droid.list_tools"));
        assert!(like("/result/*", "/result/a/b"));
        assert!(!like("/result/*/x", "/result/a/b"));
        assert!(!like("tool_result", "tool_result x"));
    }

    #[test]
    fn star_in_a_missing_part_matches_any_text() {
        let pattern =
            json!({"in": ["a"], "message": "m", "at": "/x", "droid": "No: *.", "musher": "No: it is so"});
        let pattern: Pattern = serde_json::from_value(pattern).unwrap();
        let found = |droid: Value| Difference {
            kind: "m".to_owned(),
            at: "/x".to_owned(),
            droid: Some(droid),
            musher: Some("No: it is so".into()),
        };
        assert!(pattern.matches(&found("No: never\never.".into())));
        assert!(!pattern.matches(&found("No".into())));
        assert!(!pattern.matches(&found(7.into())));
    }

    #[test]
    fn unlisted_difference_and_unused_entry_both_fail() {
        let entry = json!([{"reason": "so", "differences": [{"in": ["a"], "message": "m", "at": "/x", "musher": 1}]}]);
        let list: Vec<Known> = serde_json::from_value(entry).unwrap();
        let found = |at: &str, ours: i32| Difference {
            kind: "m".to_owned(),
            at: at.to_owned(),
            droid: None,
            musher: Some(ours.into()),
        };
        assert!(check("a", &[found("/x", 1)], &list).is_empty());
        assert_eq!(check("a", &[found("/x", 2)], &list).len(), 2, "another value, and the known one is gone");
        assert_eq!(check("a", &[], &list).len(), 1);
        assert!(check("b", &[], &list).is_empty());
        assert_eq!(check("b", &[found("/x", 1)], &list).len(), 1, "it is known in another scenario only");
    }
}
