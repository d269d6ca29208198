//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("todo_write", "TodoWrite", Category::Read, DESCRIPTION, schema)
        .display_name("Plan")
        .listed_from(ListedFrom::Off)
        .read_only()
        .offer(Offer::At(90));

const DESCRIPTION: &str = "Keeps the plan of a longer task where the user sees it. Send the whole list every time: one \
numbered line per step, as `1. [completed] Read the code`, with [completed], [in_progress] or [pending]. At most 50 steps of 500 characters. \
Use it for work of several steps, with one step in progress at a time.";

fn schema() -> Value {
    let properties =
        json!({"todos": {"type": "string", "description": "The whole list, one numbered line per step"}});
    object_schema(&properties, &["todos"])
}
