//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("task-stop-cli", "TaskStop", Category::Execute, DESCRIPTION, schema).offer(Offer::At(110));

const DESCRIPTION: &str = "Stops a subagent or a command that runs in the background.";

fn schema() -> Value {
    let properties =
        json!({"task_id": {"type": "string", "description": "The task_id that Task or Execute returned"}});
    object_schema(&properties, &["task_id"])
}
