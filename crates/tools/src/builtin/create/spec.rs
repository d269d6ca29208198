//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, EditStyle, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("create-cli", "Create", Category::Edit, DESCRIPTION, schema)
    .for_edit_style(EditStyle::Replace)
    .offer(Offer::At(60));

const DESCRIPTION: &str = "Creates a file, or replaces the whole content of an existing file. Creates missing directories. \
To change part of a file, edit it instead.";

fn schema() -> Value {
    let properties = json!({
        "file_path": {"type": "string", "description": "Path of the file; a relative path starts at the workspace root"},
        "content": {"type": "string", "description": "The complete content of the file"},
    });
    object_schema(&properties, &["file_path", "content"])
}
