//! Bad input is answered as droid answered it in the recording.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

/// Returns the recording: each line of the client, with the errors that came before its next line.
fn recorded() -> Vec<(String, Vec<Value>)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/wire/droid-0.225.2/bad_input.jsonl");
    let mut lines: Vec<(String, Vec<Value>)> = Vec::new();
    for line in fs_err::read_to_string(path).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let message = record.get("msg").unwrap_or(&record["raw"]);
        if record["dir"] == "c2s" {
            let text = message.as_str().map_or_else(|| message.to_string(), str::to_owned);
            // the recording writes the invalid UTF-8 byte this way
            lines.push((text.trim_end().replace(r"\xff", "\u{fffd}"), Vec::new()));
        } else if message.get("error").is_some()
            && let Some((_, errors)) = lines.last_mut()
        {
            errors.push(message.clone());
        }
    }
    lines
}

#[test]
fn invalid_request_gets_the_same_error_as_from_droid() {
    let pending = Pending::default();
    let mut compared = 0;
    for (line, errors) in recorded() {
        // The recording shortens long lines. musher accepts the language of every SDK, droid accepts two.
        let is_ours = line.contains(r#""language": "rust""#);
        if Frame::is_blank(line.as_bytes()) || line.contains('\n') || line.ends_with(" bytes)") || is_ours {
            continue;
        }
        // Errors of the engine are not decided here.
        let by_engine = [RpcError::INTERNAL, RpcError::NOT_FOUND];
        let ours = errors.iter().filter(|it| !by_engine.iter().any(|code| it["error"]["code"] == *code));
        let expected: Vec<_> = ours.map(|it| (it["id"].clone(), it["error"].clone())).collect();
        let answered = match dispatch(Frame::parse(line.as_bytes()), &pending) {
            Action::Respond(response) => match response.outcome {
                Err(error) => {
                    let id = response.id.as_str().map_or(Value::Null, Value::from);
                    vec![(id, serde_json::json!({"code": error.code, "message": error.message}))]
                }
                Ok(_) => Vec::new(),
            },
            _ => Vec::new(),
        };
        compared += expected.len();
        assert_eq!(answered, expected, "{line}");
    }
    assert!(compared >= 18, "only {compared} responses were compared");
}

#[test]
fn page_has_every_method_that_is_served_and_no_other() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol/engine.md");
    let page = fs_err::read_to_string(page).unwrap();
    let (_, section) = page.split_once("\n## Methods that the client calls\n").unwrap();
    let rows = section.lines().skip_while(|line| !line.starts_with('|')).skip(2);
    let cells = rows.take_while(|line| line.starts_with('|')).map(|row| row.split(" | ").next().unwrap());
    let documented: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let is_served = |method: &&&str| {
        let line = serde_json::json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": "1", "method": method, "params": {},
        });
        match dispatch(Frame::parse(line.to_string().as_bytes()), &Pending::default()) {
            Action::Respond(response) => {
                response.outcome.err().is_none_or(|error| error.code != RpcError::METHOD_NOT_FOUND)
            }
            _ => true,
        }
    };
    let served: BTreeSet<&str> = musher_wire::METHODS.iter().filter(is_served).copied().collect();
    assert_eq!(documented, served);
}

fn answer_to(asked: crate::pending::QuestionKind, line: &str) -> Action {
    let pending = Pending::default();
    pending.table().add_question("q".to_owned(), asked);
    let action = dispatch(Frame::parse(line.as_bytes()), &pending);
    assert_eq!(pending.table().take_question("q"), None, "the question is settled by any response: {line}");
    action
}

#[test]
fn permission_is_granted_only_by_a_known_answer() {
    let refusals = [
        (r#""result":{"selectedOption":"cancel"}"#, None),
        (r#""result":{"selectedOption":"sure"}"#, Some("Invalid permission response format: ")),
        (r#""result":{}"#, Some("Invalid permission response format: ")),
        (r#""result":{"selectedOption":1}"#, Some("Invalid permission response format: ")),
        (r#""result":"proceed_once""#, Some("Invalid permission response format: ")),
        (r#""result":null"#, Some("Invalid permission response format: ")),
        (r#""error":{"code":-32603,"message":"handler failed"}"#, Some("[code -32603] handler failed")),
        (r#""error":{}"#, Some("Invalid permission response format: ")),
    ];
    for (outcome, expected) in refusals {
        let line = format!(
            r#"{{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"response","id":"q",{outcome}}}"#
        );
        match answer_to(crate::pending::QuestionKind::Permission, &line) {
            Action::Answer(_, UserResponse::Denied { reason }) => match (reason, expected) {
                (None, None) => {}
                (Some(reason), Some(expected)) => assert!(reason.starts_with(expected), "{line}: {reason}"),
                (reason, _) => panic!("{line}: {reason:?}"),
            },
            other => panic!("{line}: {other:?}"),
        }
    }
    let yes = r#"{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"response","id":"q","result":{"selectedOption":"proceed_once","x":1}}"#;
    assert!(matches!(
        answer_to(crate::pending::QuestionKind::Permission, yes),
        Action::Answer(
            _,
            UserResponse::Decision(musher_engine::Decision {
                choice: musher_engine::Choice::ProceedOnce,
                ..
            })
        )
    ));
    // a response with an invalid envelope does not count either
    let bare = r#"{"id":"q","result":{"selectedOption":"proceed_once"}}"#;
    assert!(matches!(
        answer_to(crate::pending::QuestionKind::Permission, bare),
        Action::Answer(_, UserResponse::Denied { .. })
    ));
}

#[test]
fn question_accepts_only_objects_as_answers() {
    let answered = |outcome: &str| {
        let line = format!(
            r#"{{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"response","id":"q","result":{outcome}}}"#
        );
        match answer_to(crate::pending::QuestionKind::Questions, &line) {
            Action::Answer(_, answer) => answer,
            other => panic!("{other:?}"),
        }
    };
    let given = answered(r#"{"answers":[{"index":1,"question":"Which?","answer":"Red"}]}"#);
    assert_eq!(given, UserResponse::Answers(vec![(1, "Red".to_owned())]));
    assert_eq!(answered(r#"{"cancelled":true,"answers":[]}"#), UserResponse::Denied { reason: None });
    let strings = answered(r#"{"answers":["Red"]}"#);
    assert_eq!(strings, UserResponse::Denied { reason: Some("AskUser cancelled".to_owned()) });
}
