//! The real Claude Code, two versions of it: one text turn over stream-json.

use musher_rehearse::{Reply, Script};
use serde_json::json;
use testkit::peers::{CLAUDE, CLAUDE_OLD, Installed};
use testkit::{Sandbox, claude, require_peer};

#[tokio::test]
async fn claude_answers_a_text_turn() -> anyhow::Result<()> {
    one_text_turn(&require_peer!(CLAUDE)).await
}

#[tokio::test]
async fn old_claude_answers_a_text_turn() -> anyhow::Result<()> {
    one_text_turn(&require_peer!(CLAUDE_OLD)).await
}

async fn one_text_turn(claude: &Installed) -> anyhow::Result<()> {
    let sandbox = Sandbox::new()?;
    let model = sandbox.model(Script::new().otherwise(Reply::text("Hello from the script.")))?;
    let mut program = sandbox.spawn(&claude::launch(&sandbox, claude, &model.url()))?;

    let message = json!({"role": "user", "content": "Say hello."});
    program
        .send(&json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""}))
        .await?;
    let seen = program.read_until("the result", |message| message["type"] == "result").await?;

    let init = seen.iter().find(|message| message["subtype"] == "init").expect("an init message");
    assert_eq!(init["claude_code_version"], claude.peer.version);
    assert_eq!(init["cwd"], sandbox.workspace().to_str().unwrap());
    let result = seen.last().unwrap();
    assert_eq!((&result["subtype"], &result["is_error"]), (&json!("success"), &json!(false)));
    assert_eq!(result["result"], "Hello from the script.");

    assert!(program.end().await?.status.success());
    model.shutdown().await;
    sandbox.finish().await
}
