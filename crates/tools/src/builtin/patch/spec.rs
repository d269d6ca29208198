//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, EditStyle, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("apply-patch-cli", "ApplyPatch", Category::Edit, DESCRIPTION, schema)
        .display_name("Apply Patch")
        .for_edit_style(EditStyle::Patch)
        .offer(Offer::At(30));

const DESCRIPTION: &str = "Changes, adds, moves and deletes files with one patch:\n\
*** Begin Patch\n*** Update File: src/a.rs\n@@ fn main() {\n     let a = 1;\n-    let b = 2;\n+    let b = 3;\n*** Add File: b.txt\n+content\n\
*** Delete File: c.txt\n*** End Patch\n\
In an update, each line starts with a space (unchanged), `-` (removed) or `+` (added). `@@` followed by a line of the file says where to look. \
`*** Move to: path` after the header moves the file. Include three unchanged lines around each change. If any part does not match, no file is changed.";

fn schema() -> Value {
    let properties = json!({"input": {"type": "string", "description": "The complete patch, from `*** Begin Patch` to `*** End Patch`"}});
    object_schema(&properties, &["input"])
}
