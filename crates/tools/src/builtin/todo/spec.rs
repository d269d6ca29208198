//! How the model sees it.

use serde_json::{Value, json};

use crate::catalog::object;

pub(super) const DESCRIPTION: &str = "Keeps the plan of a longer task where the user sees it. Send the whole list every time: one \
numbered line per step, as `1. [completed] Read the code`, with [completed], [in_progress] or [pending]. At most 50 steps of 500 characters. \
Use it for work of several steps, with one step in progress at a time.";

pub(super) fn schema() -> Value {
    let properties =
        json!({"todos": {"type": "string", "description": "The whole list, one numbered line per step"}});
    object(&properties, &["todos"])
}
