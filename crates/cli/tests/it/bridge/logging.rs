//! The log of the bridge: one line per turn, tool call and retry of Claude Code, and no content.

use anyhow::Result;
use serde_json::json;

use super::stage::Stage;

/// The lines of a log that contain all of these.
pub(crate) fn count(log: &str, parts: &[&str]) -> usize {
    log.lines().filter(|line| parts.iter().all(|part| line.contains(part))).count()
}

#[tokio::test]
async fn turns_tool_calls_and_retries_of_the_cli_are_logged_without_content() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("bridge.log");
    let mut stage = Stage::fake(&["--log", log.to_str().unwrap()], &[])?;
    let messages = [
        json!({"type": "system", "subtype": "api_retry", "attempt": 2, "max_retries": 10, "retry_delay_ms": 5.5, "error_status": 529}),
        json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "id": "call_1", "name": "Bash", "input": {"command": "secret command"}}]}}),
        json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "call_1", "content": "secret output", "is_error": true}]}}),
        json!({"type": "result", "subtype": "success", "num_turns": 2, "result": "secret answer",
            "usage": {"input_tokens": 7, "output_tokens": 3}}),
    ];
    let prompt: Vec<String> = messages.iter().map(|message| format!("raw {message}")).collect();
    let session = stage.app.create(&prompt.join("\n"), json!({})).await?;
    stage.app.message(&session, "result").await?;
    stage.finish().await?;
    let written = fs_err::read_to_string(&log)?;
    for parts in [
        &["retrying the model request", "attempt=2", "status=529"][..],
        &["tool call", "tool=\"Bash\"", "id=\"call_1\"", "is_error=true", "duration="],
        &["turn ended", "end=\"success\"", "steps=2", "input=7", "output=3"],
    ] {
        assert_eq!(count(&written, parts), 1, "{parts:?}: {written}");
        assert_eq!(count(&written, &[parts[0], "session{id="]), 1, "{written}");
    }
    assert!(!written.contains("secret"), "{written}");
    Ok(())
}
