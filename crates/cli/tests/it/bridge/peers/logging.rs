//! The log of the bridge with the real Claude Code.

use musher_rehearse::{HttpError, Reply, Script, when};
use serde_json::json;
use testkit::peers::Installed;

use super::on_both;
use crate::bridge::logging::count;
use crate::bridge::stage::Stage;

on_both! {
    turn_tool_call_and_retry_are_logged_once, old_claude_turn_tool_call_and_retry_are_logged_once => logged;
}

async fn logged(claude: Installed) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let log = folder.path().join("bridge.log");
    let bash = json!({"command": "true", "description": "does nothing"});
    let overloaded = HttpError::new(529).message("overloaded");
    let script = Script::new()
        .reply(Reply::error(overloaded).when(when().prompt("nothing").call(1)).times(1))
        .reply(Reply::tool("Bash", bash).when(when().prompt("nothing").call(1)))
        .otherwise(Reply::text("Done."));
    let mut stage = Stage::real(&claude, script, &["--log", log.to_str().unwrap()])?;
    let session = stage.app.create("Do nothing.", json!({"allowed_tools": ["Bash"]})).await?;
    let result = stage.app.message(&session, "result").await?;
    assert_eq!(result["result"], "Done.", "{result}");
    stage.finish().await?;
    let written = fs_err::read_to_string(&log)?;
    for parts in [
        &["turn ended", "end=\"success\""][..],
        &["tool call", "tool=\"Bash\"", "is_error=false"],
        &["retrying the model request"],
    ] {
        assert_eq!(count(&written, parts), 1, "{parts:?}: {written}");
    }
    assert!(!written.contains("does nothing"), "{written}");
    Ok(())
}
