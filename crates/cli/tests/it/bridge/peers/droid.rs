//! The real droid behind the bridge, for an app that was written for Claude Code.

mod callbacks;
mod ends;
mod sessions;

use musher_rehearse::{Reply, When, when};
use serde_json::{Value, json};

/// The options of a session with droid and the scripted model, and some more.
fn options(more: Value) -> Value {
    let Value::Object(more) = more else { panic!("not an object") };
    let mut options = json!({"agent": "droid", "model": testkit::droid::CHAT_MODEL});
    for (name, value) in more {
        options[name] = value;
    }
    options
}

/// The n-th answer of the model in a turn whose prompt has this word.
fn on(word: &str, call: u32) -> When {
    when().with_tools().prompt(word).call(call)
}

/// A command that is asked for.
fn execute(command: &str) -> Reply {
    let arguments = json!({
        "command": command, "summary": "Run it", "timeout": 120,
        "riskLevel": "medium", "riskLevelReason": "for a test",
    });
    Reply::tool("Execute", arguments)
}
