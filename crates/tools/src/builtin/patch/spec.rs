//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("apply-patch-cli", "ApplyPatch", Category::Edit, DESCRIPTION, schema)
        .display_name("Apply Patch")
        .offer(Offer::OnRequest);

const DESCRIPTION: &str = "Changes, adds, moves and removes files with one patch:\n\
*** Begin Patch\n*** Update File: src/a.rs\n@@ fn main() {\n     let a = 1;\n-    let b = 2;\n+    let b = 3;\n*** Add File: b.txt\n+content\n\
*** Delete File: c.txt\n*** End Patch\n\
In an update, lines begin with a space (unchanged), `-` (removed) or `+` (added); `@@` and a line of the file tell where to look, and \
`*** Move to: path` after the header renames the file. Give three unchanged lines around each change. Either all files change or none.";

fn schema() -> Value {
    let properties = json!({"input": {"type": "string", "description": "The whole patch"}});
    object_schema(&properties, &["input"])
}
