//! Agents that never answer the request that opens a session, with the default deadlines.

use std::pin::Pin;
use std::time::Duration;

use musher::wire::{Frame, Json, Response};
use musher::{Agent, Connection, Connector, Session, transport::memory};
use serde_json::json;
use tokio::time::Instant;

/// What the agent does with each request.
#[derive(Debug, Clone, Copy)]
enum Manner {
    Ignores,
    /// Answers with the id of another request.
    MistakesIds,
}

impl Connector for Manner {
    fn connect(&self) -> Pin<Box<dyn Future<Output = musher::Result<Connection>> + Send + '_>> {
        let (ours, mut theirs) = memory();
        let manner = *self;
        tokio::spawn(async move {
            while let Ok(frame) = theirs.incoming.recv().await {
                if let (Self::MistakesIds, Frame::Request(_)) = (manner, frame) {
                    let result = json!({"sessionId": "s", "session": {"messages": []}});
                    let response = Response::new("another".into(), Ok(Json::new(&result).unwrap()));
                    theirs.outgoing.send(Frame::Response(response)).await.ok();
                }
            }
        });
        Box::pin(std::future::ready(Ok(ours)))
    }
}

#[tokio::test(start_paused = true)]
async fn agent_that_does_not_answer_the_opening_is_given_up_at_the_default_deadline() {
    for manner in [Manner::Ignores, Manner::MistakesIds] {
        let begun = Instant::now();
        let agent = || Agent::connector(manner);
        for opened in [
            Session::builder().agent(agent()).cwd("/").open().await,
            Session::resume("an-id").agent(agent()).open().await,
        ] {
            let error = opened.unwrap_err();
            assert!(error.is_timeout(), "{manner:?}: {error}");
        }
        // the time of the test, which passes only while everything waits
        assert!(begun.elapsed() < Duration::from_mins(5), "{manner:?}: {:?}", begun.elapsed());
    }
}
