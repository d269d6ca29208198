//! The token of a session: it stops the opening, the running turn, and every prompt after that.

use std::time::Duration;

use musher::wire::{AddUserMessage, InitializeSession, InterruptSession, Json, Method};
use musher::{Agent, CancellationToken, Session, StoppedBy, TurnEnd, transport::memory};
use musher_rpc::{Connection, Incoming, Peer};
use serde_json::json;
use tokio::time::timeout;

const TEST_TIMEOUT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn cancelled_session_is_not_opened() {
    // an agent that never answers
    let (ours, _theirs) = memory();
    let token = CancellationToken::new();
    let opening = Session::builder().agent(Agent::connection(ours)).cancel_token(token.clone()).open();
    token.cancel();
    let error = timeout(TEST_TIMEOUT, opening).await.expect("it hangs").unwrap_err();
    assert!(error.with_causes().to_string().contains("it was cancelled"), "{error}");
}

#[tokio::test]
async fn cancelled_session_interrupts_its_turn_and_refuses_prompts() {
    let (ours, theirs) = memory();
    tokio::spawn(agent_that_works_until_interrupted(theirs));
    let token = CancellationToken::new();
    let builder = Session::builder().agent(Agent::connection(ours)).cancel_token(token.clone());
    let session = builder.open().await.unwrap();
    let turn = session.send("go").start().await.unwrap();
    token.cancel();
    let result = timeout(TEST_TIMEOUT, turn.finish()).await.expect("it hangs").unwrap();
    assert_eq!(result.end, TurnEnd::Interrupted(StoppedBy::Caller));
    let error = timeout(TEST_TIMEOUT, session.send("again").start()).await.expect("it hangs").unwrap_err();
    assert!(error.with_causes().to_string().contains("it was cancelled"), "{error}");
    session.close().await.unwrap();
}

async fn agent_that_works_until_interrupted(connection: Connection) {
    let (peer, mut inbox) = Peer::start(connection);
    let mut turn_id = String::new();
    while let Some(incoming) = inbox.recv().await {
        let Incoming::Request(request) = incoming else { continue };
        let result = match &*request.method {
            InitializeSession::NAME => json!({"sessionId": "s", "session": {"messages": []}}),
            _ => json!({}),
        };
        peer.respond(request.id.clone(), Ok(Json::from(result))).await.ok();
        match &*request.method {
            AddUserMessage::NAME => turn_id = request.read::<AddUserMessage>().unwrap().message_id.unwrap(),
            InterruptSession::NAME => {
                let done = json!({"type": "agent_turn_completed", "reason": "cancelled", "turnId": turn_id});
                let params = Json::from(json!({"notification": done}));
                peer.notify("droid.session_notification", params).await.ok();
            }
            _ => {}
        }
    }
}
