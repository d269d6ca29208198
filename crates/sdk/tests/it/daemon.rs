//! The daemon client against a daemon of the test: what a real one does only rarely.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use musher::{Daemon, DaemonState, Event, TurnEnd};
use musher_rpc::{Admission, Connection, WebSocketOptions, accept_websocket};
use musher_wire::{Frame, Json, Notification, Response, RpcError};
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::time::timeout;

/// Generous: it only ends tests that would never end.
const DEADLINE: Duration = Duration::from_mins(1);
/// How many notifications a long turn has: more than all queues on the way hold.
const MANY: u64 = 5000;

/// A daemon that counts its notifications and replays them.
#[derive(Default)]
struct Fake {
    /// The journal of each session; the sequence of a notification is its place, from 1.
    journals: Mutex<HashMap<String, Vec<Value>>>,
    /// The calls that were made, with their params.
    calls: Mutex<Vec<(String, Value)>>,
    /// Refuses the credential.
    refuses: bool,
}

impl Fake {
    fn calls(&self, method: &str) -> Vec<Value> {
        let calls = self.calls.lock().unwrap();
        calls.iter().filter(|(called, _)| called == method).map(|(_, params)| params.clone()).collect()
    }

    /// Serves connections on a socket; the first one is cut after this number of calls.
    fn serve(
        self: Arc<Self>,
        listener: UnixListener,
        mut cut_after: Option<usize>,
    ) -> tokio::task::JoinHandle<()> {
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let connection =
                    accept_websocket(stream, WebSocketOptions::default(), |_| Admission::Admit).await;
                let cut = cut_after.take();
                tokio::spawn(Arc::clone(&self).client(connection.unwrap(), cut));
            }
        })
    }

    async fn client(self: Arc<Self>, mut connection: Connection, cut_after: Option<usize>) {
        let mut served = 0;
        while cut_after.is_none_or(|limit| served < limit) {
            let Ok(frame) = connection.incoming.recv().await else { return };
            let Frame::Request(request) = frame else { continue };
            served += 1;
            let params = request.params.unwrap().to_value().unwrap();
            self.calls.lock().unwrap().push((request.method.to_string(), params.clone()));
            let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
            let outcome = match &*request.method {
                "daemon.authenticate" if self.refuses => {
                    Err(RpcError::new(RpcError::AUTHENTICATION, "wrong"))
                }
                "daemon.authenticate" => Ok(json!({"userId": "u", "orgId": "o"})),
                "daemon.initialize_session" => Ok(json!({"sessionId": session, "lastSequence": 0})),
                "daemon.load_session" => {
                    let last = self.last(&session);
                    Ok(json!({"session": {"messages": []}, "sessionId": session, "lastSequence": last}))
                }
                _ => Ok(json!({})),
            };
            let response = Response::new(request.id, outcome.map(Json::from));
            if connection.outgoing.send(Frame::Response(response)).await.is_err() {
                return;
            }
            let after = match &*request.method {
                "daemon.load_session" => params["afterSequence"].as_u64(),
                "daemon.add_user_message" => {
                    let before = self.last(&session);
                    self.turn(&session, &params);
                    Some(before)
                }
                _ => None,
            };
            let Some(after) = after else { continue };
            for (sequence, notification) in self.journal(&session, after) {
                let params =
                    json!({"sessionId": session, "notification": notification, "sequence": sequence});
                let frame = Notification::new("daemon.session_notification", Json::from(params));
                if connection.outgoing.send(Frame::Notification(frame)).await.is_err() {
                    return;
                }
            }
        }
    }

    fn last(&self, session: &str) -> u64 {
        self.journals.lock().unwrap().get(session).map_or(0, Vec::len) as u64
    }

    fn journal(&self, session: &str, after: u64) -> Vec<(u64, Value)> {
        let journals = self.journals.lock().unwrap();
        let all = journals.get(session).cloned().unwrap_or_default();
        (1..).zip(all).filter(|(sequence, _)| *sequence > after).collect()
    }

    /// Records a whole turn: the prompt says how many notifications it has.
    fn turn(&self, session: &str, params: &Value) {
        let id = &params["messageId"];
        let count: u64 = params["text"].as_str().unwrap().parse().unwrap();
        let mut journals = self.journals.lock().unwrap();
        let journal = journals.entry(session.to_owned()).or_default();
        // a prompt that was sent again is recognised
        if journal.iter().any(|told| told["turnId"] == *id) {
            return;
        }
        let progress = |n: u64| {
            let update = json!({"type": "status", "text": n.to_string(), "timestamp": 1});
            json!({"type": "tool_progress_update", "toolUseId": "t", "toolName": "Execute", "update": update})
        };
        journal.extend((0..count).map(progress));
        journal.push(json!({"type": "agent_turn_completed", "reason": "completed", "turnId": id}));
    }
}

fn socket(folder: &tempfile::TempDir) -> (UnixListener, String) {
    let path = folder.path().join("daemon.sock");
    (UnixListener::bind(&path).unwrap(), format!("unix:{}", path.display()))
}

/// The number in a progress event.
fn number(event: &Event) -> Option<u64> {
    let Event::ToolProgress(progress) = event else { return None };
    serde_json::to_value(&progress.update).unwrap()["text"].as_str()?.parse().ok()
}

#[tokio::test]
async fn slow_reader_costs_a_bounded_amount_and_gets_everything_in_order_later() {
    let folder = tempfile::tempdir().unwrap();
    let (listener, url) = socket(&folder);
    let fake = Arc::new(Fake::default());
    let server = Arc::clone(&fake).serve(listener, None);
    let daemon = Daemon::connect().url(url).token("t").session_limit(100, 1024 * 1024).await.unwrap();
    let slow = daemon.session().open().await.unwrap();
    let mut turn = slow.send(MANY.to_string()).partial().start().await.unwrap();
    // another session is served while no event of the first is read
    let quick = daemon.session().open().await.unwrap();
    for _ in 0..3 {
        let result = timeout(DEADLINE, quick.send("5")).await.unwrap().unwrap();
        assert_eq!(result.end, TurnEnd::Completed);
    }
    let mut numbers = Vec::new();
    let end = loop {
        let event = timeout(DEADLINE, turn.next()).await.unwrap().unwrap().unwrap();
        assert_ne!(event, Event::Gap);
        numbers.extend(number(&event));
        if let Event::Result(result) = event {
            break result.end;
        }
    };
    assert_eq!(end, TurnEnd::Completed);
    let is_complete = numbers.iter().copied().eq(0..MANY);
    assert!(is_complete, "each once, in order: {} of {MANY}", numbers.len());
    let loads = fake.calls("daemon.load_session");
    assert!(!loads.is_empty(), "it did not fit, so it was loaded again");
    assert!(loads[0]["afterSequence"].as_u64().unwrap() < MANY / 2, "{:?}", loads[0]);
    daemon.close().await;
    server.abort();
}

#[tokio::test]
async fn connection_that_is_cut_at_any_call_loses_and_repeats_nothing() {
    for cut in 1..6 {
        let folder = tempfile::tempdir().unwrap();
        let (listener, url) = socket(&folder);
        let fake = Arc::new(Fake::default());
        let server = Arc::clone(&fake).serve(listener, Some(cut));
        let daemon = Daemon::connect().url(url).token("t").await.unwrap();
        let session = timeout(DEADLINE, daemon.session().open()).await.unwrap().unwrap();
        for _ in 0..3 {
            let mut turn = session.send("50").partial().start().await.unwrap();
            let mut numbers = Vec::new();
            while let Some(event) = timeout(DEADLINE, turn.next()).await.unwrap() {
                numbers.extend(number(&event.unwrap()));
            }
            assert_eq!(numbers, (0..50).collect::<Vec<_>>(), "cut after {cut}");
        }
        assert_eq!(fake.last(session.id().as_str()), 3 * 51, "cut after {cut}: each prompt ran once");
        daemon.close().await;
        server.abort();
    }
}

#[tokio::test]
async fn daemon_that_does_not_come_back_ends_all_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let (listener, url) = socket(&folder);
    let server = Arc::new(Fake::default()).serve(listener, Some(2));
    let connecting = Daemon::connect().url(url).token("t").reconnect_for(Duration::from_millis(50));
    let daemon = connecting.await.unwrap();
    // cut after the session was opened; the listener is gone, too
    let session = daemon.session().open().await;
    server.abort();
    fs_err::remove_file(folder.path().join("daemon.sock")).ok();
    let mut state = daemon.watch_state();
    timeout(DEADLINE, state.wait_for(|state| *state == DaemonState::Closed)).await.unwrap().unwrap();
    if let Ok(session) = session {
        let error = timeout(DEADLINE, session.send("1")).await.unwrap().unwrap_err();
        assert!(error.is_connection(), "{error:?}");
    }
    assert!(daemon.opened_sessions().await.unwrap_err().is_connection());
}

#[tokio::test]
async fn refused_credential_and_absent_daemon_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (listener, url) = socket(&folder);
    let server = Arc::new(Fake { refuses: true, ..Fake::default() }).serve(listener, None);
    let refused = Daemon::connect().url(&url).token("t").await.unwrap_err();
    assert!(refused.is_protocol(), "{refused:?}");
    server.abort();
    let absent = Daemon::connect().home(folder.path().join("nothing")).await.unwrap_err();
    assert!(absent.is_connection(), "{absent:?}");
    assert!(Daemon::connect().url("http://x").await.unwrap_err().is_invalid_input());
}

#[tokio::test]
async fn token_is_read_again_for_each_connection() {
    let folder = tempfile::tempdir().unwrap();
    let (listener, _) = socket(&folder);
    let fake = Arc::new(Fake::default());
    let server = Arc::clone(&fake).serve(listener, None);
    fs_err::write(folder.path().join("daemon.token"), "first-token\n").unwrap();
    for token in ["first-token", "second-token"] {
        fs_err::write(folder.path().join("daemon.token"), format!("{token}\n")).unwrap();
        let daemon = Daemon::connect().home(folder.path()).await.unwrap();
        daemon.close().await;
        assert_eq!(fake.calls("daemon.authenticate").last().unwrap()["apiKey"], token);
    }
    server.abort();
}
