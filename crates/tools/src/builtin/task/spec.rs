//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, Feature, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("task-cli", "Task", Category::Execute, DESCRIPTION, schema)
    .parallel()
    .main_session_only()
    .provides(Feature::Subagents)
    .offer(Offer::At(140));

const DESCRIPTION: &str = "Starts a subagent that works on a task independently and returns one message. A reminder lists the available \
subagents. The subagent sees nothing of this conversation, so `prompt` must contain everything it needs. Set `await` to false to run it in the \
background: you are notified when it has finished.";

fn schema() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    let properties = json!({
        "subagent_type": text("The name of the subagent, from the list in the reminder"),
        "description": text("The task in a few words, for the user"),
        "prompt": text("The complete task, with all the context that the subagent needs"),
        "resume": text("The session id of a subagent to resume, from an earlier result"),
        "image_paths": {"type": "array", "items": {"type": "string"}, "description": "Paths of images to give to the subagent"},
        "await": {"type": "boolean", "description": "Wait for the result (default: true)"},
        "complexity": {"type": "string", "enum": ["light", "medium", "heavy"], "description": "How hard the task is"},
    });
    object_schema(&properties, &["subagent_type", "description", "prompt"])
}
