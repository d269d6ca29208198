//! Calls and answers over a connection in memory.

use std::time::Duration;

use musher_rpc::{Closed, Error, Incoming, Peer, Stray, memory};
use musher_wire::{Frame, Id, Json, Response, RpcError};

use crate::support::{news, soon};

const AFTER: Duration = Duration::from_secs(30);

fn ok(id: &Id) -> Frame {
    Frame::Response(Response::new(id.clone(), Ok(Json::empty_object())))
}

fn refused(id: Id, message: &str) -> Frame {
    Frame::Response(Response::new(id, Err(RpcError::new(RpcError::INTERNAL, message))))
}

#[tokio::test(start_paused = true)]
async fn a_call_without_answer_ends_at_its_deadline_and_the_late_answer_is_reported() {
    let (ours, mut theirs) = memory();
    let (peer, mut inbox) = Peer::start(ours);
    let error = peer.request("slow", Json::empty_object(), AFTER).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer to `slow` within 30s");
    assert!(matches!(error, Error::Timeout { after: AFTER, .. }));
    let Frame::Request(request) = theirs.incoming.recv().await.unwrap() else { panic!() };
    theirs.outgoing.send(ok(&request.id)).await.unwrap();
    let Some(Incoming::Late(response, Stray::GivenUp)) = inbox.recv().await else { panic!() };
    assert_eq!(response.id, request.id);
}

#[tokio::test]
async fn the_end_of_the_connection_fails_all_calls_with_one_lasting_reason() {
    let (ours, theirs) = memory();
    let (peer, mut inbox) = Peer::start(ours);
    let calls = [peer.clone(), peer.clone()]
        .map(|peer| tokio::spawn(async move { peer.request("m", Json::empty_object(), AFTER).await }));
    tokio::task::yield_now().await;
    theirs.outgoing.send(news(1)).await.unwrap();
    drop(theirs);
    for call in calls {
        assert!(matches!(soon(call).await.unwrap(), Err(Error::Closed(Closed::Ended))));
    }
    assert!(matches!(
        peer.request("m", Json::empty_object(), AFTER).await,
        Err(Error::Closed(Closed::Ended))
    ));
    assert!(matches!(soon(peer.closed()).await, Closed::Ended));
    assert!(matches!(inbox.recv().await, Some(Incoming::Notification(_))));
    assert!(matches!(inbox.recv().await, Some(Incoming::Closed(Closed::Ended))));
    assert!(inbox.recv().await.is_none());
}

#[tokio::test]
async fn an_error_without_id_fails_the_only_call_or_is_reported() {
    let (ours, mut theirs) = memory();
    let (peer, mut inbox) = Peer::start(ours);
    theirs.outgoing.send(refused(Id::Null, "nobody asked")).await.unwrap();
    let Some(Incoming::UnmatchedError(error)) = inbox.recv().await else { panic!() };
    assert_eq!(error.message, "nobody asked");

    let call = tokio::spawn({
        let peer = peer.clone();
        async move { peer.request("only", Json::empty_object(), AFTER).await }
    });
    theirs.incoming.recv().await.unwrap();
    theirs.outgoing.send(refused(Id::Null, "bad call")).await.unwrap();
    let error = soon(call).await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "`only` was refused: bad call (code -32603)");
}
