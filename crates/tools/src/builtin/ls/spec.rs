//! How the model sees it.

use serde_json::{Value, json};

use crate::catalog::object;

pub(super) const DESCRIPTION: &str = "Lists what is in a directory, with types, modes, sizes and times, hidden entries included. \
Without a path it lists the workspace. Use Glob to find files by name in deeper folders.";

pub(super) fn schema() -> Value {
    let properties = json!({
        "directory_path": {"type": "string", "description": "The directory; the workspace if absent"},
        "ignorePatterns": {"type": "array", "items": {"type": "string"}, "description": "Glob patterns of names to leave out"},
    });
    object(&properties, &[])
}
