//! Throughput of parsing recorded lines into typed values, compared with `serde_json::Value` on the same lines.
//!
//! Run with `cargo bench -p musher-wire`. The unit is lines per second (items/s); typed parsing must not be slower.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark")]

use std::hint::black_box;
use std::path::Path;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use musher_wire::Frame;
use serde_json::Value;
use serde_json::value::RawValue;

fn main() {
    divan::main();
}

#[derive(serde::Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    msg: Option<&'a RawValue>,
}

/// Returns the notifications of all recorded turns, in recorded order.
fn notifications() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/droid-0.225.2");
    let mut lines = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let text = std::fs::read_to_string(path).unwrap();
            let records = text.lines().map(|line| serde_json::from_str::<Record<'_>>(line).unwrap());
            // the original text, because the order of its keys affects the measurement
            let messages = records.filter_map(|record| record.msg).map(|message| message.get().to_owned());
            lines.extend(
                messages.filter(|line| matches!(Frame::parse(line.as_bytes()), Frame::Notification(_))),
            );
        }
    }
    assert!(lines.len() > 1000, "only {} notifications found", lines.len());
    lines
}

fn run(bencher: Bencher<'_, '_>, parse: impl Fn(&str) + Sync) {
    let lines = notifications();
    let bytes: usize = lines.iter().map(String::len).sum();
    bencher.counter(ItemsCount::new(lines.len())).counter(BytesCount::new(bytes)).bench(|| {
        for line in &lines {
            parse(black_box(line));
        }
    });
}

#[divan::bench]
fn value(bencher: Bencher<'_, '_>) {
    run(bencher, |line| {
        black_box(serde_json::from_str::<Value>(line).unwrap());
    });
}

#[divan::bench]
fn frame(bencher: Bencher<'_, '_>) {
    run(bencher, |line| {
        black_box(Frame::parse(line.as_bytes()));
    });
}

#[divan::bench]
fn typed(bencher: Bencher<'_, '_>) {
    run(bencher, |line| {
        let Frame::Notification(frame) = Frame::parse(line.as_bytes()) else { unreachable!() };
        black_box(frame.session().unwrap());
    });
}
