//! Recorded traffic of the real droid, played to the adapter.

use agent_client_protocol::v1::schema::StopReason;
use serde_json::json;

use crate::recording::capture;
use crate::stage::with_editor;

const DROID: &str = "droid-0.225.2";

#[tokio::test]
async fn thoughts_and_text_are_told_once() {
    with_editor(capture(DROID, "thinking_turn").agent(), "cancel", async |editor| {
        let session = editor.open().await;
        assert_eq!(editor.prompt(&session, "Go.").await.unwrap(), StopReason::EndTurn);
        assert_eq!(editor.text(), "Answer.");
        let thoughts = editor.updates("agent_thought_chunk");
        let thoughts: String =
            thoughts.iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect();
        assert_eq!(thoughts, "Let me think about this.");
    })
    .await;
}

#[tokio::test]
async fn edit_update_has_the_whole_file_before_and_after() {
    with_editor(capture(DROID, "edit_file").agent(), "proceed_once", async |editor| {
        let session = editor.open().await;
        assert_eq!(editor.prompt(&session, "Go.").await.unwrap(), StopReason::EndTurn);
        let last = editor.updates("tool_call_update").pop().unwrap();
        let diff = json!([{
            "type": "diff", "path": "/workspace/edit_me.txt",
            "oldText": "alpha\nbeta\ngamma\n", "newText": "alpha\nBETA\ngamma\n",
        }]);
        assert_eq!((&last["status"], &last["content"]), (&json!("completed"), &diff));
        assert_eq!(editor.text(), "Edited.");
    })
    .await;
}

#[tokio::test]
async fn denied_command_ends_the_turn_and_its_call() {
    with_editor(capture(DROID, "tool_permission_cancel").agent(), "cancel", async |editor| {
        let session = editor.open().await;
        assert_eq!(editor.prompt(&session, "Go.").await.unwrap(), StopReason::EndTurn);
        let last = editor.updates("tool_call_update").pop().unwrap();
        assert_eq!(last["status"], "failed");
    })
    .await;
}
