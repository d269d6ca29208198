//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("task-output-cli", "TaskOutput", Category::Execute, DESCRIPTION, schema)
        .display_name("Result")
        .parallel()
        .main_session_only()
        .offer(Offer::At(100));

const DESCRIPTION: &str = "Returns the message of a subagent that runs in the background. Waits up to `timeout` milliseconds for it (default: 30000), unless `block` is false.";

fn schema() -> Value {
    let properties = json!({
        "task_id": {"type": "string", "description": "The task_id that Task returned"},
        "block": {"type": "boolean", "description": "Wait for the message (default: true)"},
        "timeout": {"type": "number", "description": "Maximum time to wait, in milliseconds (default: 30000, maximum: 600000)"},
    });
    object_schema(&properties, &["task_id"])
}
