//! A session that is read message by message is the same as one that is read at once.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::support::{Home, session_id};
use crate::record::Record;
use crate::{Log, Store};
use musher_message::{Content, Message, Part, Role, ToolUse, Visibility};

/// Returns a record of a log that may be odd: ids, parents, calls and results from small sets.
fn records() -> impl Strategy<Value = Vec<Record>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::Tool), Just(Role::System)];
    let part = (0..4_u8, 0..6_u8);
    let message = (0..9_u8, 0..10_u8, role, prop::collection::btree_map(0..6_u8, part, 0..3), any::<bool>());
    let record = prop_oneof![
        12 => message.prop_map(|(id, parent, role, parts, is_hidden)| {
            let content = parts.into_iter().map(|(id, (kind, text))| part_of(kind, id, text)).collect();
            let mut message = Message::new(format!("m{id}"), role, content);
            message.parent_id = (parent < 9).then(|| format!("m{parent}"));
            if is_hidden {
                message.visibility = Visibility::LlmOnly;
            }
            Record::Message(Box::new(message))
        }),
        1 => (0..9_u8).prop_map(|id| Record::Compaction(Box::new(crate::Compaction {
            id: "c".to_owned(),
            summary: format!("summary {id}"),
            last_removed: (id % 2 == 0).then(|| format!("m{id}")),
            ..crate::Compaction::default()
        }))),
        1 => Just(Record::Todos { todos: json!({"todos": "1."}), message_index: 1 }),
        1 => Just(Record::TurnOutcome { turn_id: "m1".to_owned(), reason: "completed".to_owned() }),
        1 => Just(Record::Title { title: "Later".to_owned(), is_manual: false }),
    ];
    prop::collection::vec(record, 0..30)
}

fn part_of(kind: u8, id: u8, text: u8) -> Content {
    match kind {
        0 => Content::Text(format!("text {text}")),
        1 => Content::ToolUse(ToolUse::new(format!("t{id}"), "LS", Map::new())),
        _ => {
            let parts = vec![Part::Text(format!("result {text}"))];
            let (for_client, for_model) = (parts.clone(), parts);
            Content::ToolResult { tool_use_id: format!("t{id}"), for_client, for_model, is_error: kind == 3 }
        }
    }
}

/// Compares both ways to read a session.
fn assert_same(store: &Store, id: &str) {
    let id = session_id(id);
    let (whole, reading) = (store.read(&id).unwrap(), store.read_messages(&id).unwrap());
    let messages: Vec<Message> = reading.messages().map(Result::unwrap).collect();
    assert_eq!(messages, whole.messages);
    assert_eq!(reading.compaction(), whole.compaction.as_ref());
    assert_eq!(reading.todos(), whole.todos.as_ref());
    assert_eq!(reading.damage(), whole.damage);
    let visible = whole.messages.iter().filter(|message| message.visibility != Visibility::LlmOnly).count();
    assert_eq!(reading.count_visible(), visible);
    let results = whole.messages.iter().flat_map(|message| &message.content).filter_map(|part| match part {
        Content::ToolResult { tool_use_id, for_client, is_error, .. } => {
            Some((tool_use_id.clone(), (for_client.clone(), *is_error)))
        }
        _ => None,
    });
    let results: HashMap<String, _> = results.collect();
    for id in (0..6).map(|id| format!("t{id}")) {
        assert_eq!(reading.result(&id).unwrap(), results.get(&id).cloned(), "{id}");
    }
    // what is copied is the same conversation
    store.fork(&id, &session_id("fork"), None, None).unwrap();
    let fork = store.read(&session_id("fork")).unwrap();
    assert_eq!(fork.messages, whole.messages);
    assert_eq!(fork.start.title(), whole.start.title());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn messages_are_the_same_as_of_a_session_that_is_read_at_once(records in records()) {
        let home = Home::new();
        let mut log: Log = home.create("s");
        for record in &records {
            log.append(record).unwrap();
        }
        drop(log);
        assert_same(&home.store(), "s");
    }
}

#[test]
fn large_records_and_damage_are_the_same() {
    let home = Home::with_session("s");
    let mut log = home.store().load(&session_id("s")).unwrap().log;
    let large = Message::new("large", Role::User, vec![Content::Text("x".repeat(3 << 20))]);
    log.append(&Record::Message(Box::new(large))).unwrap();
    drop(log);
    let file = home.log_file("s");
    let mut content = fs_err::read(&file).unwrap();
    content.extend(b"{\"type\":\"message\",\"id\":\"half");
    fs_err::write(&file, content).unwrap();
    let reading = home.store().read_messages(&session_id("s")).unwrap();
    assert!(reading.damage().is_torn);
    let last = reading.messages().last().unwrap().unwrap();
    assert_eq!(last.content, [Content::Text("x".repeat(3 << 20))]);
    let sides = home.log_file("s").with_extension("large");
    fs_err::remove_dir_all(sides).unwrap();
    let (store, id) = (home.store(), session_id("s"));
    assert_eq!(store.read_messages(&id).unwrap().damage(), store.read(&id).unwrap().damage);
}

#[test]
fn messages_are_read_from_the_log_as_it_was_while_it_is_replaced() {
    let home = Home::with_session("s");
    let store = home.store();
    let reading = store.read_messages(&session_id("s")).unwrap();
    let before = store.read(&session_id("s")).unwrap().messages;
    store.load_log(&session_id("s")).unwrap().set_title(&"Longer ".repeat(20), true).unwrap();
    let messages: Vec<Message> = reading.messages().map(Result::unwrap).collect();
    assert_eq!(messages, before);
    let start = store.read(&session_id("s")).unwrap().start;
    assert_eq!(start.get("title"), Some(&Value::from("Longer ".repeat(20))));
}
