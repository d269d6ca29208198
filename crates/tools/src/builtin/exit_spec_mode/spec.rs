//! How the model sees it.

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

const DESCRIPTION: &str = "Proposes a plan while planning (spec mode). Call it once the plan is complete; the user reads it and decides. \
`plan` is Markdown: what will be changed, where, and how it will be checked. Only available in spec mode.";

fn schema() -> Value {
    let text = || json!({"type": "string"});
    let properties = json!({"plan": text(), "title": text()});
    object_schema(&properties, &["plan"])
}
