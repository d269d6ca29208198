//! Whole turns, rendered.

use std::sync::Arc;

use musher::wire::Message;
use musher::{TextDelta, ToolCall};
use serde_json::json;

use super::*;

fn message(id: &str, text: &str) -> Event {
    let message: Message = serde_json::from_value(json!({
        "id": id, "role": "assistant", "content": [{"type": "text", "text": text}], "createdAt": 0, "updatedAt": 0,
    }))
    .unwrap();
    Event::Assistant(Arc::new(message))
}

fn delta(id: &str, text: &str) -> Event {
    Event::TextDelta(TextDelta::new(id, 0, text))
}

fn call(id: &str, name: &str, input: &Value) -> Event {
    Event::ToolCall(Box::new(ToolCall::new(id, name, input.clone())))
}

fn result(id: &str, text: &str, is_error: bool) -> Event {
    Event::ToolResult(ToolOutcome::new(id, text, is_error))
}

/// Returns the pieces as on a screen: text unchanged, notes as lines.
fn screen(view: &mut View, events: &[Event]) -> String {
    let pieces = events.iter().flat_map(|event| view.event(event, 40));
    let texts = pieces.map(|piece| match piece {
        Piece::Text(text) => text.as_str().to_owned(),
        Piece::Note(line) => line.as_str().to_owned() + "\n",
    });
    texts.collect()
}

#[test]
fn text_streams_and_tools_stand_on_lines_of_their_own() {
    let mut view = View::new(Style::PLAIN, true);
    let shown = screen(
        &mut view,
        &[
            delta("m1", "I lo"),
            delta("m1", "ok.\u{1b}[2J"),
            message("m1", "I look."),
            call("t1", "Read", &json!({"file_path": "a.rs"})),
            call("t2", "Execute", &json!({"command": "false"})),
            result("t2", "[Process exited with code 1]", true),
            result("t1", "1\n2\n", false),
            delta("m2", "Done.\n"),
            message("m2", "Done.\n"),
        ],
    );
    assert_eq!(shown, "I look.\\u{1b}[2J\n✗ Execute false  exit code 1: \n✓ Read a.rs  2 lines\nDone.\n");
    assert_eq!(view.tool_calls(), 2);
    assert!(view.is_between_lines());
}

#[test]
fn lines_of_ours_fit_the_width() {
    let mut view = View::new(Style::PLAIN, true);
    let long = "x".repeat(100);
    let shown =
        screen(&mut view, &[call("t", "Read", &json!({"file_path": long})), result("t", &long, true)]);
    assert_eq!(shown.trim_end().chars().count(), 40, "{shown}");
}

#[test]
fn message_without_pieces_is_shown_whole() {
    let mut view = View::new(Style::PLAIN, true);
    assert_eq!(screen(&mut view, &[message("m", "All at once.")]), "All at once.\n");
}

#[test]
fn what_is_not_live_is_shown_unless_it_was_the_last_word() {
    let mut view = View::new(Style::PLAIN, false);
    let first = [delta("m1", "I look."), message("m1", "I look."), call("t", "LS", &json!({}))];
    assert_eq!(screen(&mut view, &first), "I look.\n");
    // a message with a call in it may be whole only after the call
    let second = [
        delta("m3", "Once more."),
        call("t3", "LS", &json!({})),
        message("m3", "Once more."),
        result("t3", "a", false),
    ];
    assert_eq!(screen(&mut view, &second), "Once more.\n✓ LS  1 line\n");
    let last = [result("t", "a", false), delta("m2", "One."), message("m2", "One.")];
    assert_eq!(screen(&mut view, &last), "✓ LS  1 line\n");
}

#[test]
fn change_is_shown_once() {
    let report = r#"{"linesAdded":1,"linesRemoved":0,"diffLines":[{"type":"added","content":"b","lineNumber":{"new":2}}]}"#;
    let events = [call("t", "Edit", &json!({"file_path": "a"})), result("t", report, false)];
    let mut view = View::new(Style::PLAIN, true);
    assert_eq!(screen(&mut view, &events), "✓ Edit a  +1 -0\n     2 + b\n");
    let mut asked_before = View::new(Style::PLAIN, true);
    asked_before.has_shown("t");
    assert_eq!(screen(&mut asked_before, &events), "✓ Edit a  +1 -0\n");
}

#[test]
fn answer_that_starts_again_says_so() {
    let mut view = View::new(Style::PLAIN, true);
    let events = [
        delta("m", "Hel"),
        Event::Retracted { message_id: "m".to_owned() },
        delta("m", "Hello"),
        message("m", "Hello"),
    ];
    assert_eq!(screen(&mut view, &events), "Hel\n(incomplete answer discarded)\nHello\n");
}
