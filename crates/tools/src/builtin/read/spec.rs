//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, Feature, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("read-cli", "Read", Category::Read, DESCRIPTION, schema)
    .listed_from(ListedFrom::Off)
    .read_only()
    .parallel()
    .provides(Feature::Files)
    .offer(Offer::At(0));

const DESCRIPTION: &str = "Reads a file and returns its text. The path must be absolute. One call returns at most 2400 lines and 60,000 \
characters; use `offset` and `limit` to read the rest. Images (PNG, JPEG, GIF, WebP) and PDFs are shown as such if you can see them. Notebooks \
are shown as cells. Other binary files are not shown.";

fn schema() -> Value {
    let properties = json!({
        "file_path": {"type": "string", "description": "Absolute path of the file"},
        "offset": {"type": "number", "description": "Number of the first line to return; the first line of the file is 1"},
        "limit": {"type": "number", "description": "Maximum number of lines to return"},
        "image_quality": {"type": "string", "enum": ["default", "high"], "description": "Quality at which an image is shown"},
    });
    object_schema(&properties, &["file_path"])
}
