//! The catalogue: id, name and class of every tool a client may see, also of those that live in the engine.

use serde_json::{Value, json};

/// The fixed facts of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolInfo {
    /// How clients name it.
    pub id: &'static str,
    /// How the model names it.
    pub name: &'static str,
    /// How people name it.
    pub display_name: &'static str,
    /// What it is for.
    pub category: Category,
    /// Whether it may run without asking at the lowest autonomy.
    pub is_default_allowed: bool,
    /// The least that is at stake, whatever the arguments.
    pub risk: Risk,
    /// Whether it belongs to those that run at the same time as others.
    pub is_read_only: bool,
}

/// What a tool is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// Looking at things.
    Read,
    /// Changing files.
    Edit,
    /// Everything else.
    Execute,
}

impl Category {
    /// The word clients know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Execute => "execute",
        }
    }
}

/// What is at stake when a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Nothing is changed, nobody outside is told.
    None,
    /// Files of the workspace may change.
    Low,
    /// Others may be told, or more than files may change.
    Medium,
    /// Anything.
    High,
}

const fn row(
    id: &'static str,
    name: &'static str,
    display_name: &'static str,
    category: Category,
    is_default_allowed: bool,
    risk: Risk,
) -> ToolInfo {
    let is_read_only = matches!(category, Category::Read) && matches!(risk, Risk::None | Risk::Medium);
    ToolInfo { id, name, display_name, category, is_default_allowed, risk, is_read_only }
}

/// Every tool, by id, capitals as if they were small.
pub const CATALOG: [ToolInfo; 28] = [
    row("apply-patch-cli", "ApplyPatch", "Apply Patch", Category::Edit, false, Risk::Low),
    row("ask-user", "AskUser", "Ask User", Category::Read, false, Risk::None),
    row("ConnectorSearch", "ConnectorSearch", "Connectors", Category::Read, true, Risk::None),
    row("create-cli", "Create", "Create", Category::Edit, false, Risk::Low),
    row(
        "dismiss-handoff-items",
        "DismissHandoffItems",
        "Dismiss Handoff Items",
        Category::Read,
        false,
        Risk::None,
    ),
    row("edit-cli", "Edit", "Edit", Category::Edit, false, Risk::Low),
    row("end-feature-run", "EndFeatureRun", "End Feature Run", Category::Read, false, Risk::None),
    row("execute-cli", "Execute", "Execute", Category::Execute, true, Risk::None),
    row("exit-spec-mode", "ExitSpecMode", "Propose Specification", Category::Read, false, Risk::None),
    row("fetch_url", "FetchUrl", "Web Fetch", Category::Read, true, Risk::Medium),
    row(
        "generate-droid-cli",
        "GenerateDroid",
        "Generate Droid Configuration",
        Category::Execute,
        false,
        Risk::Low,
    ),
    row("generate-image", "GenerateImage", "Generate Image", Category::Read, false, Risk::Medium),
    row("glob-search-cli", "Glob", "Glob", Category::Read, true, Risk::None),
    row("grep_tool_cli", "Grep", "Grep", Category::Read, true, Risk::None),
    row("loop-cli", "Loop", "Loop", Category::Execute, false, Risk::High),
    row("ls-cli", "LS", "LS", Category::Read, true, Risk::None),
    row("propose-mission", "ProposeMission", "Propose Mission", Category::Read, false, Risk::None),
    row("read-cli", "Read", "Read", Category::Read, true, Risk::None),
    row("skill", "Skill", "Skill", Category::Execute, true, Risk::None),
    row("slack_post_file", "slack_post_file", "Post File", Category::Read, false, Risk::Medium),
    row(
        "stage_settings_changes",
        "StageSettingsChanges",
        "Stage Settings Changes",
        Category::Read,
        true,
        Risk::None,
    ),
    row("start-mission-run", "StartMissionRun", "Start Mission Run", Category::Read, false, Risk::None),
    row("task-cli", "Task", "Task", Category::Execute, false, Risk::None),
    row("task-output-cli", "TaskOutput", "Result", Category::Execute, false, Risk::None),
    row("task-stop-cli", "TaskStop", "TaskStop", Category::Execute, false, Risk::None),
    row("todo_write", "TodoWrite", "Plan", Category::Read, true, Risk::None),
    row("tool-search-cli", "ToolSearch", "ToolSearch", Category::Execute, true, Risk::None),
    row("web_search", "WebSearch", "Web Search", Category::Read, true, Risk::Medium),
];

/// The row of a tool, by the name the model uses.
///
/// ```
/// use musher_tools::{Category, tool_info};
///
/// assert_eq!(tool_info("Execute").map(|tool| (tool.id, tool.category)), Some(("execute-cli", Category::Execute)));
/// assert!(tool_info("MultiEdit").is_none());
/// ```
pub fn tool_info(name: &str) -> Option<&'static ToolInfo> {
    static ROWS: &[ToolInfo] = &CATALOG;
    ROWS.iter().find(|row| row.name == name)
}

/// The argument schema of a tool that lives in the engine, by the name the model uses.
///
/// The built-in tools have theirs in [`Tool::schema`](crate::Tool::schema).
pub fn engine_tool_schema(name: &str) -> Option<Value> {
    let text = || json!({"type": "string"});
    let (properties, required): (Value, &[&str]) = match name {
        "AskUser" => (json!({"questionnaire": text()}), &["questionnaire"]),
        "ExitSpecMode" => (json!({"plan": text(), "title": text()}), &["plan"]),
        "Skill" => (json!({"skill": text()}), &["skill"]),
        "ToolSearch" => {
            (json!({"query": text(), "max_results": {"type": "integer", "exclusiveMinimum": 0}}), &["query"])
        }
        "Task" => (
            json!({
                "subagent_type": text(), "description": text(), "prompt": text(), "resume": text(),
                "image_paths": {"type": "array", "items": text()}, "await": {"type": "boolean"},
                "complexity": {"type": "string", "enum": ["light", "medium", "heavy"]},
            }),
            &["subagent_type", "description", "prompt"],
        ),
        "TaskOutput" => (
            json!({"task_id": text(), "block": {"type": "boolean"}, "timeout": {"type": "number"}}),
            &["task_id"],
        ),
        "TaskStop" => (json!({"task_id": text()}), &["task_id"]),
        "GenerateImage" => (
            json!({
                "prompt": {"type": "string", "minLength": 1},
                "input_image_paths": {"type": "array", "items": text(), "maxItems": 4},
            }),
            &["prompt"],
        ),
        "ConnectorSearch" => (
            json!({
                "action": {"type": "string", "enum": ["list_tools", "call_tool"]}, "toolName": text(),
                "toolArguments": {"type": "object"}, "authenticatedOnly": {"type": "boolean"},
            }),
            &["action"],
        ),
        _ => return None,
    };
    Some(object(&properties, required))
}

/// A closed object schema.
pub(crate) fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_and_names_unique() {
        assert!(CATALOG.is_sorted_by(|one, other| one.id.to_lowercase() < other.id.to_lowercase()));
        let mut names: Vec<&str> = CATALOG.iter().map(|row| row.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), CATALOG.len());
    }

    #[test]
    fn tools_of_the_engine_have_closed_schemas_and_the_others_theirs_elsewhere() {
        let names = [
            "AskUser",
            "ExitSpecMode",
            "Skill",
            "ToolSearch",
            "Task",
            "TaskOutput",
            "TaskStop",
            "GenerateImage",
            "ConnectorSearch",
        ];
        for name in names {
            let schema = engine_tool_schema(name).unwrap();
            assert_eq!(schema["additionalProperties"], false, "{name}");
            let required = schema["required"].as_array().unwrap();
            assert!(
                required.iter().all(|key| schema["properties"].get(key.as_str().unwrap()).is_some()),
                "{name}"
            );
            assert!(tool_info(name).is_some(), "{name}");
        }
        assert_eq!(engine_tool_schema("Read"), None);
    }

    #[test]
    fn what_may_run_without_asking_by_default_changes_no_file() {
        for row in CATALOG.iter().filter(|row| row.is_default_allowed) {
            assert_ne!(row.category, Category::Edit, "{}", row.id);
            assert_ne!(row.risk, Risk::Low, "{}", row.id);
        }
    }
}
