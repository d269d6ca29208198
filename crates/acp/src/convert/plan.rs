//! The to-do list of the `TodoWrite` tool as the plan of the session.
//!
//! The list comes in two forms: lines like `1. [pending] text`, or an array of objects in old versions.

use agent_client_protocol::v1::schema::{Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus};
use serde_json::Value;

/// The tool whose calls are plans.
pub(crate) const TOOL: &str = "TodoWrite";

/// Returns the plan in the input of a call; nothing while the input is still being written.
pub(crate) fn plan(input: &Value) -> Option<Plan> {
    let entries: Vec<_> = match &input["todos"] {
        Value::String(lines) => lines.lines().filter_map(line_entry).collect(),
        Value::Array(items) => items.iter().filter_map(item_entry).collect(),
        _ => return None,
    };
    Some(Plan::new(entries))
}

fn line_entry(line: &str) -> Option<PlanEntry> {
    let line = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let line = line.trim_start();
    let (state, text) = match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((state, text)) => (state, text.trim()),
        None => ("pending", line),
    };
    (!text.is_empty()).then(|| PlanEntry::new(text, PlanEntryPriority::Medium, status(state)))
}

fn item_entry(item: &Value) -> Option<PlanEntry> {
    let text = item["content"].as_str().or_else(|| item["description"].as_str())?;
    let priority = match item["priority"].as_str() {
        Some("high") => PlanEntryPriority::High,
        Some("low") => PlanEntryPriority::Low,
        _ => PlanEntryPriority::Medium,
    };
    Some(PlanEntry::new(text, priority, status(item["status"].as_str().unwrap_or_default())))
}

fn status(word: &str) -> PlanEntryStatus {
    match word.trim() {
        "completed" | "x" | "X" => PlanEntryStatus::Completed,
        "in_progress" => PlanEntryStatus::InProgress,
        _ => PlanEntryStatus::Pending,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_the_list_are_read() {
        let lines =
            json!({"todos": "1. [completed] Read\n2. [in_progress] Write: [x]\n3. [later] Test\n\nplain"});
        let items = json!({"todos": [
            {"content": "Read", "status": "completed"},
            {"content": "Write: [x]", "status": "in_progress", "priority": "medium"},
            {"content": "Test", "status": "later"},
            {"content": "plain"},
        ]});
        let expected = [
            PlanEntry::new("Read", PlanEntryPriority::Medium, PlanEntryStatus::Completed),
            PlanEntry::new("Write: [x]", PlanEntryPriority::Medium, PlanEntryStatus::InProgress),
            PlanEntry::new("Test", PlanEntryPriority::Medium, PlanEntryStatus::Pending),
            PlanEntry::new("plain", PlanEntryPriority::Medium, PlanEntryStatus::Pending),
        ];
        for input in [lines, items] {
            assert_eq!(plan(&input).unwrap().entries, expected);
        }
        assert_eq!(plan(&json!({})), None);
    }
}
