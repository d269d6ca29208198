//! Property tests: no input panics, and JSON input prints back as the same value.

use musher_wire::{Frame, Json, METHODS, Side, inspect};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::recorded;

/// Parses a line, checks that printing and parsing round-trip, and returns whether the envelope is valid.
fn check_round_trip(line: &[u8]) -> bool {
    let frame = Frame::parse(line);
    let printed = frame.to_line();
    assert!(!printed.contains('\n'), "line break inside a printed line");
    let again = Frame::parse(printed.as_bytes());
    match &frame {
        Frame::Malformed(malformed) => {
            assert!(matches!(again, Frame::Malformed(_)), "{malformed:?} became {again:?}");
        }
        _ => assert_eq!(again, frame),
    }
    let payload = match &frame {
        Frame::Request(request) => request.params.clone(),
        Frame::Notification(notification) => notification.params.clone(),
        Frame::Response(response) => response.outcome.clone().ok(),
        Frame::Malformed(_) => None,
    };
    if let Some(payload) = payload {
        check_payload_types(&payload);
    }
    frame.check_envelope().is_ok()
}

/// Does the same for input with line breaks, which is several lines.
fn check_lines(input: &[u8]) {
    for line in input.split(|byte| *byte == b'\n') {
        check_round_trip(line);
    }
}

/// Reads a payload as each type of the method table. A payload that can be read must print back equal.
fn check_payload_types(payload: &Json) {
    let notification = ["droid.session_notification", "daemon.session_notification"];
    for method in METHODS.iter().chain(&notification) {
        for side in [Side::Params, Side::Result] {
            if let Some(Ok(read)) = inspect(method, side, payload) {
                assert_eq!(read.printed, *payload, "{method} {side:?}");
            }
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((any_key(), inner), 0..6)
                .prop_map(|fields| Value::from(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Generates keys of the protocol half of the time, so that typed readers get past the first field.
fn any_key() -> impl Strategy<Value = String> {
    let known = [
        "type", "id", "method", "params", "result", "error", "jsonrpc", "_meta", "code", "message", "content",
    ];
    prop_oneof![prop::sample::select(known.to_vec()).prop_map(str::to_owned), ".{0,6}"]
}

/// Replaces the part of `value` at `path` by `replacement`.
fn mutate(value: &mut Value, path: &[usize], replacement: &Value) {
    let children: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.iter_mut().map(|(_, child)| child).collect(),
        _ => Vec::new(),
    };
    let count = children.len();
    match path.split_first() {
        Some((step, rest)) if count > 0 => {
            let child = children.into_iter().nth(step % count).unwrap();
            mutate(child, rest, replacement);
        }
        _ => *value = replacement.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_parse_as_a_frame(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check_lines(&bytes);
    }

    #[test]
    fn arbitrary_json_parses_as_a_frame(value in any_json()) {
        check_round_trip(value.to_string().as_bytes());
    }

    #[test]
    fn arbitrary_payloads_print_back_equal(payload in any_json()) {
        let call = json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": "1", "method": "droid.x",
            "params": payload,
        });
        prop_assert!(check_round_trip(call.to_string().as_bytes()));
    }

    #[test]
    fn recorded_lines_with_a_changed_value_parse_as_a_frame(
        pick in any::<prop::sample::Index>(), path in prop::collection::vec(any::<usize>(), 0..7), new in any_json(),
    ) {
        let mut value: Value = serde_json::from_str(pick.get(recorded_once()).as_str()).unwrap();
        mutate(&mut value, &path, &new);
        check_round_trip(value.to_string().as_bytes());
    }

    #[test]
    fn recorded_lines_with_changed_bytes_parse_as_a_frame(
        pick in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = pick.get(recorded_once()).clone().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check_lines(&bytes);
    }

    #[test]
    fn truncated_recorded_lines_parse_as_a_frame(pick in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()) {
        let line = pick.get(recorded_once()).as_bytes();
        check_round_trip(&line[..cut.index(line.len())]);
    }
}

fn recorded_once() -> &'static [String] {
    static LINES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    LINES.get_or_init(recorded::lines)
}
