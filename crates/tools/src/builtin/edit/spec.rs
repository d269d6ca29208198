//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("edit-cli", "Edit", Category::Edit, DESCRIPTION, schema).offer(Offer::At(30));

const DESCRIPTION: &str = "Replaces a piece of text in a file. `old_str` must be exactly what is in the file, white space \
included, and must occur once unless `change_all` is true: add lines around it until it does. The file must have been read before.";

fn schema() -> Value {
    let properties = json!({
        "file_path": {"type": "string", "description": "Path of the file"},
        "old_str": {"type": "string", "description": "The text to replace, exactly as it is in the file"},
        "new_str": {"type": "string", "description": "The text to put in its place"},
        "change_all": {"type": "boolean", "description": "Whether every occurrence is replaced"},
    });
    object_schema(&properties, &["file_path", "old_str", "new_str"])
}
