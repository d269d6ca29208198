//! Stored sessions, read without the agent as the agent itself loads them.

use anyhow::Result;
use musher::{Decision, read_session};
use serde_json::json;
use testkit::rehearse::{Reply, Script, when};

use crate::Target;

fn one_command() -> Script {
    let command = json!({
        "command": "echo made > made.txt", "summary": "Write a file", "timeout": 10,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    });
    Script::new()
        .reply(Reply::tool("Execute", command).when(when().with_tools().call(1)))
        .reply(Reply::text("Done.").when(when().with_tools()))
}

pub(crate) async fn a_stored_conversation_reads_as_droid_loads_it(target: &dyn Target) -> Result<()> {
    let stage = target.stage(one_command())?;
    let session = stage.session().on_permission_sync(|_| Decision::allow_once()).open().await?;
    session.send("Write a file.").await?;
    session.close().await?;

    let folder = stage.agent_home().join("sessions");
    let stored = read_session(session.id()).sessions_dir(folder).await?;
    assert_eq!(stored.damaged_lines, 0);
    let resumed = stage.resume(session.id()).open().await?;
    let shape = |message: &musher::wire::Message| {
        (message.id.clone(), message.role.clone(), message.content.clone(), message.created_at.clone())
    };
    let loaded: Vec<_> = resumed.state().history.iter().map(|message| shape(message)).collect();
    // content that only the model sees is loaded without its text
    let seen = stored.messages().filter(|message| message.is_for_people()).map(shape);
    let is_hidden =
        |id: &str| ["context-", "__internal__system-reminder__"].iter().any(|start| id.starts_with(start));
    let loaded: Vec<_> = loaded.into_iter().filter(|message| !is_hidden(&message.0)).collect();
    assert_eq!(seen.collect::<Vec<_>>(), loaded);
    resumed.close().await?;
    stage.finish().await
}
