//! This very program as an agent on stdin and stdout.

use std::time::Duration;

use musher_rpc::{Child, Incoming, Launch, Limits, Peer, stdio};
use musher_wire::Json;

use crate::support::soon;

const SWITCH: &str = "MUSHER_RPC_STDIO_AGENT";

/// Not a test of its own: the agent that the test below starts. Echoes its calls, and ends with its input.
#[tokio::test]
async fn helper_that_serves_on_stdio() {
    if std::env::var_os(SWITCH).is_none() {
        return;
    }
    let (peer, mut inbox) = Peer::start(stdio(Limits::default()).unwrap());
    while let Some(incoming) = inbox.recv().await {
        if let Incoming::Request(request) = incoming {
            peer.respond(request.id, Ok(request.params.unwrap())).await.unwrap();
        }
    }
    peer.notify("bye", Json::empty_object()).await.unwrap();
    assert!(peer.finish(Duration::from_secs(30)).await);
}

#[tokio::test]
async fn an_agent_on_stdio_answers_and_ends_with_its_input() {
    let launch = Launch::new(std::env::current_exe().unwrap())
        .args(["--exact", "stdio::helper_that_serves_on_stdio", "--nocapture"])
        .env(SWITCH, "1")
        .grace(Duration::from_secs(50));
    let (child, connection) = Child::spawn(launch).await.unwrap();
    let (peer, mut inbox) = Peer::start(connection);
    for text in ["small".to_owned(), "large ".repeat(1_000_000)] {
        let params = Json::new(&text).unwrap();
        let echo = soon(peer.request("echo", params.clone(), Duration::from_secs(50))).await.unwrap();
        assert!(echo == params);
    }
    let exit = soon(child.close()).await;
    assert!(exit.status.unwrap().success(), "{}", exit.stderr_tail);
    let mut is_bye_heard = false;
    while let Some(incoming) = soon(inbox.recv()).await {
        // the rest is what the test runner prints
        is_bye_heard |= matches!(incoming, Incoming::Notification(news) if news.method == "bye");
    }
    assert!(is_bye_heard, "what was sent before the end is written");
}
