//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("read-cli", "Read", Category::Read, DESCRIPTION, schema)
    .listed_from(ListedFrom::Off)
    .read_only()
    .parallel()
    .offer(Offer::At(0));

const DESCRIPTION: &str = "Reads a file and returns its text. Give an absolute path. Long files come in parts of at most \
2400 lines or 60,000 characters: use `offset` (number of the first line) and `limit` (lines to return) for the rest. PNG, JPEG, GIF and WebP files \
are shown as pictures if the model can see them. A file must be read before it is edited.";

fn schema() -> Value {
    let properties = json!({
        "file_path": {"type": "string", "description": "Absolute path of the file"},
        "offset": {"type": "number", "description": "Number of the first line to return, counted from 1"},
        "limit": {"type": "number", "description": "How many lines to return at most"},
        "image_quality": {"type": "string", "enum": ["default", "high"], "description": "How exactly a picture is shown"},
    });
    object_schema(&properties, &["file_path"])
}
