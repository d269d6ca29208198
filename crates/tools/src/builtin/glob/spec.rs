//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("glob-search-cli", "Glob", Category::Read, DESCRIPTION, schema)
        .listed_from(ListedFrom::Off)
        .read_only()
        .parallel()
        .offer(Offer::At(50));

const DESCRIPTION: &str = "Finds files by name patterns such as `**/*.rs` or `src/*.{ts,tsx}`. A pattern without a slash \
matches names in every folder. Hidden and ignored files are found too. Returns one path per line.";

fn schema() -> Value {
    let patterns = |about: &str| json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}], "description": about});
    let properties = json!({
        "patterns": patterns("Glob patterns of files to find"),
        "excludePatterns": patterns("Glob patterns of files to leave out"),
        "folder": {"type": "string", "description": "Where to look; the workspace if absent"},
    });
    object_schema(&properties, &["patterns"])
}
