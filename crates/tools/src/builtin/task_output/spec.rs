//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("task-output-cli", "TaskOutput", Category::Execute, DESCRIPTION, schema)
        .display_name("Result")
        .parallel()
        .offer(Offer::At(100));

const DESCRIPTION: &str = "Returns the result of a task in the background: the message of a subagent, or the state and the new output of a command. \
Waits up to `timeout` milliseconds for its end, unless `block` is false.";

fn schema() -> Value {
    let properties = json!({
        "task_id": {"type": "string", "description": "The task_id that Task or Execute returned"},
        "block": {"type": "boolean", "description": "Wait for the end of the task (default: true); set it to false to see what a server or watcher prints"},
        "timeout": {"type": "number", "description": "Maximum time to wait, in milliseconds (default: 30000, maximum: 600000)"},
    });
    object_schema(&properties, &["task_id"])
}
