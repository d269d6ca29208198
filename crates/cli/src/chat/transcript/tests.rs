use std::sync::Arc;

use musher::wire::{Json, Message, ToolExecutionPhaseChanged, ToolProgressUpdate};
use musher::{TextDelta, ThinkingDelta, ToolCall, ToolOutcome};
use serde_json::{Value, json};

use super::*;

struct Stage {
    transcript: Transcript,
    now: Instant,
}

impl Stage {
    fn new() -> Self {
        Self { transcript: Transcript::new(Some("/work".into())), now: Instant::now() }
    }

    /// Handles the event, after some milliseconds; returns the lines that became finished.
    fn event(&mut self, after: u64, event: &Event) -> Vec<String> {
        self.now += Duration::from_millis(after);
        self.transcript.event(event, self.now, 60);
        self.transcript.take().iter().map(Line::text).collect()
    }

    fn doing(&mut self, after: u64) -> String {
        self.now += Duration::from_millis(after);
        self.transcript.doing(self.now)
    }

    fn live(&self) -> Vec<String> {
        self.transcript.live(self.now, 60, 10).iter().map(Line::text).collect()
    }
}

fn delta(text: &str) -> Event {
    Event::TextDelta(TextDelta::new("m", 0, text))
}

fn message(text: &str) -> Event {
    let message: Message = serde_json::from_value(json!({
        "id": "m", "role": "assistant", "content": [{"type": "text", "text": text}], "createdAt": 0, "updatedAt": 0,
    }))
    .unwrap();
    Event::Assistant(Arc::new(message))
}

fn call(id: &str, name: &str, input: &Value) -> Event {
    Event::ToolCall(Box::new(ToolCall::new(id, name, input.clone())))
}

fn running(id: &str) -> Event {
    let phase: ToolExecutionPhaseChanged =
        serde_json::from_value(json!({"toolUseId": id, "phase": "executing"})).unwrap();
    Event::ToolPhase(phase)
}

fn progress(id: &str, update: &Value) -> Event {
    let update: ToolProgressUpdate =
        serde_json::from_value(json!({"toolUseId": id, "update": update})).unwrap();
    Event::ToolProgress(Box::new(update))
}

fn result(id: &str, name: &str, text: &str, is_error: bool) -> Event {
    let mut outcome = ToolOutcome::new(id, text, is_error);
    outcome.tool_name = Some(name.to_owned());
    Event::ToolResult(outcome)
}

#[test]
fn finished_paragraphs_are_given_out_once_and_the_rest_is_live() {
    let mut stage = Stage::new();
    assert_eq!(stage.event(0, &delta("One.\n\nTw")), ["One."]);
    assert_eq!(stage.live(), ["", "Tw"]);
    assert_eq!(stage.event(0, &delta("o.")), Vec::<String>::new());
    assert_eq!(stage.event(0, &message("One.\n\nTwo.")), ["", "Two."]);
    assert_eq!(stage.live(), Vec::<String>::new());
}

#[test]
fn thoughts_are_folded_and_can_be_shown() {
    let mut stage = Stage::new();
    let thought = Event::ThinkingDelta(ThinkingDelta::new("m", 0, "First this.\nThen that."));
    assert_eq!(stage.event(0, &thought), Vec::<String>::new());
    assert_eq!(stage.live(), ["First this.", "Then that."]);
    assert_eq!(stage.event(4200, &delta("Done.\n\n")), ["✻ thought for 4.2s", ""]);
    assert_eq!(stage.transcript.last_thought(), "First this.\nThen that.");
}

#[test]
fn parallel_calls_have_their_own_times_and_the_end_of_their_output() {
    let mut stage = Stage::new();
    stage.event(0, &call("a", "Execute", &json!({"command": "make"})));
    stage.event(0, &call("b", "Execute", &json!({"command": "sleep 9"})));
    stage.event(1000, &running("a"));
    stage.event(2000, &running("b"));
    stage.event(0, &progress("a", &json!({"type": "status", "fullOutput": "1\n2\n3\n4\n5\n6\n"})));
    stage.event(3000, &progress("b", &json!({"type": "status", "text": "x"})));
    let expected = ["● Execute make  5.0s", "  3", "  4", "  5", "  6", "● Execute sleep 9  3.0s", "  x"];
    assert_eq!(stage.live(), expected);
    let lines = stage
        .event(1000, &result("a", "Execute", "1\n2\n3\n4\n5\n6\n\n\n[Process exited with code 0]", false));
    assert_eq!(lines, ["✓ Execute make  6 lines · 6.0s", "  4", "  5", "  6", ""]);
    assert_eq!(stage.event(0, &result("a", "Execute", "again", false)), Vec::<String>::new());
    let failed = "Error: Command failed (exit code: 3)\nwrong\n\n\n[Process exited with code 3]";
    let lines = stage.event(0, &result("b", "Execute", failed, true));
    assert_eq!(lines[0], "✗ Execute sleep 9  exit code 3 · 4.0s");
    assert!(lines.contains(&"  wrong".to_owned()), "{lines:?}");
}

#[test]
fn steps_of_a_subagent_are_indented_below_its_call() {
    let mut stage = Stage::new();
    stage.event(0, &call("t", "Task", &json!({"description": "Look around"})));
    for file in ["a", "b", "c", "d"] {
        let parameters = json!({"file_path": format!("/work/{file}.rs")});
        let step = json!({"type": "tool_call", "toolName": "Read", "parameters": parameters, "subagentSessionId": "s"});
        stage.event(0, &progress("t", &step));
    }
    assert_eq!(stage.live(), ["● Task Look around  ", "  └ Read b.rs", "  └ Read c.rs", "  └ Read d.rs"]);
    let lines = stage.event(0, &result("t", "Task", "Found it.", false));
    assert_eq!(lines, ["✓ Task Look around  4 steps"]);
}

#[test]
fn to_do_list_is_shown_as_it_changes() {
    let mut stage = Stage::new();
    let todos = json!({"todos": "1. [completed] Look\n2. [in_progress] Think\n3. [pending] Write"});
    stage.event(0, &call("t", "TodoWrite", &todos));
    let lines = stage.event(0, &result("t", "TodoWrite", "ok", false));
    assert_eq!(lines, ["To do  1/3", "  ☑ Look", "  ▸ Think", "  ☐ Write"]);
}

#[test]
fn change_is_shown_once() {
    let report = r#"{"linesAdded":1,"linesRemoved":0,"diffLines":[{"type":"added","content":"b","lineNumber":{"new":2}}]}"#;
    let mut stage = Stage::new();
    stage.event(0, &call("t", "Edit", &json!({"file_path": "/work/a"})));
    assert_eq!(stage.event(0, &result("t", "Edit", report, false)), ["✓ Edit a  +1 -0", "     2 + b", ""]);
    stage.event(0, &call("u", "Edit", &json!({"file_path": "/work/a"})));
    stage.transcript.has_shown("u");
    assert_eq!(stage.event(0, &result("u", "Edit", report, false)), ["✓ Edit a  +1 -0"]);
}

#[test]
fn retry_names_its_reason_and_how_long_it_lasts() {
    let mut stage = Stage::new();
    let retry: musher::wire::LlmRetry =
        serde_json::from_value(json!({"reason": "rate_limited", "attempt": 2})).unwrap();
    stage.event(0, &Event::Retry(retry.into()));
    stage.now += Duration::from_secs(3);
    assert_eq!(
        stage.transcript.doing(stage.now),
        "retrying the model request (rate limited, attempt 2) 3.0s"
    );
}

#[test]
fn unknown_tool_and_odd_results_are_shown() {
    let mut stage = Stage::new();
    stage.event(0, &Event::ToolCall(Box::new(ToolCall::new("t", "server___do", Json::from(json!(7))))));
    assert_eq!(stage.event(0, &result("t", "server___do", "\u{1b}[2Jx", true)), ["✗ server___do   [2Jx"]);
    assert_eq!(stage.event(0, &result("never", "x", "y", false)), Vec::<String>::new());
}

#[test]
fn retry_counts_down_and_names_its_reason() {
    let mut stage = Stage::new();
    let retry = json!({"reason": "rate_limit", "attempt": 2, "delayMs": 4000, "message": "429: slow down"});
    let retry: musher::wire::LlmRetry = serde_json::from_value(retry).unwrap();
    let lines = stage.event(0, &Event::Retry(retry.into()));
    assert_eq!(lines, ["! 429: slow down"]);
    assert_eq!(stage.doing(0), "retrying the model request in 4s (rate limit, attempt 2)");
    assert_eq!(stage.doing(2500), "retrying the model request in 2s (rate limit, attempt 2)");
    assert_eq!(stage.doing(2000), "retrying the model request (rate limit, attempt 2) 4.5s");
    stage.event(0, &delta("here"));
    assert_eq!(stage.doing(0), "writing");
}
