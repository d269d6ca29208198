//! What old agents do: they end no turn, they only become idle, and that before they have said all.

use agent_client_protocol::v1::schema::StopReason;
use serde_json::{Value, json};

use crate::recording::{capture, play};
use crate::stage::with_editor;

#[tokio::test]
async fn message_after_idle_is_still_forwarded() {
    let said = |notification: Value| {
        let params = json!({"sessionId": "s", "notification": notification});
        json!({"dir": "s2c", "msg": {"type": "notification", "method": "droid.session_notification", "params": params}})
    };
    let state = |state: &str| said(json!({"type": "droid_working_state_changed", "newState": state}));
    let piece = |text: &str| {
        said(json!({"type": "assistant_text_delta", "messageId": "m", "blockIndex": 0, "textDelta": text}))
    };
    let content = json!([{"type": "text", "text": "All of the answer."}]);
    let message = json!({"id": "m", "role": "assistant", "content": content});
    let call = |id: &str, method: &str| json!({"dir": "c2s", "msg": {"type": "request", "id": id, "method": method, "params": {}}});
    let opened = json!({"sessionId": "s", "session": {"messages": []}});
    let replay = play(vec![
        call("1", "droid.initialize_session"),
        json!({"dir": "s2c", "msg": {"type": "response", "id": "1", "result": opened}}),
        call("2", "droid.add_user_message"),
        json!({"dir": "s2c", "msg": {"type": "response", "id": "2", "result": {}}}),
        state("streaming_assistant_message"),
        piece("All of "),
        state("idle"),
        piece("the answer."),
        said(json!({"type": "create_message", "message": message})),
    ]);
    with_editor(replay.agent(), "cancel", async |editor| {
        let session = editor.open().await;
        assert_eq!(editor.prompt(&session, "Go.").await.unwrap(), StopReason::EndTurn);
        assert_eq!(editor.text(), "All of the answer.");
    })
    .await;
}

#[tokio::test]
async fn turn_of_the_old_droid_ends() {
    with_editor(capture("droid-0.99.0", "text_turn").agent(), "cancel", async |editor| {
        let session = editor.open().await;
        assert_eq!(editor.prompt(&session, "Go.").await.unwrap(), StopReason::EndTurn);
        assert!(!editor.text().is_empty());
    })
    .await;
}
