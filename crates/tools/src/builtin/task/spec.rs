//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("task-cli", "Task", Category::Execute, DESCRIPTION, schema)
    .parallel()
    .main_session_only()
    .offer(Offer::At(140));

const DESCRIPTION: &str = "Gives a task to a subagent, which works on its own and hands back one message. `subagent_type` is a name from the list of \
subagents in a reminder, `description` a few words for the user, `prompt` everything the subagent has to know: it sees nothing of this \
conversation. With `await` false it works in the background, and you are told when it has ended.";

fn schema() -> Value {
    let text = || json!({"type": "string"});
    let properties = json!({
        "subagent_type": text(), "description": text(), "prompt": text(), "resume": text(),
        "image_paths": {"type": "array", "items": text()}, "await": {"type": "boolean"},
        "complexity": {"type": "string", "enum": ["light", "medium", "heavy"]},
    });
    object_schema(&properties, &["subagent_type", "description", "prompt"])
}
