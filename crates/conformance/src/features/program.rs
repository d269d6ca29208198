//! Features of an agent in a process of its own: its environment variables, and its sudden end. The other features also run in process.

use anyhow::Result;
use musher::{Autonomy, ErrorKind, Event};
use testkit::rehearse::{Reply, Script};

use crate::Target;
use crate::stage::{execute, on, soon, until};

pub(crate) async fn an_agent_that_is_killed_ends_the_turn_with_its_status(target: &dyn Target) -> Result<()> {
    let essay = || Reply::text(["Once ", "upon "]).and_hang().when(on("Essay", 1));
    let script = Script::new().reply(essay()).reply(essay());
    let stage = target.stage(script)?;
    let recording = tempfile::tempdir()?;
    // also through a recording, which stands between agent and session
    for agent in [stage.agent(), stage.agent().record(recording.path().join("killed.jsonl"))] {
        let session = stage.session().agent(agent).open().await?;
        let mut turn = session.send("Essay, please.").partial().start().await?;
        until(&mut turn, "text", |event| matches!(event, Event::TextDelta(_))).await?;
        let pid = session.process_id().expect("it is a program").to_string();
        stage.sandbox().output(&stage.sandbox().launch("kill").args(["-9", &pid])).await?;
        let error = soon("the end of the turn", turn.finish()).await?.unwrap_err();
        let ErrorKind::ProcessExit { code, signal, .. } = error.kind() else { panic!("{error}") };
        assert_eq!((*code, *signal), (None, Some(9)));
        assert!(error.is_connection());
        // and so does everything after it
        for error in [session.send("Hello?").await.unwrap_err(), session.client().list_skills().await.unwrap_err()] {
            assert!(error.is_process_exit(), "{error}");
        }
        session.close().await?;
    }
    stage.finish().await
}

pub(crate) async fn variables_reach_the_agent_and_its_commands(target: &dyn Target) -> Result<()> {
    let script = Script::new()
        .reply(execute("printenv MUSHER_EXAMPLE", "low").when(on("Look", 1)))
        .reply(Reply::text("Seen.").when(on("Look", 2)));
    let stage = target.stage(script)?;
    let session =
        stage.session().autonomy(Autonomy::High).env("MUSHER_EXAMPLE", "plain-to-see").open().await?;
    let mut turn = session.send("Look.").start().await?;
    let result = until(&mut turn, "the output", |event| matches!(event, Event::ToolResult(_))).await?;
    let Event::ToolResult(result) = result else { unreachable!() };
    assert!(result.text().contains("plain-to-see"), "{}", result.text());
    turn.finish().await?;
    session.close().await?;
    stage.finish().await
}
