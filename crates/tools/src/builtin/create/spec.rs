//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("create-cli", "Create", Category::Edit, DESCRIPTION, schema).offer(Offer::At(60));

const DESCRIPTION: &str = "Writes a new file, or replaces a whole file, with the given content. Missing folders are made. \
To change part of a file use Edit.";

fn schema() -> Value {
    let properties = json!({
        "file_path": {"type": "string", "description": "Path of the file; relative ones begin at the workspace"},
        "content": {"type": "string", "description": "The whole content"},
    });
    object_schema(&properties, &["file_path", "content"])
}
