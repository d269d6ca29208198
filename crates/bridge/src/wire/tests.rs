//! Lines of front ends, valid and invalid, and the schema.

use std::path::Path;

use musher_rpc::RawLine;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::payload::SessionOptions;
use super::request::{Command, Request};
use super::schema::schema;

fn parse(text: &str) -> Option<Result<Request, Value>> {
    let parsed = Request::parse(&RawLine::from(text.to_owned()))?;
    Some(parsed.map_err(|invalid| serde_json::from_str(&invalid.frame()).unwrap()))
}

/// Returns the error that a line causes: its ids and its details.
fn refused(line: &Value) -> Value {
    let error = parse(&line.to_string()).unwrap().unwrap_err();
    assert_eq!(
        (&error["type"], &error["payload"]["code"]),
        (&json!("error"), &json!("INVALID_MESSAGE")),
        "{line}"
    );
    json!([error["id"], error["session_id"], error["payload"]["details"]])
}

#[test]
fn blank_lines_and_a_byte_order_mark_are_ignored() {
    for text in ["", "   ", "\t", "\u{feff}", "\u{feff}  "] {
        assert!(parse(text).is_none(), "{text:?}");
    }
    let kill = "\u{feff}{\"type\":\"session.kill\",\"id\":\"1\",\"session_id\":\"s\"}\r";
    assert!(matches!(parse(kill), Some(Ok(Request::Session { command: Command::Kill, .. }))));
}

#[test]
fn input_that_is_not_an_object_has_no_id() {
    for text in ["rubbish", "{", "[1]", "null", "\"x\"", "{} {}", "{\"type\":\"session.kill\",}"] {
        let error = parse(text).unwrap().unwrap_err();
        assert_eq!((&error["payload"]["code"], error.get("id")), (&json!("INVALID_MESSAGE"), None), "{text}");
    }
}

#[test]
fn invalid_envelopes_are_reported_with_their_ids() {
    for (line, expected) in [
        (json!({"id": "1"}), json!(["1", null, null])),
        (json!({"id": "1", "type": 7}), json!(["1", null, null])),
        (json!({"id": "1", "type": "session.fly"}), json!(["1", null, null])),
        (json!({"id": "1", "type": "sdk.message", "session_id": "s"}), json!(["1", "s", null])),
        (json!({"id": 1, "type": "session.kill", "session_id": "s"}), json!([null, "s", null])),
        (json!({"type": "session.create", "payload": {"prompt": "", "cwd": "/"}}), json!([null, null, null])),
        (json!({"id": "1", "type": "session.create"}), json!(["1", null, null])),
        (json!({"id": "1", "type": "session.create", "payload": []}), json!(["1", null, null])),
        (json!({"id": "1", "type": "session.send", "session_id": "s"}), json!(["1", "s", null])),
        (json!({"id": "1", "type": "callback.response", "session_id": "s"}), json!(["1", "s", null])),
        (json!({"id": "1", "type": "query.call", "session_id": "s", "payload": 3}), json!(["1", "s", null])),
        (json!({"id": "1", "type": "session.kill"}), json!(["1", null, null])),
        (json!({"id": "1", "type": "session.interrupt", "session_id": 5}), json!(["1", null, null])),
    ] {
        assert_eq!(refused(&line), expected, "{line}");
    }
}

#[test]
fn invalid_field_is_reported_with_path_and_expected_type() {
    let create = |payload: Value| {
        let refused = refused(&json!({"type": "session.create", "id": "1", "payload": payload}));
        (refused[2]["path"].as_str().unwrap().to_owned(), refused[2]["expected"].as_str().unwrap().to_owned())
    };
    let option =
        |name: &str, value: Value| create(json!({"prompt": "p", "cwd": "/", "options": {name: value}}));
    let pair = |path: &str, expected: &str| (path.to_owned(), expected.to_owned());

    assert_eq!(create(json!({"cwd": "/"})), pair("prompt", "a string"));
    assert_eq!(create(json!({"prompt": "p"})), pair("cwd", "a string"));
    assert_eq!(create(json!({"prompt": 1, "cwd": "/"})), pair("prompt", "a string"));
    assert_eq!(create(json!({"content": [1], "cwd": "/"})), pair("content", "a list of content blocks"));
    assert_eq!(
        create(json!({"prompt": "p", "cwd": "/", "options": 1})),
        pair("options", "struct SessionOptions")
    );
    assert_eq!(option("max_turns", json!("many")), pair("options.max_turns", "u64"));
    assert_eq!(option("max_turns", json!(-1)), pair("options.max_turns", "u64"));
    assert_eq!(option("max_turns", json!(1.5)), pair("options.max_turns", "u64"));
    assert_eq!(option("allowed_tools", json!(["a", 2])), pair("options.allowed_tools[1]", "a string"));
    assert_eq!(
        option("include_partial_messages", json!("yes")),
        pair("options.include_partial_messages", "a boolean")
    );
    assert_eq!(
        option("hooks", json!({"Stop": [{"matcher": 1}]})),
        pair("options.hooks.Stop[0].matcher", "a string")
    );
    assert_eq!(option("mcp_servers", json!({"a": 1})), pair("options.mcp_servers.a", "an object"));
    assert_eq!(
        option("mcp_servers", json!({"a": {"args": [1]}})),
        pair("options.mcp_servers.a.args[0]", "a string")
    );
    assert_eq!(option("sandbox", json!({"network": 1})).0, "options.sandbox.network");
    assert_eq!(
        option("output_format", json!({"type": "json_schema", "schema": 1})).0,
        "options.output_format.schema"
    );
    for (name, value) in [
        ("agent", json!("cat")),
        ("permission_mode", json!("sometimes")),
        ("system_prompt", json!({"type": "other"})),
        ("setting_sources", json!(["elsewhere"])),
        ("agents", json!({"a": {"description": "d"}})),
        ("max_budget_usd", json!("1")),
        ("betas", json!("x")),
    ] {
        let (path, expected) = option(name, value);
        assert!(path.starts_with(&format!("options.{name}")) && !expected.is_empty(), "{path} {expected}");
    }
}

#[test]
fn every_option_can_be_given_at_once_and_null_is_absent() {
    let options = json!({
        "agent": "claude", "model": "m", "permission_mode": "dontAsk", "allowed_tools": ["a"], "disallowed_tools": [],
        "system_prompt": {"type": "preset", "preset": "claude_code"}, "max_turns": 1, "max_budget_usd": 1,
        "max_thinking_tokens": 1, "include_partial_messages": true, "enable_file_checkpointing": true,
        "additional_directories": ["/"], "mcp_servers": {"a": {"command": "c", "more": 1}, "b": {"type": "http", "url": "u"}},
        "agents": {"a": {"description": "d", "prompt": "p", "maxTurns": 3}}, "hooks": {"AnyName": [{}]},
        "sandbox": {"enabled": true}, "setting_sources": ["user", "project", "local"], "betas": [],
        "output_format": {"type": "json_schema", "schema": {}}, "fallback_model": "f", "resume": "r",
        "resume_session_at": "m", "fork_session": true, "allow_dangerously_skip_permissions": true, "tools": [],
        "strict_mcp_config": true, "plugins": [{"type": "local", "path": "/p"}], "surprise": 1
    });
    let names: Vec<_> = options.as_object().unwrap().keys().cloned().collect();
    assert!(SessionOptions::NAMES.iter().all(|name| names.iter().any(|it| it == name)));
    let line = |options: &Value| {
        json!({"type": "session.create", "id": "1", "payload": {"prompt": "p", "cwd": "/", "options": options}}).to_string()
    };
    let Some(Ok(Request::Create(create))) = parse(&line(&options)) else { panic!("not a request") };
    assert_eq!(create.unknown_options, ["surprise"]);
    let agents = create.options.agents.unwrap();
    assert_eq!(agents["a"].0.to_value().unwrap()["maxTurns"], 3, "unknown fields are passed on");
    let nothing: serde_json::Map<_, _> = names.into_iter().map(|name| (name, Value::Null)).collect();
    assert!(matches!(parse(&line(&nothing.into())), Some(Ok(Request::Create(_)))));
}

#[test]
fn schema_names_every_option_and_message() {
    let schema = schema();
    let options = &schema["$defs"]["SessionOptions"]["properties"];
    let mut names: Vec<_> = options.as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = SessionOptions::NAMES.to_vec();
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
    let kinds = |side: &str| -> Vec<String> {
        let lines = schema["$defs"][side]["oneOf"].as_array().unwrap().iter();
        lines.map(|line| line["properties"]["type"]["const"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((kinds("FrontEndMessage").len(), kinds("BridgeMessage").len()), (6, 7));
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/bridge.json");
    let published: Value = serde_json::from_str(&fs_err::read_to_string(published).unwrap()).unwrap();
    assert!(
        published == schema,
        "docs/schema/bridge.json is out of date; run `musher bridge --schema > docs/schema/bridge.json`"
    );
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/bridge.d.ts");
    let is_new = fs_err::read_to_string(published).unwrap() == super::typescript::typescript();
    assert!(
        is_new,
        "docs/schema/bridge.d.ts is out of date; run `musher bridge --types > docs/schema/bridge.d.ts`"
    );
}

/// Any JSON, not too large.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(field(), inner, 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Mostly a field of the protocol.
fn field() -> impl Strategy<Value = String> {
    let known =
        ["type", "id", "session_id", "payload", "prompt", "cwd", "options", "message", "method", "args"];
    let options = SessionOptions::NAMES.iter().copied();
    let names: Vec<String> = known.into_iter().chain(options).map(ToOwned::to_owned).collect();
    prop_oneof![proptest::sample::select(names), ".{0,6}"]
}

fn kind() -> impl Strategy<Value = Value> {
    const KINDS: [&str; 6] = [
        "session.create",
        "session.send",
        "session.interrupt",
        "session.kill",
        "callback.response",
        "query.call",
    ];
    prop_oneof![4 => proptest::sample::select(&KINDS[..]).prop_map(Value::from), 1 => any_json()]
}

proptest! {
    #[test]
    fn any_text_is_a_request_or_an_answer_on_one_line(text in ".{0,200}") {
        if let Some(Err(invalid)) = Request::parse(&RawLine::from(text)) {
            let frame = invalid.frame();
            prop_assert!(!frame.contains('\n'));
            prop_assert_eq!(&serde_json::from_str::<Value>(&frame).unwrap()["type"], "error");
        }
    }

    #[test]
    fn any_message_is_a_request_or_an_answer_with_its_id(kind in kind(), id in any_json(), session in any_json(), payload in any_json()) {
        let line = json!({"type": kind, "id": id, "session_id": session, "payload": payload});
        match Request::parse(&RawLine::from(line.to_string())) {
            Some(Ok(Request::Create(create))) => prop_assert_eq!(Value::from(create.id), id),
            Some(Ok(Request::Session { id: read, session_id, .. })) => {
                prop_assert_eq!(Value::from(read), id);
                prop_assert_eq!(Value::from(session_id), session);
            }
            Some(Err(invalid)) => {
                let frame: Value = serde_json::from_str(&invalid.frame()).unwrap();
                let echoed = if id.is_string() { Some(&id) } else { None };
                prop_assert_eq!(frame.get("id"), echoed);
                prop_assert_eq!(&frame["payload"]["code"], "INVALID_MESSAGE");
            }
            None => prop_assert!(false, "an object is never blank"),
        }
    }
}
