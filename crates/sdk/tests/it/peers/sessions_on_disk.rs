//! Sessions that the real droid wrote, read without it: as the official Python SDK lists them, and as droid itself loads them.

use anyhow::Result;
use musher::{Decision, Permission, list_sessions, read_session, sync};
use serde_json::{Value, json};
use testkit::peers::{DROID, PYTHON_SDK};
use testkit::rehearse::{Reply, Script, when};
use testkit::require_peer;

use super::stage::Stage;

const LIST: &str = r"
import asyncio, json
from droid_sdk import list_sessions

for s in asyncio.run(list_sessions()):
    print(json.dumps([s.id, s.title, s.owner, s.message_count, str(s.cwd), s.is_favorite, s.modified_at.timestamp()]))
";

fn one_command() -> Script {
    let command = json!({
        "command": "echo made > made.txt", "summary": "Write a file", "timeout": 10,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    });
    Script::new()
        .reply(Reply::tool("Execute", command).when(when().with_tools().call(1)))
        .reply(Reply::text("Done.").when(when().with_tools()))
}

#[tokio::test]
async fn sessions_are_listed_as_the_python_sdk_lists_them() -> Result<()> {
    let (droid, python) = (require_peer!(DROID), require_peer!(PYTHON_SDK));
    let stage = Stage::new(&droid, one_command())?;
    for title in [None, Some("Named by hand")] {
        let session =
            stage.session().on_permission(sync(|_: Permission| Decision::allow_once())).open().await?;
        session.send("Write a file.").await?;
        if let Some(title) = title {
            session.rename(title).await?;
        }
        session.close().await?;
    }

    let folder = stage.sandbox().home().join(".factory/sessions");
    let ours = list_sessions().cwd(stage.sandbox().workspace()).sessions_dir(&folder).await?;
    assert_eq!(ours.len(), 2);
    let listed = stage.sandbox().output(&stage.sandbox().launch(python.entry()).args(["-c", LIST])).await?;
    let theirs: Vec<Value> =
        listed.stdout.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
    for (ours, theirs) in ours.iter().zip(&theirs) {
        let cwd = ours.cwd.as_ref().map(|cwd| cwd.to_string_lossy());
        let seconds = ours.modified.duration_since(std::time::UNIX_EPOCH)?.as_secs_f64();
        let seen = json!([ours.id, ours.title, ours.owner, ours.message_count, cwd, ours.is_favorite]);
        assert_eq!(seen.as_array().map(Vec::as_slice), theirs.as_array().map(|all| &all[..6]));
        assert!((seconds - theirs[6].as_f64().unwrap_or_default()).abs() < 0.001, "{theirs}");
    }
    assert_eq!(theirs.len(), 2, "{}", listed.stderr);
    stage.finish().await
}

#[tokio::test]
async fn a_stored_conversation_reads_as_droid_loads_it() -> Result<()> {
    let stage = Stage::new(&require_peer!(DROID), one_command())?;
    let session = stage.session().on_permission(sync(|_: Permission| Decision::allow_once())).open().await?;
    session.send("Write a file.").await?;
    session.close().await?;

    let folder = stage.sandbox().home().join(".factory/sessions");
    let stored = read_session(session.id()).sessions_dir(folder).await?;
    assert_eq!(stored.damaged_lines, 0);
    let resumed = stage.resume(session.id()).open().await?;
    let shape = |message: &musher::wire::Message| {
        (message.id.clone(), message.role.clone(), message.content.clone(), message.created_at.clone())
    };
    let loaded: Vec<_> = resumed.state().history.iter().map(|message| shape(message)).collect();
    // what only the model sees is loaded without its text
    let seen = stored.messages().filter(|message| message.is_for_people()).map(shape);
    let loaded: Vec<_> = loaded.into_iter().filter(|message| !message.0.starts_with("context-")).collect();
    assert_eq!(seen.collect::<Vec<_>>(), loaded);
    resumed.close().await?;
    stage.finish().await
}
