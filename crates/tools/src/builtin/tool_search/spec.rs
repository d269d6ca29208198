//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("tool-search-cli", "ToolSearch", Category::Execute, DESCRIPTION, schema)
        .listed_from(ListedFrom::Off)
        .offer(Offer::At(120));

const DESCRIPTION: &str = "Makes more tools available. `query` is `select:Name,Name` for tools you know by name from a reminder, or some words that \
describe what you need.";

fn schema() -> Value {
    let text = || json!({"type": "string"});
    let properties = json!({"query": text(), "max_results": {"type": "integer", "exclusiveMinimum": 0}});
    object_schema(&properties, &["query"])
}
