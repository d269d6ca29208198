//! Additions of newer peers survive reading and printing.

use musher_wire::{
    AutonomyLevel, ContentBlock, Count, CreateMessage, Frame, InitializeSessionParams, SessionNotification,
    ToolResult, ToolResultContent, UpdateSessionSettingsParams,
};
use serde_json::{Value, json};

fn round_trip<T: serde::Serialize + serde::de::DeserializeOwned>(value: &Value) -> T {
    let read: T = serde_json::from_str(&value.to_string()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), *value);
    read
}

#[test]
fn unknown_notification_keeps_its_fields() {
    let read: SessionNotification =
        round_trip(&json!({"type": "nap_taken", "minutes": 20, "deep": {"er": [1]}}));
    let SessionNotification::Unknown(unknown) = read else { panic!("the tag is known") };
    assert_eq!(&*unknown.tag, "nap_taken");
    assert_eq!(unknown.fields.get("minutes").unwrap().text(), "20");
}

#[test]
fn unknown_enum_value_is_kept() {
    let read: InitializeSessionParams =
        round_trip(&json!({"machineId": "m", "cwd": "/", "autonomyLevel": "galactic"}));
    assert_eq!(read.autonomy_level, Some(AutonomyLevel::Unrecognized("galactic".into())));
}

#[test]
fn unknown_content_block_does_not_fail_the_message() {
    let read: CreateMessage = round_trip(&json!({"message": {"id": "m", "role": "assistant", "content": [
        {"type": "hologram", "data": "..."}, {"type": "text", "text": "Hi", "new": null},
    ]}}));
    assert!(matches!(read.message.content[0], ContentBlock::Unknown(_)));
    assert_eq!(read.message.text(), "Hi");
}

#[test]
fn null_and_absent_stay_distinct() {
    let cleared: UpdateSessionSettingsParams = round_trip(&json!({"specModeModelId": null}));
    assert_eq!(cleared.spec_mode_model_id, None);
    assert_ne!(cleared, UpdateSessionSettingsParams::default());
}

#[test]
fn tag_may_be_any_key() {
    let text =
        r#"{"minutes":1,"textDelta":"Hi","blockIndex":0,"messageId":"m","type":"assistant_text_delta"}"#;
    let read: SessionNotification = serde_json::from_str(text).unwrap();
    assert!(matches!(read, SessionNotification::AssistantTextDelta(delta) if delta.text_delta == "Hi"));
    assert!(serde_json::from_str::<SessionNotification>(r#"{"minutes":1}"#).is_err());
    assert!(serde_json::from_str::<SessionNotification>("{}").is_err());
}

#[test]
fn tool_results_of_every_form_are_preserved() {
    let text: ToolResult = round_trip(&json!({"toolUseId": "t", "content": "done"}));
    assert_eq!(text.content, ToolResultContent::from("done"));
    let blocks: ToolResult =
        round_trip(&json!({"toolUseId": "t", "content": [{"type": "text", "text": "a"}]}));
    assert!(matches!(blocks.content, ToolResultContent::Blocks(blocks) if blocks.len() == 1));
    for odd in [json!({"a": 1}), json!(null), json!([1, 2]), json!(7)] {
        let other: ToolResult = round_trip(&json!({"toolUseId": "t", "content": odd}));
        assert!(matches!(other.content, ToolResultContent::Other(_)));
    }
}

#[test]
fn numbers_are_preserved_verbatim() {
    let line = r#"{"type":"request","id":12345678901234567890123,"method":"m","params":{"n":1.10,"big":1e400},"x":-0}"#;
    assert_eq!(Frame::parse(line.as_bytes()).to_line(), line);
    assert_eq!(round_trip::<Count>(&json!(12.5)).get(), 12);
    assert_eq!(round_trip::<Count>(&json!(-3)).get(), 0);
}

#[test]
fn unknown_fields_print_after_the_known_ones_and_the_last_duplicate_wins() {
    let read: ToolResult = serde_json::from_str(r#"{"a":1,"toolUseId":"t","a":2,"content":""}"#).unwrap();
    assert_eq!(read.extra.get("a").unwrap().text(), "2");
    assert_eq!(serde_json::to_string(&read).unwrap(), r#"{"toolUseId":"t","content":"","a":1,"a":2}"#);
}
