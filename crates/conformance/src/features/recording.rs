//! A turn of the real droid, recorded and played again; and one without `async`.

use anyhow::{Context, Result};
use musher::{Decision, Replay, Session, TurnEnd, blocking};
use testkit::rehearse::{Reply, Script};

use crate::Target;
use crate::stage::{execute, on, soon};

fn one_command() -> Script {
    Script::new()
        .reply(execute("echo made > made.txt", "medium").when(on("file", 1)))
        .reply(Reply::text("Done.").when(on("file", 2)))
}

pub(crate) async fn a_recorded_turn_plays_again_without_droid(target: &dyn Target) -> Result<()> {
    let stage = target.stage(one_command())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("turn.jsonl");
    let session = stage.session().agent(stage.agent().record(&path)).on_permission_sync(|_| Decision::allow_once()).open().await?;
    let recorded = session.send("Write a file.").await?;
    session.close().await?;
    stage.finish().await?;

    let replay = Replay::load(&path)?.strict();
    let session =
        Session::builder().agent(replay.agent()).model(testkit::droid::CHAT_MODEL).on_permission_sync(|_| Decision::allow_once());
    let session = session.open().await?;
    let played = soon("the played turn", session.send("Write a file.").into_future()).await??;
    assert_eq!((played.end, played.text.as_str()), (TurnEnd::Completed, "Done."));
    assert_eq!((played.usage, played.messages.len()), (recorded.usage, recorded.messages.len()));
    session.close().await?;
    replay.check()?;
    Ok(())
}

pub(crate) async fn a_session_without_async_drives_droid(target: &dyn Target) -> Result<()> {
    let stage = target.stage(one_command())?;
    let builder = stage.session().on_permission_sync(|_| Decision::allow_once());
    let work = move || -> musher::Result<_> {
        let session = blocking::Session::open(builder)?;
        let mut turn = session.start(session.prompt("Write a file."))?;
        for event in &mut turn {
            event?;
        }
        let result = turn.result().cloned();
        session.close()?;
        Ok(result)
    };
    let result = soon("the session", tokio::task::spawn_blocking(work)).await???;
    assert_eq!(result.context("no result")?.text, "Done.");
    assert!(stage.sandbox().workspace().join("made.txt").exists());
    stage.finish().await
}
