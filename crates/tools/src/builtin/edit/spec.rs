//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, EditStyle, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("edit-cli", "Edit", Category::Edit, DESCRIPTION, schema)
    .for_edit_style(EditStyle::Replace)
    .offer(Offer::At(30));

const DESCRIPTION: &str = "Replaces text in a file. `old_str` must match the file exactly, including white space, and must occur \
exactly once unless `change_all` is true. If it occurs more than once, add surrounding lines. Line numbers that other tools show are not part \
of the file.";

fn schema() -> Value {
    let properties = json!({
        "file_path": {"type": "string", "description": "Path of the file"},
        "old_str": {"type": "string", "description": "The text to replace, exactly as it appears in the file"},
        "new_str": {"type": "string", "description": "The new text"},
        "change_all": {"type": "boolean", "description": "Replace every occurrence (default: false)"},
    });
    object_schema(&properties, &["file_path", "old_str", "new_str"])
}
