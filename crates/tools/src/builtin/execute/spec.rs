//! How the model sees it.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("execute-cli", "Execute", Category::Execute, DESCRIPTION, schema)
        .listed_from(ListedFrom::Off)
        .offer(Offer::At(20));

const DESCRIPTION: &str = "Runs a command with bash in the workspace and returns its output and exit code. Every call starts \
afresh: no folder or variable is kept. There is no terminal and nothing to read on stdin. Long outputs are shortened in the middle and saved \
to a file whose path is told. Say honestly in `riskLevel` what the command may change: low for looking only, medium for changes inside the \
workspace that can be undone, high for everything else. Use Read, Grep, Glob and LS instead of cat, grep, find and ls.";

fn schema() -> Value {
    let properties = json!({
        "summary": {"type": "string", "description": "What the command does, in three to eight words, the first with a capital letter"},
        "command": {"type": "string", "description": "The command"},
        "timeout": {"type": "number", "description": "Seconds after which it is ended (default 120)"},
        "riskLevelReason": {"type": "string", "description": "Why the risk is what you say, in one sentence"},
        "riskLevel": {"type": "string", "enum": ["low", "medium", "high"], "description": "What the command may change"},
        "fireAndForget": {"type": "boolean", "description": "Start it in the background and return at once, for servers and watchers"},
    });
    object_schema(&properties, &["summary", "command", "riskLevelReason", "riskLevel"])
}
