//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("grep_tool_cli", "Grep", Category::Read, DESCRIPTION, schema)
    .listed_from(ListedFrom::Off)
    .read_only()
    .parallel()
    .offer(Offer::At(40));

const DESCRIPTION: &str = "Searches file contents with a regular expression (Rust syntax, no look-around). By default it \
returns the paths of files that match; with `output_mode` `content` it returns the matching lines. Files ignored by git are left out. \
Prefer this over running grep or rg as a command.";

fn schema() -> Value {
    let number = |about: &str| json!({"type": "number", "description": about});
    let flag = |about: &str| json!({"type": "boolean", "description": about});
    let properties = json!({
        "pattern": {"type": "string", "description": "The regular expression"},
        "path": {"type": "string", "description": "File or directory to search; the workspace if absent"},
        "glob_pattern": {"type": "string", "description": "Only files whose path fits this pattern"},
        "output_mode": {"type": "string", "enum": ["file_paths", "content"], "description": "What to return"},
        "case_insensitive": flag("Whether case does not matter"),
        "type": {"type": "string", "description": "Only files of this type, such as rust, py, js"},
        "context_before": number("Lines to show before each match"),
        "context_after": number("Lines to show after each match"),
        "context": number("Lines to show before and after each match"),
        "line_numbers": flag("Whether lines are numbered"),
        "head_limit": number("How many lines or paths to return at most"),
        "multiline": flag("Whether the pattern may span lines"),
        "fixed_string": flag("Whether the pattern is plain text"),
    });
    object_schema(&properties, &["pattern"])
}
