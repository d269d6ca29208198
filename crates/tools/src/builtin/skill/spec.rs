//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, Feature, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("skill", "Skill", Category::Execute, DESCRIPTION, schema)
    .listed_from(ListedFrom::Off)
    .provides(Feature::Skills)
    .offer(Offer::At(130));

const DESCRIPTION: &str = "Loads a skill: instructions for a kind of task. A reminder lists the available skills. Load the matching skill before you start such a task.";

fn schema() -> Value {
    let properties = json!({"skill": {"type": "string", "description": "The name of the skill"}});
    object_schema(&properties, &["skill"])
}
