//! Calls and answers over a connection in memory.

use std::time::Duration;

use musher_rpc::{
    Bound, Closed, Connection, Error, Inbox, InboxLimits, Incoming, Peer, Stray, Watch, memory, with_causes,
};
use musher_wire::{Frame, Id, Json, ListTools, ListToolsParams, Request, Response, RpcError};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::support::{notification, soon};

const AFTER: Duration = Duration::from_secs(30);

fn start() -> (Peer, Inbox, Connection) {
    let (ours, theirs) = memory();
    let (peer, inbox) = Peer::start(ours);
    (peer, inbox, theirs)
}

fn call(peer: &Peer, method: &'static str) -> JoinHandle<Result<Json, Error>> {
    let peer = peer.clone();
    tokio::spawn(async move { peer.request(method, Json::empty_object(), AFTER).await })
}

async fn next_request(theirs: &mut Connection) -> Request {
    match soon(theirs.incoming.recv()).await.unwrap() {
        Frame::Request(request) => request,
        other => panic!("{other:?}"),
    }
}

fn result(id: &Id, value: &str) -> Frame {
    Frame::Response(Response::new(id.clone(), Ok(Json::new(value).unwrap())))
}

fn refused(id: &Id, message: &str) -> Frame {
    Frame::Response(Response::new(id.clone(), Err(RpcError::new(RpcError::INTERNAL, message))))
}

#[tokio::test]
async fn answers_in_any_order_reach_their_callers() {
    let (peer, _inbox, mut theirs) = start();
    let first = call(&peer, "first");
    let one = next_request(&mut theirs).await;
    let second = call(&peer, "second");
    let two = next_request(&mut theirs).await;
    assert_eq!((&*one.method, &*two.method), ("first", "second"));
    assert_ne!(one.id, two.id);
    theirs.outgoing.send(result(&two.id, "2")).await.unwrap();
    theirs.outgoing.send(result(&one.id, "1")).await.unwrap();
    assert_eq!(soon(first).await.unwrap().unwrap().text(), r#""1""#);
    assert_eq!(soon(second).await.unwrap().unwrap().text(), r#""2""#);
}

#[tokio::test(start_paused = true)]
async fn unanswered_call_times_out_and_the_late_response_is_reported() {
    let (peer, mut inbox, mut theirs) = start();
    let error = peer.request("slow", Json::empty_object(), AFTER).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer to `slow` within 30s");
    assert!(matches!(error, Error::Timeout { after: AFTER, .. }));
    let request = next_request(&mut theirs).await;
    theirs.outgoing.send(result(&request.id, "late")).await.unwrap();
    let Some(Incoming::Late(response, Stray::GivenUp)) = inbox.recv().await else { panic!() };
    assert_eq!(response.id, request.id);
}

#[tokio::test(start_paused = true)]
async fn dropped_call_is_forgotten() {
    let (peer, mut inbox, mut theirs) = start();
    let dropped = call(&peer, "m");
    let request = next_request(&mut theirs).await;
    dropped.abort();
    dropped.await.unwrap_err();
    theirs.outgoing.send(result(&request.id, "late")).await.unwrap();
    assert!(matches!(inbox.recv().await, Some(Incoming::Late(_, Stray::GivenUp))));
}

#[tokio::test]
async fn end_of_the_connection_fails_all_calls_with_one_reason() {
    let (peer, mut inbox, theirs) = start();
    let calls = [call(&peer, "a"), call(&peer, "b")];
    tokio::task::yield_now().await;
    theirs.outgoing.send(notification(1)).await.unwrap();
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
async fn error_without_id_fails_the_only_call_or_is_reported() {
    let (peer, mut inbox, mut theirs) = start();
    theirs.outgoing.send(refused(&Id::Null, "unexpected")).await.unwrap();
    let Some(Incoming::UnmatchedError(error)) = soon(inbox.recv()).await else { panic!() };
    assert_eq!(error.message, "unexpected");

    let only = call(&peer, "only");
    next_request(&mut theirs).await;
    theirs.outgoing.send(refused(&Id::Null, "bad call")).await.unwrap();
    let error = soon(only).await.unwrap().unwrap_err();
    assert_eq!(with_causes(&error).to_string(), "`only` was refused: bad call (code -32603)");

    let two = [call(&peer, "a"), call(&peer, "b")];
    let (a, b) = (next_request(&mut theirs).await, next_request(&mut theirs).await);
    theirs.outgoing.send(refused(&Id::Null, "one of you")).await.unwrap();
    assert!(matches!(soon(inbox.recv()).await, Some(Incoming::UnmatchedError(_))));
    for request in [a, b] {
        theirs.outgoing.send(result(&request.id, "fine")).await.unwrap();
    }
    for call in two {
        soon(call).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn second_and_unknown_answers_are_reported_and_change_nothing() {
    let (peer, mut inbox, mut theirs) = start();
    let answered = call(&peer, "m");
    let request = next_request(&mut theirs).await;
    for value in ["first", "second"] {
        theirs.outgoing.send(result(&request.id, value)).await.unwrap();
    }
    theirs.outgoing.send(result(&Id::from("made up"), "?")).await.unwrap();
    assert_eq!(soon(answered).await.unwrap().unwrap().text(), r#""first""#);
    assert!(matches!(soon(inbox.recv()).await, Some(Incoming::Late(_, Stray::Duplicate))));
    assert!(matches!(soon(inbox.recv()).await, Some(Incoming::Late(_, Stray::Unknown))));
}

async fn watched(
    peer: &Peer,
    theirs: &mut Connection,
    answers: &[fn(&Id) -> Frame],
) -> Result<(Json, Watch), Error> {
    let calling = peer.request_watched("droid.add_user_message", Json::empty_object(), AFTER);
    let answering = async {
        let request = next_request(theirs).await;
        for answer in answers {
            theirs.outgoing.send(answer(&request.id)).await.unwrap();
        }
    };
    soon(async { tokio::join!(calling, answering) }).await.0
}

#[tokio::test]
async fn error_after_the_acknowledgement_reaches_the_watcher() {
    let (peer, mut inbox, mut theirs) = start();
    let answers: [fn(&Id) -> Frame; 2] = [|id| result(id, "ack"), |id| refused(id, "No active session")];
    let (ack, watch) = watched(&peer, &mut theirs, &answers).await.unwrap();
    assert_eq!(ack.text(), r#""ack""#);
    let error = soon(watch).await;
    let expected = "`droid.add_user_message` was refused: No active session (code -32603)";
    assert_eq!(with_causes(&error).to_string(), expected);
    drop(theirs);
    assert!(matches!(soon(inbox.recv()).await, Some(Incoming::Closed(_))), "the error is reported once");
}

#[tokio::test]
async fn watch_ends_with_the_connection() {
    let (peer, _inbox, mut theirs) = start();
    let (_, watch) = watched(&peer, &mut theirs, &[|id| result(id, "ack")]).await.unwrap();
    drop(theirs);
    assert!(matches!(soon(watch).await, Error::Closed(Closed::Ended)));
}

#[tokio::test]
async fn without_a_watch_a_late_error_is_reported() {
    let (peer, mut inbox, mut theirs) = start();
    let (_, watch) = watched(&peer, &mut theirs, &[|id| result(id, "ack")]).await.unwrap();
    drop(watch);
    let again = call(&peer, "other");
    let other = next_request(&mut theirs).await;
    theirs.outgoing.send(refused(&other.id, "no")).await.unwrap();
    theirs.outgoing.send(refused(&other.id, "no, no")).await.unwrap();
    soon(again).await.unwrap().unwrap_err();
    assert!(matches!(soon(inbox.recv()).await, Some(Incoming::Late(_, Stray::Duplicate))));
}

#[tokio::test]
async fn malformed_answer_fails_its_call_and_others_are_passed_on() {
    let (peer, mut inbox, mut theirs) = start();
    let broken = call(&peer, "m");
    let request = next_request(&mut theirs).await;
    let line = format!(r#"{{"type":"response","id":"{}","result":1,"error":2}}"#, request.id);
    theirs.outgoing.send(Frame::parse(line.as_bytes())).await.unwrap();
    theirs.outgoing.send(Frame::parse(b"rubbish")).await.unwrap();
    let error = soon(broken).await.unwrap().unwrap_err();
    assert!(matches!(&error, Error::Malformed { malformed, .. } if *malformed.raw == *line), "{error}");
    assert!(matches!(soon(inbox.recv()).await, Some(Incoming::Malformed(it)) if &*it.raw == "rubbish"));
}

/// An inbox with small limits.
fn start_small(low: usize, high: usize) -> (Peer, Inbox, Connection) {
    let bound = |messages| Bound { messages, bytes: 1024 * 1024 };
    let (ours, theirs) = memory();
    let (peer, inbox) = Peer::start_with(ours, InboxLimits { low: bound(low), high: bound(high) });
    (peer, inbox, theirs)
}

async fn expect_notifications(inbox: &mut Inbox, numbers: std::ops::Range<usize>) {
    for n in numbers {
        let Some(Incoming::Notification(received)) = soon(inbox.recv()).await else { panic!("lost {n}") };
        assert_eq!(Frame::Notification(received), notification(n));
    }
}

#[tokio::test(start_paused = true)]
async fn call_is_answered_while_the_inbox_is_full_and_unread() {
    let (peer, mut inbox, mut theirs) = start_small(4, 10_000);
    // more than the inbox and the connection hold: without a waiting call, the sender is stopped
    let mut sent = 0;
    while timeout(AFTER, theirs.outgoing.send(notification(sent))).await.is_ok() {
        sent += 1;
        assert!(sent < 9000, "nothing stops the sender");
    }
    let waiting = call(&peer, "m");
    let request = next_request(&mut theirs).await;
    soon(theirs.outgoing.send(result(&request.id, "through"))).await.unwrap();
    assert_eq!(soon(waiting).await.unwrap().unwrap().text(), r#""through""#);
    expect_notifications(&mut inbox, 0..sent).await;
}

#[tokio::test(start_paused = true)]
async fn at_the_high_limit_a_call_runs_into_its_deadline_and_nothing_is_lost() {
    let (peer, mut inbox, theirs) = start_small(4, 8);
    // more than all queues on the way hold together
    let flood = tokio::spawn(async move {
        for n in 0..5000 {
            theirs.outgoing.send(notification(n)).await.unwrap();
        }
        theirs
    });
    assert!(matches!(peer.request("m", Json::empty_object(), AFTER).await, Err(Error::Timeout { .. })));
    assert!(!flood.is_finished());
    expect_notifications(&mut inbox, 0..5000).await;
    flood.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn end_is_seen_behind_a_full_inbox() {
    let (peer, _inbox, theirs) = start_small(4, 100);
    for n in 0..50 {
        theirs.outgoing.send(notification(n)).await.unwrap();
    }
    drop(theirs);
    assert!(matches!(soon(peer.closed()).await, Closed::Ended));
}

#[tokio::test]
async fn calls_of_the_peer_are_refused_when_the_inbox_was_dropped() {
    let (_peer, inbox, mut theirs) = start();
    drop(inbox);
    let request = Request::new("q", "droid.request_permission", Json::empty_object());
    theirs.outgoing.send(notification(1)).await.unwrap();
    theirs.outgoing.send(Frame::Request(request)).await.unwrap();
    let Ok(Frame::Response(response)) = soon(theirs.incoming.recv()).await else { panic!() };
    assert_eq!(
        (response.id.as_str(), response.outcome.unwrap_err().code),
        (Some("q"), RpcError::METHOD_NOT_FOUND)
    );
}

#[tokio::test]
async fn control_handle_overtakes_and_the_plain_one_does_not() {
    let (peer, _inbox, mut theirs) = start();
    peer.notify("notification", Json::empty_object()).await.unwrap();
    peer.respond(Id::from("ordered"), Ok(Json::null())).await.unwrap();
    peer.control().respond(Id::from("urgent"), Ok(Json::null())).await.unwrap();
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(match soon(theirs.incoming.recv()).await.unwrap() {
            Frame::Response(response) => response.id.to_string(),
            other => format!("{other:?}").split('(').next().unwrap().to_owned(),
        });
    }
    assert_eq!(order, ["urgent", "Notification", "ordered"]);
}

#[tokio::test]
async fn when_all_handles_are_gone_the_other_side_sees_the_end() {
    let (peer, inbox, mut theirs) = start();
    let clone = peer.clone();
    drop((peer, inbox));
    clone.notify("still here", Json::empty_object()).await.unwrap();
    drop(clone);
    soon(theirs.incoming.recv()).await.unwrap();
    assert!(matches!(soon(theirs.incoming.recv()).await, Err(Closed::Ended)));
    // and nothing reads on our side any more
    soon(async { while theirs.outgoing.send(notification(1)).await.is_ok() {} }).await;
}

#[tokio::test(start_paused = true)]
async fn unsent_call_ends_at_its_deadline() {
    let (peer, _inbox, _theirs) = start();
    let mut sent = 0;
    while timeout(AFTER, peer.notify("notification", Json::empty_object())).await.is_ok() {
        sent += 1;
    }
    assert_eq!(sent, 4096);
    assert!(matches!(peer.request("m", Json::empty_object(), AFTER).await, Err(Error::Timeout { .. })));
    assert!(matches!(
        peer.control().request("m", Json::empty_object(), AFTER).await,
        Err(Error::Timeout { .. })
    ));
}

#[tokio::test]
async fn typed_call_parses_its_response_and_names_its_errors() {
    let (peer, _inbox, mut theirs) = start();
    let answers = tokio::spawn(async move {
        for answer in [r#"{"tools":[]}"#, r#"{"tools":7}"#] {
            let request = next_request(&mut theirs).await;
            assert_eq!(request.method, "droid.list_tools");
            let line = format!(r#"{{"type":"response","id":"{}","result":{answer}}}"#, request.id);
            theirs.outgoing.send(Frame::parse(line.as_bytes())).await.unwrap();
        }
        theirs
    });
    let tools = soon(peer.call::<ListTools>(&ListToolsParams::default())).await.unwrap();
    assert!(tools.tools.is_empty());
    let error = soon(peer.call::<ListTools>(&ListToolsParams::default())).await.unwrap_err();
    assert!(matches!(&error, Error::Shape(shape) if shape.path.as_str() == "result.tools"), "{error}");
    answers.await.unwrap();
}
