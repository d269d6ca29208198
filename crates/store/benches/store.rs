//! Time to load a session of 20 MB, and to append a record.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use std::path::PathBuf;

use musher_message::Part;
use musher_message::ToolUse;
use musher_message::{Content, Message, Role};
use musher_store::SessionId;
use musher_store::{NewSession, Record, Store};
use serde_json::{Map, json};

fn main() {
    divan::main();
}

/// Returns a turn with a tool call whose result is some kilobytes of code.
fn turn(number: usize) -> Vec<Record> {
    let id = |what: &str| format!("{what}-{number:08}-0000-4000-8000-000000000000");
    let input =
        json!({"file_path": "/workspace/src/main.rs", "offset": number}).as_object().cloned().unwrap();
    let call = ToolUse::new(id("call"), "Read", input);
    let code = "    let value = map.get(\"key\").copied().unwrap_or_default();\n".repeat(60);
    let result = Content::ToolResult {
        tool_use_id: id("call"),
        for_client: vec![Part::Text(code.clone())],
        for_model: vec![Part::Text(code)],
        is_error: false,
    };
    let text = |text: &str| Content::Text(text.to_owned());
    let messages = vec![
        Message::new(id("user"), Role::User, vec![text("Please look into the next part of it.")]),
        Message::new(id("call"), Role::Assistant, vec![text("I read it."), Content::ToolUse(call)]),
        Message::new(id("result"), Role::Tool, vec![result]),
        Message::new(id("answer"), Role::Assistant, vec![text("It takes a value out of a map.")]),
    ];
    messages.into_iter().map(|message| Record::Message(Box::new(message))).collect()
}

fn session(home: &std::path::Path, megabytes: u64) -> (Store, SessionId) {
    let store = Store::open(home);
    let id = SessionId::new("s").unwrap();
    let new = NewSession {
        id: id.clone(),
        cwd: PathBuf::from("/workspace"),
        title: None,
        owner: None,
        host_id: None,
        parent: None,
        settings: Map::new(),
        extra: Map::new(),
    };
    let mut log = store.create(new).unwrap();
    let mut number = 0;
    while fs_err::metadata(log.path()).unwrap().len() < megabytes * 1_000_000 {
        for record in turn(number) {
            log.append(&record).unwrap();
        }
        number += 1;
    }
    (store, id)
}

#[divan::bench(sample_count = 20)]
fn load_20_mb(bencher: divan::Bencher<'_, '_>) {
    let home = tempfile::tempdir().unwrap();
    let (store, id) = session(home.path(), 20);
    bencher.bench_local(|| store.load(&id).unwrap());
}

#[divan::bench]
fn append(bencher: divan::Bencher<'_, '_>) {
    let home = tempfile::tempdir().unwrap();
    let (store, id) = session(home.path(), 1);
    let mut log = store.load(&id).unwrap().log;
    let record = turn(0).remove(3);
    bencher.bench_local(|| log.append(&record).unwrap());
}
