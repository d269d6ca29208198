//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("task-output-cli", "TaskOutput", Category::Execute, DESCRIPTION, schema)
        .display_name("Result")
        .parallel()
        .main_session_only()
        .offer(Offer::At(100));

const DESCRIPTION: &str = "The message of a subagent that works in the background. Waits for it up to `timeout` milliseconds unless `block` is false.";

fn schema() -> Value {
    let text = || json!({"type": "string"});
    let properties = json!({"task_id": text(), "block": {"type": "boolean"}, "timeout": {"type": "number"}});
    object_schema(&properties, &["task_id"])
}
