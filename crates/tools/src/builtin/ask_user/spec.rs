//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo = ToolInfo::new("ask-user", "AskUser", Category::Read, DESCRIPTION, schema)
    .display_name("Ask User")
    .read_only()
    .listed_from(ListedFrom::Low)
    .for_spec_mode()
    .main_session_only()
    .offer(Offer::At(80));

const DESCRIPTION: &str = "Asks the user up to four short questions. Use it when the answer changes what you do next. `questionnaire` is text. \
For each question write a line `N. [question] ...` (end it with `(multi)` if the user may choose several options), then a line `[topic] ...` with \
one word, then two to four lines `[option] ...`. The user can also answer in their own words.";

fn schema() -> Value {
    let questions = json!({"type": "string", "description": "The questions, with [question], [topic] and [option] lines"});
    let properties = json!({"questionnaire": questions});
    object_schema(&properties, &["questionnaire"])
}
