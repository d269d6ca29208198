//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("task-input-cli", "TaskInput", Category::Execute, DESCRIPTION, schema)
        .display_name("Task Input")
        .offer(Offer::At(105));

const DESCRIPTION: &str = "Writes text to the standard input of a command that runs in the background, waits a moment, and returns its new output.";

fn schema() -> Value {
    let properties = json!({
        "task_id": {"type": "string", "description": "The task_id that Execute returned"},
        "input": {"type": "string", "description": "The text to write; end it with a line break if the command reads lines"},
        "end_input": {"type": "boolean", "description": "Close the input afterwards (default: false)"},
        "timeout": {"type": "number", "description": "Maximum time to wait for output, in milliseconds (default: 1000, maximum: 60000)"},
    });
    object_schema(&properties, &["task_id", "input"])
}
