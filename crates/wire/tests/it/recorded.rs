//! The recorded lines that other tests use. `cargo xtask wire-check` reads and prints the payloads of each of them.

use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

/// Returns every message that the real agents sent or received, as text.
pub(crate) fn lines() -> Vec<String> {
    let mut lines = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire"), &mut lines);
    assert!(lines.len() > 2000, "only {} recorded lines found", lines.len());
    lines
}

#[expect(clippy::disallowed_methods, reason = "tests of a crate that does no IO need no error context")]
fn collect(folder: &Path, lines: &mut Vec<String>) {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            collect(&path, lines);
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            let text = std::fs::read_to_string(&path).unwrap();
            lines.extend(text.lines().filter_map(message));
        }
    }
}

/// Returns the original text of the message in a line of a capture.
fn message(line: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Record<'a> {
        #[serde(borrow, alias = "m")]
        msg: Option<&'a RawValue>,
    }

    let record: Record<'_> = serde_json::from_str(line).unwrap();
    let text = record.msg?.get();
    text.contains("\"jsonrpc\"").then(|| text.to_owned())
}

#[test]
fn every_recorded_line_is_a_frame_that_prints_back_equal() {
    for line in lines() {
        let frame = musher_wire::Frame::parse(line.as_bytes());
        let printed: Value = serde_json::from_str(&frame.to_line()).unwrap();
        assert_eq!(printed, serde_json::from_str::<Value>(&line).unwrap());
    }
}
