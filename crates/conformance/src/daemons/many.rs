//! Many sessions on one connection.

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use musher::Event;
use testkit::rehearse::{Reply, Script, when};
use tokio::time::timeout;

use super::attach::script;
use super::stage::{Stage, TIMEOUT, answer, until};
use crate::Executable;

pub(super) async fn sessions_on_one_connection_do_not_mix(executable: &Executable) -> Result<()> {
    let names = ["ada", "bob", "cat"];
    let script = names.iter().fold(Script::new(), |script, name| {
        script.reply(Reply::text(format!("I am {name}.")).when(when().prompt(*name)))
    });
    let stage = Stage::new(executable, script).await?;
    let client = stage.client("first").await?;
    let sessions = try_join_all(names.map(|_| stage.session(&client.daemon).open())).await?;
    for _ in 0..3 {
        let texts = try_join_all(sessions.iter().zip(names).map(|(session, name)| answer(session, name))).await?;
        assert_eq!(texts, names.map(|name| format!("I am {name}.")));
    }
    for session in sessions {
        session.close().await?;
    }
    client.leave().await;
    stage.finish().await
}

pub(super) async fn reader_that_pauses_holds_up_no_other_session(executable: &Executable) -> Result<()> {
    let long = (0..6000).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    let script = script().reply(Reply::text(long.as_str()).when(when().prompt("talk")));
    let stage = Stage::new(executable, script).await?;
    let proxy = stage.proxy("first", None)?;
    let daemon = stage.connect(&proxy).session_limit(8, 1024 * 1024).await?;
    let slow = stage.session(&daemon).open().await?;
    let quick = stage.session(&daemon).open().await?;
    let mut turn = slow.send("talk").partial().start().await?;
    // the first piece, and then nothing is read
    until(&mut turn, |event| matches!(event, Event::TextDelta(_)).then_some(())).await?;
    assert_eq!(answer(&quick, "say hello").await?, "Hello.");
    let mut streamed = 0;
    let mut is_gap = false;
    let text = until(&mut turn, |event| match event {
        Event::TextDelta(_) => {
            streamed += 1;
            None
        }
        Event::Gap => {
            is_gap = true;
            None
        }
        Event::Result(result) => Some(result.text),
        _ => None,
    })
    .await?;
    assert_eq!(text.trim(), long.trim(), "{streamed} pieces, gap: {is_gap}");
    assert!(!is_gap || matches!(executable, Executable::Droid(_)), "what is missing is replayed");
    slow.close().await?;
    quick.close().await?;
    daemon.close().await;
    drop(proxy);
    stage.finish().await
}

pub(super) async fn lists_and_search_find_the_sessions(executable: &Executable) -> Result<()> {
    let stage = Stage::new(executable, script()).await?;
    let client = stage.client("first").await?;
    let daemon = &client.daemon;
    let session = stage.session(daemon).open().await?;
    let id = session.id().to_string();
    answer(&session, "say hello to the xylophone").await?;
    let is_open = |open: &[musher::SessionInfo]| open.iter().any(|session| session.session_id == id);
    assert!(is_open(&daemon.opened_sessions().await?));
    assert!(is_open(&daemon.available_sessions(10).await?));
    let messages = daemon.session_messages(&id, 10).await?;
    assert_eq!(messages.last().context("there are messages")?.text(), "Hello.");
    match timeout(TIMEOUT, daemon.search_sessions("xylophone")).await? {
        Ok(found) => assert!(found.iter().all(|hits| hits.session_id == id), "{found:?}"),
        // the real daemon has it
        Err(error) => assert!(error.is_unsupported() && matches!(executable, Executable::Musher(_)), "{error:?}"),
    }
    session.close().await?;
    assert!(!is_open(&daemon.opened_sessions().await?));
    daemon.archive_session(&id).await?;
    assert!(!is_open(&daemon.available_sessions(10).await?));
    daemon.unarchive_session(&id).await?;
    assert!(is_open(&daemon.available_sessions(10).await?));
    client.leave().await;
    stage.finish().await
}
