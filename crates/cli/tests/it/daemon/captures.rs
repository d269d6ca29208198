//! The captures of the real daemon, replayed against ours: the same requests get the same kinds of answers.
//!
//! A kind is the code of an error, or the fields of a result. Known differences are listed, and each of them must occur.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::stage::{Client, Stage};

/// Differences in answers: the method, the kind of the real answer, ours, and why.
const DIFFERENCES: &[(&str, &str, &str, &str)] = &[
    ("daemon.authenticate", "result orgId userId", "error -32001", "a key of the vendor is not our token"),
    ("daemon.get_default_settings", "result", "error -32601", "not offered"),
    ("daemon.get_git_diff", "result", "error -32601", "not offered"),
    ("daemon.get_proxy_token", "result", "error -32601", "not offered: a service of the vendor"),
    ("daemon.list_automations", "error -32603", "error -32601", "not offered: a service of the vendor"),
    ("daemon.list_installed_plugins", "error -32602", "error -32601", "not offered"),
    ("daemon.list_terminals", "error -32603", "error -32601", "not offered"),
    ("daemon.search_sessions", "result", "error -32601", "not offered; `musher sessions search` does it"),
];

/// Fields of results that only one side has: the method, the field, and why.
const FIELDS: &[(&str, &str, &str)] = &[
    (
        "daemon.get_context_breakdown",
        "lastCallCompactionTokens",
        "theirs: a number that our engine does not keep",
    ),
    ("daemon.initialize_session", "lastSequence", "ours: the position for a replay"),
];

fn capture(name: &str) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/droid-daemon-0.225.2");
    let text = fs_err::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The kind of an answer.
fn kind(answer: &Value) -> String {
    if let Some(error) = answer.get("error") {
        return format!("error {}", error["code"]);
    }
    let fields = answer["result"].as_object().map(|it| it.keys().cloned().collect::<BTreeSet<_>>());
    format!("result {}", fields.unwrap_or_default().into_iter().collect::<Vec<_>>().join(" "))
}

/// Whether our answer is of the same kind, but for fields that are known to differ.
fn is_same(method: &str, theirs: &str, ours: &str, used: &mut BTreeSet<String>) -> bool {
    let (Some(theirs), Some(ours)) = (theirs.strip_prefix("result "), ours.strip_prefix("result ")) else {
        return theirs == ours;
    };
    let fields = |text: &str| text.split(' ').map(str::to_owned).collect::<BTreeSet<_>>();
    let (theirs, ours) = (fields(theirs), fields(ours));
    theirs.symmetric_difference(&ours).all(|field| {
        let known = FIELDS.iter().any(|(of, name, _)| *of == method && name == field);
        if known {
            used.insert(format!("{method} {field}"));
        }
        known
    })
}

/// The request of a capture, for our daemon: its directories, its sessions and its token.
fn adapted(message: &Value, stage: &Stage, sessions: &BTreeMap<String, String>) -> Value {
    let mut text = message.to_string().replace("/workspace/a", &stage.work().to_string_lossy());
    text = text.replace("custom:fake", "custom:scripted");
    for (theirs, ours) in sessions {
        text = text.replace(theirs, ours);
    }
    serde_json::from_str(&text).unwrap()
}

async fn answer(client: &mut Client, id: &Value) -> Value {
    client.until(&json!({"type": "response", "id": id})).await
}

#[tokio::test]
async fn requests_of_the_real_daemon_get_the_same_kinds_of_answers() {
    let mut stage = Stage::new();
    let mut client = stage.client().await;
    let mut sessions = BTreeMap::new();
    let (mut used, mut wrong, mut compared) = (BTreeSet::new(), Vec::new(), 0);
    for entry in capture("05-errors-and-misc-methods.jsonl") {
        let message = &entry["m"];
        let (Some(method), Some(id)) = (message["method"].as_str(), message["id"].as_str()) else { continue };
        // one connection of the capture; the others authenticate in ways of their own, which other tests cover
        if entry["d"] != ">" || message["type"] != "request" || !id.starts_with("c-") {
            continue;
        }
        let theirs = capture("05-errors-and-misc-methods.jsonl")
            .into_iter()
            .find(|it| it["d"] == "<" && it["m"]["id"] == *id)
            .unwrap()["m"]
            .clone();
        client.send(adapted(message, &stage, &sessions)).await;
        let ours = answer(&mut client, &json!(id)).await;
        for field in ["sessionId", "newSessionId"] {
            if let (Some(theirs), Some(ours)) =
                (theirs["result"][field].as_str(), ours["result"][field].as_str())
            {
                sessions.insert(theirs.to_owned(), ours.to_owned());
            }
        }
        compared += 1;
        let (theirs, ours) = (kind(&theirs), kind(&ours));
        if is_same(method, &theirs, &ours, &mut used) {
            continue;
        }
        let known = DIFFERENCES
            .iter()
            .find(|(of, real, our, _)| *of == method && theirs.starts_with(real) && ours == *our);
        match known {
            Some((of, ..)) => drop(used.insert((*of).to_owned())),
            None => wrong.push(format!("{method}: theirs `{theirs}`, ours `{ours}`")),
        }
    }
    let known = DIFFERENCES.iter().map(|(of, ..)| (*of).to_owned());
    let known = known.chain(FIELDS.iter().map(|(of, field, _)| format!("{of} {field}")));
    for difference in known.filter(|it| !used.contains(it)) {
        wrong.push(format!("a difference that is listed did not occur: {difference}"));
    }
    assert!(wrong.is_empty() && compared > 40, "{compared} compared:\n{}", wrong.join("\n"));
    stage.stop();
}
