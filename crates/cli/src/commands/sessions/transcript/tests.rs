use std::path::PathBuf;
use std::time::SystemTime;

use musher_engine::SessionId;
use musher_engine::store::{NewSession, Record, Store, Summary};
use serde_json::{Map, json};

use super::*;
use crate::args::sessions::Owner;
use crate::style::Style;
use crate::styled::Styled;

/// Returns a session with all kinds of content, including escape sequences.
fn transcript(contents: Vec<(Role, Vec<Content>)>) -> Transcript {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path());
    let id = SessionId::new("s").unwrap();
    let new = NewSession {
        id: id.clone(),
        cwd: PathBuf::from("/workspace"),
        title: Some("A talk".to_owned()),
        owner: None,
        host_id: None,
        parent: None,
        settings: Map::new(),
        extra: Map::new(),
    };
    let mut log = store.create(new).unwrap();
    for (index, (role, content)) in contents.into_iter().enumerate() {
        let mut message = Message::new(format!("m{index}"), role, content);
        message.parent_id = index.checked_sub(1).map(|before| format!("m{before}"));
        log.append(&Record::Message(Box::new(message))).unwrap();
    }
    let summary: Summary = store.list(None, 1).remove(0);
    let summary = Summary { modified: SystemTime::UNIX_EPOCH, ..summary };
    Transcript::new(Found { owner: Owner::Musher, summary }, store.read_messages(&id).unwrap())
}

fn as_text(transcript: &Transcript, is_full: bool) -> String {
    let mut lines = Vec::new();
    let print = &mut |line: Styled| {
        lines.push(line);
        Ok(())
    };
    transcript.text(is_full, Style::PLAIN, print).unwrap();
    without_time(Styled::lines(lines).as_str())
}

/// Removes the time. The session was changed in 1970, at a time that depends on the time zone.
fn without_time(text: &str) -> String {
    text.replace(&timestamp::local(SystemTime::UNIX_EPOCH).unwrap(), "TIME")
}

fn as_markdown(transcript: &Transcript) -> String {
    let mut text = Vec::new();
    transcript.markdown(true, &mut text).unwrap();
    without_time(&String::from_utf8(text).unwrap())
}

fn as_json(transcript: &Transcript) -> Value {
    let mut text = Vec::new();
    transcript.json(&mut text).unwrap();
    let value: Value = serde_json::from_slice(&text).unwrap();
    assert_eq!(String::from_utf8(text).unwrap(), serde_json::to_string_pretty(&value).unwrap());
    value
}

fn call(id: &str, name: &str, input: Value) -> Content {
    let Value::Object(input) = input else { panic!("an object") };
    Content::ToolUse(ToolUse::new(id, name, input))
}

fn result(id: &str, text: &str, is_error: bool) -> Content {
    let parts = vec![Part::Text(text.to_owned())];
    Content::ToolResult { tool_use_id: id.to_owned(), for_client: parts.clone(), for_model: parts, is_error }
}

fn text(text: &str) -> Content {
    Content::Text(text.to_owned())
}

fn work() -> Transcript {
    let many = (1..=20).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
    transcript(vec![
        (Role::User, vec![text("Fix it.\nPlease.")]),
        (
            Role::Assistant,
            vec![
                text("I look first."),
                call("t1", "Execute", json!({"command": "cargo test", "timeout": 5})),
                call("t2", "Odd", json!({"a": 1})),
            ],
        ),
        (Role::Tool, vec![result("t2", "no", true), result("t1", &many, false)]),
        (Role::Assistant, vec![text("Done: \u{1b}[31mred\u{7}.")]),
    ])
}

#[test]
fn people_read_prompts_answers_and_calls_with_their_results() {
    let expected = "\
A talk
s · musher · /workspace · 4 messages · TIME

> Fix it.
> Please.

I look first.
• Execute cargo test
    line 1
    line 2
    line 3
    line 4
    line 5
    line 6
    line 7
    line 8
    … 12 more lines; --full shows all
✗ Odd {\"a\":1}
    no
Done:  [31mred .";
    assert_eq!(as_text(&work(), false), expected);
    assert!(as_text(&work(), true).contains("    line 20\n"));
}

#[test]
fn changes_and_todos_are_shown_for_people() {
    let report = json!({"success": true, "diffLines": [
        {"type": "removed", "content": "a", "lineNumber": {"old": 7}},
        {"type": "added", "content": "b", "lineNumber": {"new": 7}},
    ]});
    let shown = transcript(vec![
        (
            Role::Assistant,
            vec![
                call("t1", "Edit", json!({"file_path": "a.rs", "old_str": "a", "new_str": "b"})),
                call("t2", "TodoWrite", json!({"todos": "1. [completed] Look\n2. [pending] Fix"})),
                call("t3", "Grep", json!({"path": ".", "pattern": "TODO"})),
                call("t4", "ApplyPatch", json!({"input": "*** Begin Patch\n*** Update File: a.rs\n"})),
            ],
        ),
        (
            Role::Tool,
            vec![
                result("t1", &report.to_string(), false),
                result("t2", "{\"success\":true}", false),
                result("t3", "a.rs:1", false),
                result("t4", "done", false),
            ],
        ),
    ]);
    let text = as_text(&shown, false);
    let expected = "\
• Edit a.rs
    7 - a
    7 + b
• TodoWrite
    1. [completed] Look
    2. [pending] Fix
• Grep TODO
    a.rs:1
• ApplyPatch a.rs
    done";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn markdown_has_headings_and_blocks_that_content_cannot_end() {
    let hostile = transcript(vec![
        (Role::User, vec![text("Show it.")]),
        (Role::Assistant, vec![call("t", "Read", json!({"file_path": "a`b"}))]),
        (Role::Tool, vec![result("t", "```\nnot the end\n````", false)]),
    ]);
    let expected = "\
# A talk

s · musher · /workspace · 3 messages · TIME

## User

Show it.

## Agent

**Read** ``a`b``

`````text
```
not the end
````
`````
";
    assert_eq!(as_markdown(&hostile), expected);
}

#[test]
fn programs_get_every_message_and_every_part() {
    let mut told = as_json(&work());
    for message in told["messages"].as_array_mut().unwrap() {
        assert!(message["createdAt"].take().is_string());
    }
    assert_eq!(
        told["messages"][1],
        json!({
            "id": "m1", "role": "assistant", "createdAt": null, "model": null, "visibility": "both",
            "content": [
                {"type": "text", "text": "I look first."},
                {"type": "tool_use", "id": "t1", "name": "Execute", "input": {"command": "cargo test", "timeout": 5}},
                {"type": "tool_use", "id": "t2", "name": "Odd", "input": {"a": 1}},
            ],
        })
    );
    assert_eq!(
        told["messages"][2]["content"][0],
        json!({"type": "tool_result", "toolUseId": "t2", "isError": true, "text": "no"})
    );
    assert_eq!((&told["damage"], &told["summary"]), (&Value::Null, &Value::Null));
}
