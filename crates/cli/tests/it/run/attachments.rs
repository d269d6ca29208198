//! Pictures, files and schemas.

use musher_rehearse::{Reply, Script};
use serde_json::json;

use super::stage::{Stage, step};

const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";
const SCHEMA: &str =
    r#"{"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}"#;

fn answers(text: &str) -> Stage {
    Stage::new(Script::new().reply(Reply::text(text).when(step(1))))
}

#[test]
fn picture_and_a_file_reach_the_model() {
    let stage = answers("Seen.");
    let (picture, file) = (stage.file("dot.png", PIXEL), stage.file("notes.txt", "the secret word is mango"));
    let ran = stage.run(&["--image", &picture, "--attach", &file, "look at these"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let asked = stage.calls()[0].body.as_ref().unwrap().to_string();
    assert!(asked.contains("mango") && asked.contains("data:image/png;base64,iVBORw0K"), "{asked}");
}

#[test]
fn what_is_neither_is_refused_before_anything_is_asked() {
    let stage = answers("Never.");
    let file = stage.file("data.bin", b"\xff\xfe\0");
    let ran = stage.run(&["--attach", &file, "look"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("neither UTF-8 text nor a PDF"), "{}", ran.stderr);
    let ran = stage.run(&["--image", &file, "look"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("PNG, JPEG, GIF or WebP"), "{}", ran.stderr);
    assert!(stage.calls().is_empty());
}

#[test]
fn answer_in_the_form_of_a_schema_is_printed_as_json() {
    let stage = answers(r#"{"count": 7}"#);
    let schema = stage.file("schema.json", SCHEMA);
    let ran = stage.run(&["--schema", &schema, "count"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let printed: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(printed, json!({"count": 7}));
    let ran = stage.run(&["--schema", &schema, "--json", "count"]);
    let result: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(result["structured_output"], json!({"count": 7}), "{result}");
}

#[test]
fn answer_of_another_form_fails_the_task() {
    let script = (1..10).fold(Script::new(), |script, call| {
        script.reply(Reply::text(r#"{"count": "many"}"#).when(step(call)))
    });
    let stage = Stage::new(script);
    let schema = stage.file("schema.json", SCHEMA);
    let ran = stage.run(&["--schema", &schema, "count"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: "), "{}", ran.stderr);
}

#[test]
fn schema_that_is_none_is_refused() {
    let stage = answers("Never.");
    for (content, error) in
        [("not json", "invalid JSON in"), (r#"{"type": 7}"#, "the output schema is invalid")]
    {
        let schema = stage.file("schema.json", content);
        let ran = stage.run(&["--schema", &schema, "count"]);
        assert!(ran.stderr.contains(error), "{}", ran.stderr);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    }
}
