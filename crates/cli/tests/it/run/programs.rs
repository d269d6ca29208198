//! Output for programs: one object at the end, or one per event.

use musher_rehearse::{Reply, Script};
use serde_json::{Value, json};

use super::stage::{Stage, makes_a_file, step};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().map(|line| line["type"].as_str().unwrap()).collect()
}

#[test]
fn json_is_one_result_object() {
    let stage = Stage::new(Script::new().reply(Reply::text("Hello.").when(step(1))));
    let ran = stage.run(&["--json", "hello"]);
    let result = &lines(&ran.stdout)[0];
    assert_eq!((ran.code, ran.stderr.as_str(), ran.stdout.lines().count()), (Some(0), "", 1));
    assert_eq!(
        (&result["type"], &result["subtype"], &result["is_error"], &result["result"], &result["session_id"]),
        (&json!("result"), &json!("success"), &json!(false), &json!("Hello."), &json!("ID"))
    );
    assert!(result["usage"]["input_tokens"].as_u64().unwrap() > 0, "{result}");
}

#[test]
fn denial_is_reported_to_programs_with_its_reason() {
    let stage = Stage::new(makes_a_file());
    let ran = stage.run(&["--json", "make a file"]);
    let result = &lines(&ran.stdout)[0];
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""));
    assert_eq!((&result["subtype"], &result["is_error"]), (&json!("failure"), &json!(true)));
    assert!(result["result"].as_str().unwrap().contains("Execute touch made.txt"), "{result}");
}

#[test]
fn stream_json_is_a_line_for_each_thing_that_happens() {
    let stage = Stage::new(makes_a_file());
    let ran = stage.run(&["--stream-json", "--auto", "high", "make a file"]);
    let lines = lines(&ran.stdout);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        kinds(&lines),
        ["system", "message", "tool_call", "tool_result", "message", "completion"],
        "{}",
        ran.stdout
    );
    assert_eq!(lines[2]["parameters"]["command"], "touch made.txt");
    assert_eq!((&lines[3]["isError"], &lines[5]["finalText"]), (&json!(false), &json!("Made.")));
}

#[test]
fn partial_adds_the_pieces() {
    let text = Reply::thinking("Hm.").and_text(["Hel", "lo."]).when(step(1));
    let stage = Stage::new(Script::new().reply(text));
    let ran = stage.run(&["--stream-json", "--partial", "hello"]);
    let lines = lines(&ran.stdout);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let said = |kind: &str| -> String {
        let pieces = lines.iter().filter(|line| line["type"] == kind);
        pieces.map(|line| line["text"].as_str().unwrap()).collect()
    };
    assert_eq!((said("text_delta").as_str(), said("thinking_delta").as_str()), ("Hello.", "Hm."));
    assert!(kinds(&lines).contains(&"state") && kinds(&lines).contains(&"usage"), "{}", ran.stdout);
    assert!(lines.iter().all(|line| line["session_id"] == "ID"), "{}", ran.stdout);
}
