//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("ls-cli", "LS", Category::Read, DESCRIPTION, schema)
    .listed_from(ListedFrom::Off)
    .read_only()
    .parallel()
    .offer(Offer::At(10));

const DESCRIPTION: &str = "Lists the entries of a directory, including hidden ones, with type, mode, size and time. \
To find files by name in deeper directories, use Glob.";

fn schema() -> Value {
    let properties = json!({
        "directory_path": {"type": "string", "description": "Directory to list (default: the workspace)"},
        "ignorePatterns": {"type": "array", "items": {"type": "string"}, "description": "Glob patterns of names to exclude"},
    });
    object_schema(&properties, &[])
}
