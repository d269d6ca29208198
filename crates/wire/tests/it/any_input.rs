//! Whatever comes in: no panic, and what is JSON prints back as the same value.

use musher_wire::{Frame, Json, METHODS, Side, inspect};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::recorded;

/// Reads a line in every way the crate offers; returns whether it is a message.
fn read_in_every_way(line: &[u8]) -> bool {
    let frame = Frame::parse(line);
    let printed = frame.to_line();
    assert!(!printed.contains('\n'), "a line break inside a line");
    // reading what we printed gives the same frame
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
        read_as_everything(&payload);
    }
    frame.check_envelope().is_ok()
}

/// The same for input that may hold line breaks, which then is several lines.
fn read_lines_in_every_way(input: &[u8]) {
    for line in input.split(|byte| *byte == b'\n') {
        read_in_every_way(line);
    }
}

/// Reads a payload as each type of the table: a payload that reads must print back equal.
fn read_as_everything(payload: &Json) {
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

/// Keys of the protocol half of the time, so that typed readers get something to chew on.
fn any_key() -> impl Strategy<Value = String> {
    let known = [
        "type", "id", "method", "params", "result", "error", "jsonrpc", "_meta", "code", "message", "content",
    ];
    prop_oneof![prop::sample::select(known.to_vec()).prop_map(str::to_owned), ".{0,6}"]
}

/// A path into a value, and what to put there.
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
    fn arbitrary_bytes_are_some_frame(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        read_lines_in_every_way(&bytes);
    }

    #[test]
    fn arbitrary_json_is_some_frame(value in any_json()) {
        read_in_every_way(value.to_string().as_bytes());
    }

    #[test]
    fn arbitrary_payloads_print_back_equal(payload in any_json()) {
        let call = json!({
            "jsonrpc": "2.0", "factoryApiVersion": "1.0.0", "type": "request", "id": "1", "method": "droid.x",
            "params": payload,
        });
        prop_assert!(read_in_every_way(call.to_string().as_bytes()));
    }

    #[test]
    fn recorded_lines_with_a_changed_value_are_some_frame(
        pick in any::<prop::sample::Index>(), path in prop::collection::vec(any::<usize>(), 0..7), new in any_json(),
    ) {
        let mut value: Value = serde_json::from_str(pick.get(recorded_once()).as_str()).unwrap();
        mutate(&mut value, &path, &new);
        read_in_every_way(value.to_string().as_bytes());
    }

    #[test]
    fn recorded_lines_with_changed_bytes_are_some_frame(
        pick in any::<prop::sample::Index>(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
    ) {
        let mut bytes = pick.get(recorded_once()).clone().into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_lines_in_every_way(&bytes);
    }

    #[test]
    fn recorded_lines_cut_anywhere_are_some_frame(pick in any::<prop::sample::Index>(), cut in any::<prop::sample::Index>()) {

        let line = pick.get(recorded_once()).as_bytes();
        read_in_every_way(&line[..cut.index(line.len())]);
    }
}

fn recorded_once() -> &'static [String] {
    static LINES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
    LINES.get_or_init(recorded::lines)
}
