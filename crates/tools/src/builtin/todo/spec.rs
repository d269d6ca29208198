//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, Feature, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("todo_write", "TodoWrite", Category::Read, DESCRIPTION, schema)
        .display_name("Plan")
        .listed_from(ListedFrom::Off)
        .read_only()
        .provides(Feature::Todos)
        .offer(Offer::At(90));

const DESCRIPTION: &str = "Shows the user your plan for a task of several steps. Send the whole list in every call, one numbered line per \
step, such as `1. [completed] Read the code`. The status is [completed], [in_progress] or [pending]; keep one step in progress. At most 50 steps \
of 500 characters.";

fn schema() -> Value {
    let properties =
        json!({"todos": {"type": "string", "description": "The whole list, one numbered line per step"}});
    object_schema(&properties, &["todos"])
}
