//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("exit-spec-mode", "ExitSpecMode", Category::Read, DESCRIPTION, schema)
        .display_name("Propose Specification")
        .read_only()
        .listed_from(ListedFrom::Never)
        .for_spec_mode()
        .main_session_only()
        .offer(Offer::At(70));

const DESCRIPTION: &str = "Proposes your plan to the user, who approves or rejects it. Only works in spec mode (planning). Call it once the \
plan is complete. `plan` is Markdown: what you will change, where, and how you will verify it.";

fn schema() -> Value {
    let properties = json!({
        "plan": {"type": "string", "description": "The complete plan, as Markdown"},
        "title": {"type": "string", "description": "A short title of the plan"},
    });
    object_schema(&properties, &["plan"])
}
