//! A reader that does not read costs a bounded amount, and loses nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use musher::wire::{AddUserMessage, InitializeSession, Json, Method};
use musher::{Agent, Event, Session, transport::memory};
use musher_rpc::{Connection, Incoming, Peer};
use serde_json::json;

/// The messages that the agent sends in its one turn.
const MESSAGES: usize = 40_000;

#[tokio::test]
async fn unread_turn_applies_back_pressure_and_loses_nothing() {
    let (ours, theirs) = memory();
    let said = Arc::new(AtomicUsize::new(0));
    tokio::spawn(talkative_agent(theirs, Arc::clone(&said)));
    let session = Session::builder().agent(Agent::connection(ours)).open().await.unwrap();
    let mut turn = session.send("go").partial().start().await.unwrap();

    // without a reader: let all tasks run until none makes progress
    let mut before = usize::MAX;
    while before != said.load(Ordering::Relaxed) {
        before = said.load(Ordering::Relaxed);
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
    }
    assert!(
        before < MESSAGES / 2,
        "{before} of {MESSAGES} messages were taken for a reader who does not read"
    );

    let mut seen = 0;
    let mut ended = false;
    while let Some(event) = turn.next().await {
        match event.unwrap() {
            Event::Assistant(message) => {
                assert_eq!(message.id, seen.to_string());
                seen += 1;
            }
            Event::Result(_) => ended = true,
            _ => {}
        }
    }
    assert_eq!((seen, ended), (MESSAGES, true));
    session.close().await.unwrap();
}

async fn talkative_agent(connection: Connection, said: Arc<AtomicUsize>) {
    let (peer, mut inbox) = Peer::start(connection);
    while let Some(incoming) = inbox.recv().await {
        let Incoming::Request(request) = incoming else { continue };
        let result = match &*request.method {
            InitializeSession::NAME => json!({"sessionId": "s", "session": {"messages": []}}),
            _ => json!({}),
        };
        peer.respond(request.id.clone(), Ok(Json::from(result))).await.ok();
        if request.method == AddUserMessage::NAME {
            let turn_id = request.read::<AddUserMessage>().unwrap().message_id.unwrap();
            talk(&peer, &turn_id, &said).await;
        }
    }
}

async fn talk(peer: &Peer, turn_id: &str, said: &AtomicUsize) {
    let say = async |notification: serde_json::Value| {
        let params = Json::from(json!({"notification": notification}));
        peer.notify("droid.session_notification", params).await.ok();
    };
    for number in 0..MESSAGES {
        let message = json!({"id": number.to_string(), "role": "assistant", "content": []});
        say(json!({"type": "create_message", "message": message})).await;
        said.fetch_add(1, Ordering::Relaxed);
    }
    say(json!({"type": "agent_turn_completed", "reason": "completed", "turnId": turn_id})).await;
}
