//! Recordings as agents, with the calls that the adapter makes besides those of a turn.

use std::path::Path;
use std::time::Duration;

use musher::Replay;
use serde_json::{Value, json};

/// A capture of the real droid.
pub(crate) fn capture(version: &str, name: &str) -> Replay {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire").join(version);
    let lines = fs_err::read_to_string(folder.join(name).with_extension("jsonl")).unwrap();
    let messages = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    play(messages.collect())
}

/// An agent that says what stands here.
pub(crate) fn play(mut lines: Vec<Value>) -> Replay {
    // the commands and the context are asked for as soon as there is a session, the context again after the turn
    let opened =
        lines.iter().position(|line| line["dir"] == "s2c" && line["msg"]["type"] == "response").unwrap() + 1;
    let commands = side_call("side-1", "droid.list_commands", &json!({"commands": [{"name": "review"}]}));
    let skills = side_call("side-2", "droid.list_skills", &json!({"skills": []}));
    let stats = |id: &str, used: u64| {
        let stats = json!({"used": used, "remaining": 100 - used, "limit": 100});
        side_call(id, "droid.get_context_stats", &stats)
    };
    lines.splice(opened..opened, commands.into_iter().chain(skills).chain(stats("side-3", 1)));
    lines.extend(stats("side-4", 10));
    let text = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    Replay::parse(&text).unwrap().timeout(Duration::from_secs(10))
}

fn side_call(id: &str, method: &str, result: &Value) -> [Value; 2] {
    [
        json!({"dir": "c2s", "msg": {"type": "request", "id": id, "method": method, "params": {}}}),
        json!({"dir": "s2c", "msg": {"type": "response", "id": id, "result": result}}),
    ]
}
