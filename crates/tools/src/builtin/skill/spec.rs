//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("skill", "Skill", Category::Execute, DESCRIPTION, schema)
    .listed_from(ListedFrom::Off)
    .offer(Offer::At(130));

const DESCRIPTION: &str = "Loads a skill: instructions for a kind of task, listed by name in a reminder. Call it before you begin such a task.";

fn schema() -> Value {
    let text = || json!({"type": "string"});
    let properties = json!({"skill": text()});
    object_schema(&properties, &["skill"])
}
