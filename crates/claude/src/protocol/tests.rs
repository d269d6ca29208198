//! Replays recorded conversations: every line of the CLI is understood, and the answers equal the recorded ones.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use super::*;
use crate::View;
use crate::wire::system::System;

struct Recorded {
    name: String,
    is_from_cli: bool,
    text: String,
}

fn recorded() -> Vec<Recorded> {
    #[derive(serde::Deserialize)]
    struct Entry<'a> {
        dir: &'a str,
        #[serde(borrow)]
        msg: &'a RawValue,
    }
    let mut all = Vec::new();
    for version in ["2.1.197", "2.1.325"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude").join(version);
        let mut paths: Vec<_> =
            fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|it| it == "jsonl")) {
            let name = format!("{version} {}", path.file_stem().unwrap().display());
            for line in fs_err::read_to_string(path).unwrap().lines() {
                let entry: Entry<'_> = serde_json::from_str(line).unwrap();
                let is_from_cli = entry.dir == "s2c";
                all.push(Recorded { name: name.clone(), is_from_cli, text: entry.msg.get().to_owned() });
            }
        }
    }
    assert!(all.len() > 1500, "only {} recorded lines found", all.len());
    all
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Converts a recorded request of the host to a call.
fn call_of(request: &Json) -> Call {
    let mut fields: musher_wire::Extra = request.to().unwrap();
    let subtype: String = fields.remove("subtype").unwrap().to().unwrap();
    Call::Other { subtype, fields }
}

#[test]
fn every_recorded_conversation_can_be_replayed() {
    let mut protocols: HashMap<String, Protocol> = HashMap::new();
    let mut ours: HashMap<(String, String), RequestId> = HashMap::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for Recorded { name, is_from_cli, mut text } in recorded() {
        let protocol = protocols.entry(name.clone()).or_default();
        if !is_from_cli {
            replay_host(protocol, &name, &text, &mut ours);
            continue;
        }
        // the recording's host used other ids
        let parsed = value(&text);
        if let Some(theirs) = parsed["response"]["request_id"].as_str() {
            let our = &ours[&(name.clone(), theirs.to_owned())];
            text = text.replace(&format!("\"{theirs}\""), &format!("\"{}\"", our.as_str()));
        }
        let kind = match protocol.receive(text.clone().into()) {
            Event::Message(message) => {
                assert_eq!(message.text(), text, "{name}: the text is kept");
                "message"
            }
            Event::Answered { outcome, .. } => {
                assert_eq!(outcome.is_ok(), parsed["response"]["subtype"] == "success", "{name}");
                "answer"
            }
            Event::Permission(request) => {
                assert_eq!(request.input.to_value().unwrap(), parsed["request"]["input"], "{name}");
                "permission"
            }
            Event::Hook(request) => {
                assert_eq!(
                    Value::from(request.event),
                    parsed["request"]["input"]["hook_event_name"],
                    "{name}"
                );
                "hook"
            }
            Event::Mcp(_) => "mcp",
            Event::Cancelled { .. } => "cancelled",
            other => panic!("{name}: {text} is {other:?}"),
        };
        *seen.entry(kind).or_default() += 1;
    }
    let kinds: Vec<_> = seen.keys().copied().collect();
    assert_eq!(kinds, ["answer", "cancelled", "hook", "mcp", "message", "permission"]);
    for (name, protocol) in protocols {
        assert!(protocol.calls.len() <= 1, "{name}: unanswered {:?}", protocol.calls);
    }
}

fn replay_host(
    protocol: &mut Protocol,
    name: &str,
    text: &str,
    ours: &mut HashMap<(String, String), RequestId>,
) {
    let parsed = value(text);
    match parsed["type"].as_str() {
        Some("control_request") => {
            let (id, line) = protocol.call(&call_of(&Json::from(&parsed["request"])));
            assert_eq!(value(&line)["request"], parsed["request"], "{name}");
            ours.insert((name.to_owned(), parsed["request_id"].as_str().unwrap().to_owned()), id);
        }
        Some("control_response") => answer(protocol, name, &parsed),
        _ => {}
    }
}

/// Answers as the recording's host did, where it did.
fn answer(protocol: &mut Protocol, name: &str, parsed: &Value) {
    let response = &parsed["response"];
    let id = RequestId(response["request_id"].as_str().unwrap().to_owned());
    let body = &response["response"];
    let line = match protocol.open.get(&id) {
        // cancelled before: a late answer is ignored
        None => {
            assert_eq!(protocol.permit(&id, &Permission::allow()), None, "{name}");
            return;
        }
        Some(_) if response["subtype"] == "error" => {
            protocol.refuse(&id, response["error"].as_str().unwrap())
        }
        Some(Pending::Mcp) => protocol.mcp_reply(&id, Some(&Json::from(&body["mcp_response"]))),
        Some(Pending::Hook) => {
            protocol.hook_output(&id, &HookOutput::default()).unwrap();
            return;
        }
        Some(Pending::Permission { .. }) => match body["behavior"].as_str() {
            Some("allow") => {
                let field = |name: &str| body.get(name).map(Json::from);
                let permission = Permission::Allow {
                    updated_input: field("updatedInput"),
                    updated_permissions: field("updatedPermissions"),
                };
                let line = protocol.permit(&id, &permission).unwrap();
                assert!(value(&line)["response"]["response"]["updatedInput"].is_object(), "{name}");
                if body.get("updatedInput").is_none() {
                    return;
                }
                Some(line)
            }
            Some("deny") => protocol.permit(
                &id,
                &Permission::Deny {
                    message: body["message"].as_str().unwrap_or_default().to_owned(),
                    interrupt: body["interrupt"].as_bool(),
                },
            ),
            _ => protocol.refuse(&id, "not an answer").and(None),
        },
    };
    if let Some(line) = line {
        assert_eq!(value(&line), *parsed, "{name}");
    }
}

#[test]
fn recorded_messages_have_a_typed_view_or_are_listed_without() {
    let mut without: BTreeMap<String, usize> = BTreeMap::new();
    for Recorded { is_from_cli, text, name } in recorded() {
        if !is_from_cli {
            continue;
        }
        if let Event::Message(message) = Protocol::new().receive(text.into()) {
            match message.view() {
                View::Unknown => *without.entry(message.kind().to_owned()).or_default() += 1,
                View::System(System::Other(subtype)) => *without.entry(subtype).or_default() += 1,
                View::Init(init) => assert!(!init.claude_code_version.is_empty() && !init.tools.is_empty()),
                View::Result(result) => {
                    assert!(!result.subtype.is_empty() && result.session_id.is_some(), "{name}");
                }
                View::Assistant(said) => assert!(!said.message.content.0.is_empty(), "{name}"),
                _ => {}
            }
        }
    }
    let without: Vec<_> = without.into_keys().collect();
    assert_eq!(
        without,
        [
            "background_tasks_changed",
            "control_request_progress",
            "conversation_reset",
            "session_title_changed",
            "thinking_tokens"
        ]
    );
}

fn ask(protocol: &mut Protocol, id: &str) -> Event {
    let request = r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{"b":1,"a":12345678901234567890}}"#;
    let line = format!(r#"{{"type":"control_request","request_id":"{id}","request":{request}}}"#);
    protocol.receive(line.into())
}

#[test]
fn allowed_tool_gets_its_input_back_unchanged() {
    let mut protocol = Protocol::new();
    let Event::Permission(request) = ask(&mut protocol, "1") else { panic!("not a question") };
    let line = protocol.permit(&request.id, &Permission::allow()).unwrap();
    assert!(line.contains(r#""updatedInput":{"b":1,"a":12345678901234567890}"#), "{line}");
    assert_eq!(protocol.permit(&request.id, &Permission::allow()), None, "answered once");
}

#[test]
fn cancelled_request_cannot_be_answered() {
    let mut protocol = Protocol::new();
    let Event::Permission(request) = ask(&mut protocol, "1") else { panic!("not a question") };
    let cancel = r#"{"type":"control_cancel_request","request_id":"1"}"#.to_owned();
    assert!(matches!(protocol.receive(cancel.clone().into()), Event::Cancelled { id } if id == request.id));
    assert_eq!(protocol.permit(&request.id, &Permission::allow()), None);
    assert!(matches!(protocol.receive(cancel.into()), Event::Nothing));
}

#[test]
fn unknown_request_is_answered_with_an_error() {
    let line = r#"{"type":"control_request","request_id":"9","request":{"subtype":"elicitation"}}"#;
    let Event::Unsupported { subtype, reply } = Protocol::new().receive(line.to_owned().into()) else {
        panic!("it was understood")
    };
    assert_eq!(subtype, "elicitation");
    assert_eq!(
        reply,
        r#"{"type":"control_response","response":{"subtype":"error","request_id":"9","error":"unsupported control request: elicitation"}}"#
    );
}

#[test]
fn turn_runs_from_the_message_to_the_result() {
    let mut protocol = Protocol::new();
    assert!(!protocol.is_busy());
    protocol.user(&"hello".into());
    assert!(protocol.is_busy());
    protocol.receive(r#"{"type":"result","subtype":"success"}"#.to_owned().into());
    assert!(!protocol.is_busy());
    protocol.receive(r#"{"type":"system","subtype":"init"}"#.to_owned().into());
    assert!(protocol.is_busy(), "a background task can begin a turn by itself");
}

proptest::proptest! {
    #[test]
    fn any_line_is_handled_without_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let mut connection = musher_rpc::LineSplitter::new(100);
        let mut protocol = Protocol::new();
        let mut lines = Vec::new();
        connection.push(&bytes, |line| if let musher_rpc::Line::Whole(line) = line { lines.push(line.to_vec()); });
        for line in lines {
            protocol.receive(String::from_utf8_lossy(&line).into_owned().into());
        }
    }
}
