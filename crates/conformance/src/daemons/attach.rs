//! Several clients of one session, at the same time and one after another.

use anyhow::{Context, Result};
use musher::{Daemon, Event, PendingRequest, TurnEnd};
use serde_json::json;
use testkit::rehearse::{Reply, Script, when};
use tokio::time::timeout;

use super::stage::{Stage, TIMEOUT, answer, until};
use crate::Executable;

/// A script with a command that needs permission, and answers.
pub(super) fn script() -> Script {
    let touch = json!({
        "command": "echo ran >> ran.txt", "summary": "Append a line", "timeout": 30,
        "riskLevel": "medium", "riskLevelReason": "it writes a file",
    });
    Script::new()
        .reply(Reply::text("A title").when(when().without_tools()))
        .reply(Reply::text("Hello.").when(when().prompt("say hello")))
        .reply(Reply::tool("Execute", touch).when(when().prompt("append").call(1)))
        .reply(Reply::text("It ran.").when(when().result_of("Execute")))
}

pub(super) async fn two_clients_share_a_session_and_one_answers_its_request(executable: &Executable) -> Result<()> {
    let stage = Stage::new(executable, script()).await?;
    let first = stage.client("first").await?;
    let second = stage.client("second").await?;
    let session = stage.session(&first.daemon).open().await?;
    assert_eq!(answer(&session, "say hello").await?, "Hello.");
    let other = second.daemon.resume(session.id()).open().await?;
    assert!(other.state().history.iter().any(|message| message.text() == "Hello."));
    let mut requests = other.requests();

    let mut turn = session.send("append").ask_on_stream().start().await?;
    let ours = until(&mut turn, |event| match event {
        Event::Permission(pending) => Some(pending),
        _ => None,
    })
    .await?;
    let theirs = timeout(TIMEOUT, requests.next()).await?.context("the second client is asked, too")?;
    let PendingRequest::Permission(theirs) = theirs else { panic!("{theirs:?}") };
    assert_eq!(theirs.request().tool_uses, ours.request().tool_uses);
    theirs.allow_once();
    // the request is settled for the first client, which then answers in vain
    timeout(TIMEOUT, ours.settled()).await?;
    ours.deny();
    let result = timeout(TIMEOUT, turn.finish()).await??;
    assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "It ran."));
    assert_eq!(fs_err::read_to_string(stage.sandbox.workspace().join("ran.txt"))?, "ran\n");

    session.close().await?;
    drop(other);
    first.leave().await;
    second.leave().await;
    stage.finish().await
}

pub(super) async fn running_turn_is_followed_by_a_client_that_attaches(executable: &Executable) -> Result<()> {
    let stage = Stage::new(executable, script()).await?;
    let first = stage.client("first").await?;
    let session = stage.session(&first.daemon).open().await?;
    let mut turn = session.send("append").ask_on_stream().start().await?;
    let pending = until(&mut turn, |event| match event {
        Event::Permission(pending) => Some(pending),
        _ => None,
    })
    .await?;

    // the request that waits is delivered to the client that attaches, and its answer counts
    let second = stage.client("second").await?;
    let other = second.daemon.resume(session.id()).open().await?;
    let mut followed = other.follow().ask_on_stream().await?.context("a turn runs")?;
    let theirs = until(&mut followed, |event| match event {
        Event::Permission(pending) => Some(pending),
        _ => None,
    })
    .await?;
    theirs.allow_once();
    let result = timeout(TIMEOUT, followed.finish()).await??;
    assert_eq!((result.end, result.text.as_str()), (TurnEnd::Completed, "It ran."));
    timeout(TIMEOUT, pending.settled()).await?;
    drop(pending);
    assert_eq!(timeout(TIMEOUT, turn.finish()).await??.text, "It ran.");
    // droid reports that it is idle after the end of the turn
    let mut state = other.watch_state();
    timeout(TIMEOUT, state.wait_for(|state| state.working == musher::wire::DroidWorkingState::Idle)).await??;
    assert!(other.follow().await?.is_none(), "nothing runs any more");

    session.close().await?;
    drop(other);
    first.leave().await;
    second.leave().await;
    stage.finish().await
}

pub(super) async fn detached_session_finishes_its_turn_and_is_resumed(executable: &Executable) -> Result<()> {
    let stage = Stage::new(executable, script()).await?;
    let client = stage.client("first").await?;
    let session = stage.session(&client.daemon).open().await?;
    let id = session.id();
    let mut turn = session.send("append").ask_on_stream().start().await?;
    let pending = until(&mut turn, |event| match event {
        Event::Permission(pending) => Some(pending),
        _ => None,
    })
    .await?;
    session.detach().await;
    // neither the turn nor the request is stopped by the client that leaves
    drop((pending, turn));

    let again = client.daemon.resume(id).open().await?;
    let followed = again.follow().ask_on_stream().await?;
    let mut followed = followed.context("the turn still runs")?;
    let pending = until(&mut followed, |event| match event {
        Event::Permission(pending) => Some(pending),
        _ => None,
    })
    .await?;
    pending.allow_once();
    assert_eq!(timeout(TIMEOUT, followed.finish()).await??.text, "It ran.");
    assert_eq!(answer(&again, "say hello").await?, "Hello.");

    again.close().await?;
    client.leave().await;
    stage.finish().await
}

pub(super) async fn request_stays_open_for_a_client_without_a_handler(executable: &Executable) -> Result<()> {
    let stage = Stage::new(executable, script()).await?;
    let first = stage.client("first").await?;
    let session = stage.session(&first.daemon).open().await?;
    let mut turn = session.send("append").ask_on_stream().start().await?;
    let pending = until(&mut turn, |event| match event {
        Event::Permission(pending) => Some(pending),
        _ => None,
    })
    .await?;

    // neither a client that only looks nor one that leaves with the request unanswered denies it
    let second = stage.client("second").await?;
    let looks = second.daemon.resume(session.id()).open().await?;
    let mut followed = looks.follow().ask_on_stream().await?.context("a turn runs")?;
    let theirs = until(&mut followed, |event| match event {
        Event::Permission(pending) => Some(pending),
        _ => None,
    })
    .await?;
    drop((theirs, followed));
    looks.clone().detach().await;
    let only_looks = second.daemon.resume(session.id()).open().await?;
    assert!(is_open(&second.daemon, session.id().as_str()).await?);
    pending.allow_once();
    assert_eq!(timeout(TIMEOUT, turn.finish()).await??.text, "It ran.");

    session.close().await?;
    drop((looks, only_looks));
    first.leave().await;
    second.leave().await;
    stage.finish().await
}

async fn is_open(daemon: &Daemon, id: &str) -> Result<bool> {
    let open = daemon.opened_sessions().await?;
    Ok(open.iter().any(|session| session.session_id == id))
}
