//! Sessions that the real droid wrote, listed as the official Python SDK lists them.

use anyhow::Result;
use conformance::stage::{execute, on};
use conformance::{Executable, Target as _};
use musher::{Decision, list_sessions};
use serde_json::{Value, json};
use testkit::peers::{DROID, PYTHON_SDK};
use testkit::rehearse::{Reply, Script};
use testkit::require_peer;

const LIST: &str = r"
import asyncio, json
from droid_sdk import list_sessions

for s in asyncio.run(list_sessions()):
    print(json.dumps([s.id, s.title, s.owner, s.message_count, str(s.cwd), s.is_favorite, s.modified_at.timestamp()]))
";

#[tokio::test]
async fn sessions_are_listed_as_the_python_sdk_lists_them() -> Result<()> {
    let (droid, python) = (require_peer!(DROID), require_peer!(PYTHON_SDK));
    let script = Script::new()
        .reply(execute("echo made > made.txt", "medium").when(on("Write", 1)))
        .reply(Reply::text("Done.").when(on("Write", 2)));
    let stage = Executable::Droid(droid).stage(script)?;
    for title in [None, Some("Named by hand")] {
        let session = stage.session().on_permission_sync(|_| Decision::allow_once()).open().await?;
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
