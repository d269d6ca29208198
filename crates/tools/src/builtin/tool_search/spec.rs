//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, Feature, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("tool-search-cli", "ToolSearch", Category::Execute, DESCRIPTION, schema)
        .listed_from(ListedFrom::Off)
        .provides(Feature::ToolSearch)
        .offer(Offer::At(120));

const DESCRIPTION: &str = "Makes more tools available. A reminder lists their names. Set `query` to `select:Name,Name` to load tools by name, or \
to words that describe what you need.";

fn schema() -> Value {
    let properties = json!({
        "query": {"type": "string", "description": "`select:Name,Name`, or words that describe the tool"},
        "max_results": {"type": "integer", "exclusiveMinimum": 0, "description": "Maximum number of tools to load if `query` has words (default: 5)"},
    });
    object_schema(&properties, &["query"])
}
