//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("grep_tool_cli", "Grep", Category::Read, DESCRIPTION, schema)
    .listed_from(ListedFrom::Off)
    .read_only()
    .parallel()
    .offer(Offer::At(40));

const DESCRIPTION: &str = "Searches the contents of files with a regular expression (Rust syntax, no look-around). Returns the paths of \
matching files; with `output_mode` set to `content` it returns the matching lines. Git-ignored files are skipped. Use it instead of running \
grep or rg with Execute.";

fn schema() -> Value {
    let number = |about: &str| json!({"type": "number", "description": about});
    let flag = |about: &str| json!({"type": "boolean", "description": about});
    let properties = json!({
        "pattern": {"type": "string", "description": "The regular expression"},
        "path": {"type": "string", "description": "File or directory to search (default: the workspace)"},
        "glob_pattern": {"type": "string", "description": "Search only files whose path matches this glob"},
        "output_mode": {"type": "string", "enum": ["file_paths", "content"], "description": "file_paths: list matching files (default); content: show matching lines"},
        "case_insensitive": flag("Ignore case (default: false)"),
        "type": {"type": "string", "description": "Search only files of this type, such as rust, py or js"},
        "context_before": number("Number of lines to show before each match"),
        "context_after": number("Number of lines to show after each match"),
        "context": number("Number of lines to show before and after each match"),
        "line_numbers": flag("Show line numbers (default: false)"),
        "head_limit": number("Maximum number of lines or paths to return"),
        "multiline": flag("Allow the pattern to match across lines (default: false)"),
        "fixed_string": flag("Treat the pattern as plain text, not as a regular expression (default: false)"),
    });
    object_schema(&properties, &["pattern"])
}
