//! How the model sees the tool.

use serde_json::{Value, json};

use crate::{Category, ListedFrom, Offer, ToolInfo, object_schema};

pub(super) const INFO: ToolInfo =
    ToolInfo::new("execute-cli", "Execute", Category::Execute, DESCRIPTION, schema)
        .listed_from(ListedFrom::Off)
        .offer(Offer::At(20));

const DESCRIPTION: &str = "Runs a command with bash in the workspace and returns its output and exit code. Each call starts a new \
shell: the working directory and variables of earlier calls are not kept. There is no terminal and stdin is empty, so do not run interactive \
programs. Long output is shortened in the middle; the result names a file with the full output. Set `riskLevel` honestly: low if the command \
only reads, medium if it changes files in the workspace and can be undone, high for everything else. To read or find files, use Read, Grep, \
Glob and LS instead of cat, grep, find and ls.";

fn schema() -> Value {
    let properties = json!({
        "summary": {"type": "string", "description": "What the command does, in three to eight words, starting with a capital letter"},
        "command": {"type": "string", "description": "The bash command to run"},
        "timeout": {"type": "number", "description": "Maximum run time in seconds (default: 120)"},
        "riskLevelReason": {"type": "string", "description": "One sentence that explains the risk level"},
        "riskLevel": {"type": "string", "enum": ["low", "medium", "high"], "description": "What the command can change: low, medium or high"},
        "fireAndForget": {"type": "boolean", "description": "Start the command in the background and return a task_id at once; for servers, watchers and programs that need input"},
    });
    object_schema(&properties, &["summary", "command", "riskLevelReason", "riskLevel"])
}
