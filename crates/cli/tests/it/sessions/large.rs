//! Logs of any size: what reads a session message by message needs no memory for all of it.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use musher_engine::store::{NewSession, Record, Store};
use musher_engine::{Content, Message, Part, Role, ToolUse};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Map, Value, json};

use super::stage::{Home, session_id};
use crate::program;

const ID: &str = "eeee4444-0000-4000-8000-000000000004";
/// The maximum memory of a run with many messages; as many in memory take about twice as much.
const MAX_WITH_MESSAGES: i64 = 64 << 10;
/// The maximum memory of a run with a damaged line of any length, of which 64 MiB are read at once.
const MAX_WITH_HOLE: i64 = 128 << 10;
/// The part of a log without data; it costs no disk.
const HOLE: u64 = 3300 << 20;

/// A session that is written in turns of four messages.
struct Writer {
    log: musher_engine::store::Log,
    count: usize,
}

impl Writer {
    fn create(home: &Home) -> Self {
        let new = NewSession {
            id: session_id(ID),
            cwd: home.work(),
            title: Some("A long talk".to_owned()),
            owner: None,
            host_id: None,
            parent: None,
            settings: Map::new(),
            extra: Map::new(),
        };
        Self { log: home.store().create(new).unwrap(), count: 0 }
    }

    /// A prompt, a call, its result and an answer.
    fn turn(&mut self, text: &str) {
        let turn = self.count / 4;
        let call = ToolUse::new(format!("t{turn}"), "Execute", json_object(&json!({"command": "cat file"})));
        let parts = vec![Part::Text(format!("result {turn} {text}"))];
        let result = Content::ToolResult {
            tool_use_id: format!("t{turn}"),
            for_client: parts.clone(),
            for_model: parts,
            is_error: false,
        };
        self.add(Role::User, Content::Text(format!("prompt {turn} {text}")));
        self.add(Role::Assistant, Content::ToolUse(call));
        self.add(Role::Tool, result);
        self.add(Role::Assistant, Content::Text(format!("answer {turn} {text}")));
    }

    fn add(&mut self, role: Role, content: Content) {
        let mut message = Message::new(format!("m{}", self.count), role, vec![content]);
        message.parent_id = self.count.checked_sub(1).map(|before| format!("m{before}"));
        self.log.append(&Record::Message(Box::new(message))).unwrap();
        self.count += 1;
    }

    /// Adds a part to the log that has no data, as a damaged line.
    fn hole(&self) {
        let mut log = OpenOptions::new().append(true).open(self.log.path()).unwrap();
        let length = log.metadata().unwrap().len();
        log.set_len(length + HOLE).unwrap();
        log.write_all(b"\n").unwrap();
    }
}

fn json_object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Runs a command to its end, within a maximum of memory in KiB.
fn run(home: &Home, max: i64, arguments: &[&str], stdout: Stdio) -> String {
    let mut command = program::command(&[&["sessions"], arguments].concat());
    command.env("HOME", home.path()).current_dir(home.work()).stdout(stdout);
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert!(status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stderr));
    // the peak of all children of this test so far
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    assert!(peak <= max, "{arguments:?} takes {peak} KiB");
    String::from_utf8(stdout).unwrap()
}

fn is_last_of(file: &Path, wanted: &str) -> bool {
    let text = fs_err::read(file).unwrap();
    let tail = &text[text.len().saturating_sub(4096)..];
    String::from_utf8_lossy(tail).contains(wanted)
}

#[test]
fn fifty_thousand_messages_are_shown_found_exported_copied_and_renamed_in_little_memory() {
    let home = Home::empty();
    let mut writer = Writer::create(&home);
    let text = "word ".repeat(20);
    while writer.count < 50_000 {
        writer.turn(&text);
    }
    drop(writer);
    let run = |arguments: &[&str], stdout| run(&home, MAX_WITH_MESSAGES, arguments, stdout);
    run(&["show", ID], Stdio::null());
    let found = run(&["search", "answer 12499"], Stdio::piped());
    assert!(found.contains("assistant: answer 12499 word"), "{found}");
    let file = |name: &str| home.work().join(name);
    for (format, last) in [("json", "\"damage\": null"), ("jsonl", "answer 12499")] {
        run(&["export", ID, "--format", format, "-o", format], Stdio::null());
        assert!(is_last_of(&file(format), last), "{format}");
    }
    let fork = run(&["fork", ID], Stdio::piped());
    run(&["rename", ID, "Another title"], Stdio::null());
    let lines = |id: &str| {
        let log = home.store().find(&session_id(id)).unwrap();
        fs_err::read_to_string(log).unwrap().lines().count()
    };
    assert_eq!((lines(ID), lines(fork.trim())), (50_001, 50_001));
    assert!(run(&["list", "--all"], Stdio::piped()).contains("Another title"));
}

#[test]
fn log_of_more_than_three_gigabytes_is_shown_found_exported_copied_and_renamed_in_little_memory() {
    let home = Home::empty();
    let mut writer = Writer::create(&home);
    writer.turn("before the hole");
    writer.hole();
    writer.turn("after the hole");
    let log = writer.log.path();
    drop(writer);
    assert!(fs_err::metadata(&log).unwrap().len() > 3 << 30);
    let run = |arguments: &[&str], stdout| run(&home, MAX_WITH_HOLE, arguments, stdout);
    let shown = run(&["show", ID], Stdio::piped());
    assert!(shown.contains("prompt 0 before") && shown.contains("result 1 after the hole"), "{shown}");
    assert!(run(&["search", "ANSWER 1"], Stdio::piped()).contains("answer 1"));
    let exported: Value =
        serde_json::from_str(&run(&["export", ID, "--format", "json"], Stdio::piped())).unwrap();
    assert_eq!(exported["messages"].as_array().unwrap().len(), 8);
    assert_eq!(exported["damage"], "1 damaged lines were skipped");
    run(&["export", ID, "--format", "jsonl"], Stdio::null());
    let fork = run(&["fork", ID], Stdio::piped());
    let fork = Store::open(home.path().join(".musher")).read(&session_id(fork.trim())).unwrap();
    assert_eq!(fork.messages.len(), 8);
    run(&["rename", ID, "Another title"], Stdio::null());
    let renamed = home.store().read(&session_id(ID)).unwrap();
    assert_eq!((renamed.start.title(), renamed.messages.len()), ("Another title", 8));
}
