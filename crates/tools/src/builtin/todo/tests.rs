//! Plans in the formats that models send.

use serde_json::json;

use super::*;
use crate::builtin::testing::TestWorkspace;

fn short(todos: &Value) -> Vec<String> {
    Todo::parse(todos).into_iter().map(|todo| format!("{:?} {}", todo.status, todo.text)).collect()
}

#[test]
fn lines_and_objects_are_read() {
    let lines =
        json!("1. [completed] One\n2) [in_progress] Two\n\n- [x] Three\nplain\n3. [odd] Four\n4. [pending]");
    assert_eq!(
        short(&lines),
        ["Completed One", "InProgress Two", "Completed Three", "Pending plain", "Pending Four"]
    );
    let objects = json!([{"content": "One", "status": "completed"}, {"text": "Two"}, "[pending] Three", 7]);
    assert_eq!(short(&objects), ["Completed One", "Pending Two", "Pending Three"]);
    assert_eq!(short(&json!({"odd": true})), Vec::<String>::new());
}

#[test]
fn plan_is_bounded() {
    let long = json!("x\n".repeat(60) + &"y".repeat(600));
    assert_eq!(Todo::parse(&long).len(), 50);
    assert_eq!(Todo::parse(&json!("y".repeat(600)))[0].text.len(), 500);
}

#[tokio::test]
async fn any_plan_is_accepted() {
    let scene = TestWorkspace::new();
    for input in [json!({"todos": "1. [pending] a"}), json!({"todos": [1]}), json!({})] {
        let output = scene.run(&TodoWrite, input).await;
        assert_eq!((output.client_text().as_str(), output.is_error), ("TODO List Updated", false));
    }
}
