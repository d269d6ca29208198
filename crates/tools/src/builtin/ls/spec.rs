//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("ls-cli", "LS", Category::Read, DESCRIPTION, schema)
    .listed_from(ListedFrom::Off)
    .read_only()
    .parallel()
    .offer(Offer::At(10));

const DESCRIPTION: &str = "Lists what is in a directory, with types, modes, sizes and times, hidden entries included. \
Without a path it lists the workspace. Use Glob to find files by name in deeper folders.";

fn schema() -> Value {
    let properties = json!({
        "directory_path": {"type": "string", "description": "The directory; the workspace if absent"},
        "ignorePatterns": {"type": "array", "items": {"type": "string"}, "description": "Glob patterns of names to leave out"},
    });
    object_schema(&properties, &[])
}
