//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("task-stop-cli", "TaskStop", Category::Execute, DESCRIPTION, schema)
        .main_session_only()
        .offer(Offer::At(110));

const DESCRIPTION: &str = "Ends a subagent that works in the background.";

fn schema() -> Value {
    let text = || json!({"type": "string"});
    let properties = json!({"task_id": text()});
    object_schema(&properties, &["task_id"])
}
