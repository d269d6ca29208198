//! Background commands: polled, fed and stopped.

use serde_json::{Value, json};

use crate::builtin::testing::TestWorkspace;
use crate::{Execute, TaskInput, TaskOutput, TaskStop, ToolOutput};

/// Starts a background command and returns its id.
async fn start(scene: &TestWorkspace, command: &str) -> String {
    let input = json!({"command": command, "summary": "Run a test", "riskLevel": "low", "riskLevelReason": "a test", "fireAndForget": true});
    let text = scene.run(&Execute, input).await.client_text();
    text.lines().find_map(|line| line.strip_prefix("task_id: ")).unwrap().to_owned()
}

async fn look(scene: &TestWorkspace, id: &str, block: bool) -> String {
    scene.run(&TaskOutput, json!({"task_id": id, "block": block})).await.model_text()
}

async fn feed(scene: &TestWorkspace, id: &str, input: &str, more: Value) -> ToolOutput {
    let mut call = json!({"task_id": id, "input": input, "timeout": 20_000});
    call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    scene.run(&TaskInput, call).await
}

#[tokio::test]
async fn command_is_fed_and_each_output_is_returned_once() {
    let scene = TestWorkspace::new();
    let id = start(&scene, "while read line; do echo \"got $line\"; done; echo bye; exit 3").await;
    let first = feed(&scene, &id, "one\n", json!({})).await.model_text();
    assert!(
        first.starts_with("Status: running (PID: ") && first.ends_with("New output:\ngot one\n"),
        "{first}"
    );
    assert!(look(&scene, &id, false).await.ends_with("No new output."));
    feed(&scene, &id, "two\n", json!({"end_input": true})).await;
    // the output of the end may come with the call before
    let last = look(&scene, &id, true).await;
    assert!(last.starts_with("Status: ended\n[Process exited with code 3]"), "{last}");
    assert!(look(&scene, &id, true).await.ends_with("No new output."), "an ended command stays known");
    let closed = feed(&scene, &id, "x", json!({})).await;
    assert!(
        closed.is_error && closed.model_text().contains("its input is closed"),
        "{}",
        closed.model_text()
    );
}

#[tokio::test]
async fn ended_command_returns_all_its_output() {
    let scene = TestWorkspace::new();
    let id = start(&scene, "echo out; echo err >&2").await;
    let text = look(&scene, &id, true).await;
    assert!(text.ends_with("New output:\nout\nerr\n"), "{text}");
}

#[tokio::test]
async fn long_output_is_shown_from_its_end() {
    let scene = TestWorkspace::new();
    let id = start(&scene, "seq 1 20000").await;
    let text = look(&scene, &id, true).await;
    assert!(text.len() < 34_000 && text.ends_with("\n20000\n"), "{}", text.len());
    assert!(text.contains(" bytes of output are not shown; all of it is in /"), "{}", &text[..300]);
}

#[tokio::test]
async fn command_is_stopped_with_its_children() {
    let scene = TestWorkspace::new();
    let id = start(&scene, "sleep 3600 & wait").await;
    assert_eq!(scene.run(&TaskStop, json!({"task_id": id})).await.client_text(), "Task stopped");
    assert!(look(&scene, &id, true).await.starts_with("Status: ended\n"));
    assert_eq!(
        scene.run(&TaskStop, json!({"task_id": id})).await.client_text(),
        "The task has ended already"
    );
}

#[tokio::test]
async fn unknown_command_is_an_error_that_says_how_to_start_one() {
    let output = feed(&TestWorkspace::new(), "command_9", "x", json!({})).await;
    assert!(output.is_error && output.model_text().contains("`fireAndForget`"), "{}", output.model_text());
}
