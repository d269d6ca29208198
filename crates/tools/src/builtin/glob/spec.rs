//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("glob-search-cli", "Glob", Category::Read, DESCRIPTION, schema)
        .listed_from(ListedFrom::Off)
        .read_only()
        .parallel()
        .offer(Offer::At(50));

const DESCRIPTION: &str = "Finds files by name. Patterns are globs such as `**/*.rs` or `src/*.{ts,tsx}`; a pattern without a slash \
matches in every directory. Hidden and git-ignored files are included. Returns one path per line.";

fn schema() -> Value {
    let patterns = |about: &str| json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}], "description": about});
    let properties = json!({
        "patterns": patterns("Glob pattern or list of glob patterns of files to find"),
        "excludePatterns": patterns("Glob pattern or list of glob patterns of files to exclude"),
        "folder": {"type": "string", "description": "Directory to search (default: the workspace)"},
    });
    object_schema(&properties, &["patterns"])
}
