//! Tests of the form of records: droid's records are read, and written records have droid's form.

use musher_message::Part;
use musher_message::{Media, Proof, Thinking, ToolUse};
use serde_json::json;

use super::*;
use musher_message::{Content, Role, Visibility};

fn read(line: &str) -> Record {
    match parse(serde_json::from_str(line).unwrap()) {
        Some(Line::Record(record)) => record,
        other => panic!("{other:?}"),
    }
}

fn message(content: Vec<Content>, role: Role) -> Message {
    let mut message = Message::new("m", role, content);
    (message.created_at_ms, message.updated_at_ms) = (1_794_783_425_171, 1_794_783_425_171);
    message.parent_id = Some("p".to_owned());
    message
}

/// Formats a record with this message, as a line of a log.
fn line(inner: &str) -> String {
    format!(
        r#"{{"type":"message","id":"m","parentId":"p","timestamp":"2026-11-15T22:57:05.171Z","message":{inner}}}"#
    )
}

#[test]
fn messages_are_written_in_the_form_of_droid() {
    let text = || Content::Text("Hello".to_owned());
    let thinking = |proof| Content::Thinking(Thinking { text: "hm".to_owned(), proof });
    let input = json!({"file_path": "a", "content": "x"}).as_object().cloned().unwrap();
    let call = ToolUse::new("t", "Create", input);
    let media = |media_type: &str, data: &str, name: Option<&str>| Media {
        media_type: media_type.to_owned(),
        data: data.to_owned(),
        name: name.map(str::to_owned),
    };
    let result = |for_client: &str, for_model: &str| Content::ToolResult {
        tool_use_id: "t".to_owned(),
        for_client: vec![Part::Text(for_client.to_owned())],
        for_model: vec![Part::Text(for_model.to_owned())],
        is_error: true,
    };
    let mut hidden = message(vec![text()], Role::User);
    hidden.visibility = Visibility::LlmOnly;
    let mut answer = message(
        vec![thinking(Some(Proof::Signature { signature: "s".to_owned() })), text(), Content::ToolUse(call)],
        Role::Assistant,
    );
    answer.model_id = Some("custom:m".to_owned());
    answer.reasoning_effort = Some("none".to_owned());
    let mut typed = message(vec![text()], Role::User);
    typed.extra.insert("interactionMode".to_owned(), "auto".into());
    let mut late = message(vec![text()], Role::Assistant);
    late.updated_at_ms += 5;
    let mut system = message(vec![text()], Role::System);
    system.visibility = Visibility::UserOnly;

    let call = ToolUse { signature: Some("sig".to_owned()), ..ToolUse::new("t", "LS", Map::new()) };
    let details = vec![json!({"type": "reasoning.encrypted", "data": "x"})];
    let mut signed =
        message(vec![thinking(Some(Proof::Details { details })), Content::ToolUse(call)], Role::Assistant);
    signed.extra.insert("geminiThoughtSignature".to_owned(), "of-the-text".into());
    signed.extra.insert("musher".to_owned(), json!({"prefix": "1f"}));

    for (message, inner) in [
        (hidden, r#"{"role":"user","content":[{"type":"text","text":"Hello"}],"visibility":"llm_only"}"#),
        (typed, r#"{"role":"user","content":[{"type":"text","text":"Hello"}],"interactionMode":"auto"}"#),
        (
            answer,
            r#"{"role":"assistant","content":[{"type":"thinking","signature":"s","signatureProvider":"anthropic","thinking":"hm"},{"type":"text","text":"Hello"},{"type":"tool_use","id":"t","name":"Create","input":{"file_path":"a","content":"x"}}],"modelId":"custom:m","reasoningEffort":"none"}"#,
        ),
        (
            message(vec![result("Error: no", "Error: no")], Role::Tool),
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Error: no"}]}"#,
        ),
        (
            message(vec![result("short", "long")], Role::Tool),
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"short"}],"musher":{"modelContent":{"t":"long"}}}"#,
        ),
        (
            message(
                vec![
                    Content::Image(media("image/png", "AA==", None)),
                    Content::Document(media("text/plain", "aGk=", Some("n.txt"))),
                    Content::Unknown(json!({"type": "new", "n": 1})),
                ],
                Role::User,
            ),
            r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AA==","media_type":"image/png"}},{"type":"document","source":{"type":"text","data":"hi","media_type":"text/plain","name":"n.txt"}},{"type":"new","n":1}]}"#,
        ),
        (
            message(
                vec![
                    thinking(Some(Proof::Plain)),
                    thinking(Some(Proof::Encrypted { id: "rs".to_owned(), content: "enc".to_owned() })),
                    thinking(None),
                ],
                Role::Assistant,
            ),
            r#"{"role":"assistant","content":[{"type":"thinking","signature":"reasoning_content","signatureProvider":"generic-chat-completion-api","thinking":"hm"},{"type":"thinking","signature":"{\"id\":\"rs\",\"type\":\"reasoning\",\"summary\":[{\"type\":\"summary_text\",\"text\":\"hm\"}],\"encrypted_content\":\"enc\"}","signatureProvider":"openai","thinking":"hm"},{"type":"thinking","signature":"","thinking":"hm"}]}"#,
        ),
        (
            late,
            r#"{"role":"assistant","content":[{"type":"text","text":"Hello"}],"updatedAt":1794783425176}"#,
        ),
        (
            signed,
            r#"{"role":"assistant","content":[{"type":"thinking","signature":"","thinking":"hm"},{"type":"tool_use","id":"t","name":"LS","input":{},"thoughtSignature":"sig"}],"geminiThoughtSignature":"of-the-text","musher":{"prefix":"1f","reasoningDetails":{"0":[{"type":"reasoning.encrypted","data":"x"}]}}}"#,
        ),
        (
            system,
            r#"{"role":"user","content":[{"type":"text","text":"Hello"}],"visibility":"user_only","musher":{"role":"system"}}"#,
        ),
    ] {
        let record = Record::Message(Box::new(message));
        assert_eq!(record.json().to_string(), line(inner));
        assert_eq!(read(&line(inner)), record);
    }
}

#[test]
fn other_records_are_written_in_the_form_of_droid() {
    let outcome = r#"{"type":"agent_turn_outcome","turnId":"u","reason":"completed","resultKind":"text"}"#;
    assert_eq!(read(outcome).json().to_string(), outcome);
    let compaction = r#"{"type":"compaction_state","id":"c","timestamp":"2026-11-15T23:01:23.137Z","summaryText":"Mango","summaryTokens":2,"summaryKind":"llm_summary","anchorMessage":{"id":"m","index":0},"removedCount":1,"systemInfo":{"osName":"linux"}}"#;
    assert_eq!(read(compaction).json().to_string(), compaction);
    let todos = r#"{"type":"todo_state","id":"i","timestamp":"2026-11-15T22:57:05.739Z","todos":{"todos":[]},"messageIndex":3}"#;
    let expected = Record::Todos { todos: json!({"todos": []}), message_index: 3 };
    assert_eq!(read(todos), expected);
    assert_eq!(read(&expected.json().to_string()), expected);
    let unknown = r#"{"type":"from_the_future","n":1.5,"a":{}}"#;
    assert_eq!(read(unknown).json().to_string(), unknown);
}

#[test]
fn fields_known_only_to_droid_are_preserved() {
    let line = r#"{"type":"message","id":"m","timestamp":"2026-11-15T22:57:05.171Z","message":{"role":"assistant","content":[{"type":"thinking","signature":"{\"id\":\"rs\",\"type\":\"reasoning\",\"summary\":[]}","signatureProvider":"openai","durationMs":1,"thinking":"hm"},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"","name":"p.pdf","path":"/p"}}],"openaiMessageId":"o"},"compactionSummaryId":"c"}"#;
    let Record::Message(message) = read(line) else { panic!("no message") };
    assert_eq!(message.content[0], Content::Thinking(Thinking { text: "hm".to_owned(), proof: None }));
    assert!(matches!(&message.content[1], Content::Unknown(part) if part["source"]["path"] == "/p"));
    assert_eq!(message.extra["openaiMessageId"], "o");
    let written = Record::Message(message).json();
    assert_eq!(
        (&written["compactionSummaryId"], &written["message"]["openaiMessageId"]),
        (&json!("c"), &json!("o"))
    );
}

#[test]
fn damaged_records_are_not_parsed() {
    for line in [
        r#"{"type":"message","id":"m"}"#,
        r#"{"type":"message","message":{"role":"user","content":[]}}"#,
        r#"{"type":"message","id":"m","message":{"role":"user"}}"#,
        r#"{"type":"message","id":"m","message":{"role":"pirate","content":[]}}"#,
        r#"{"type":"agent_turn_outcome","turnId":"u"}"#,
        r#"{"type":"compaction_state","id":"c"}"#,
        r#"{"id":"m"}"#,
        "[]",
        "null",
    ] {
        assert!(parse(serde_json::from_str(line).unwrap()).is_none(), "{line}");
    }
}
