//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("ask-user", "AskUser", Category::Read, DESCRIPTION, schema)
    .display_name("Ask User")
    .read_only()
    .listed_from(ListedFrom::Low)
    .for_spec_mode()
    .main_session_only()
    .offer(Offer::At(80));

const DESCRIPTION: &str = "Asks the user up to four short questions when the answer changes what you do. `questionnaire` is text: for each question \
a line `N. [question] ...` (with `(multi)` at its end if several options may be chosen), then a line `[topic] ...` with one word for it, then a \
line `[option] ...` for each of two to four options. The user may also answer freely.";

fn schema() -> Value {
    let text = || json!({"type": "string"});
    let properties = json!({"questionnaire": text()});
    object_schema(&properties, &["questionnaire"])
}
