//! What no client can cause from outside: a bug in the task of a session.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use musher_engine::store::Store;
use musher_engine::store::shared::DaemonFiles;
use musher_engine::{Environment, SessionId};
use musher_rpc::{Connection, memory};
use musher_wire::{Frame, Json, Request};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::hub::Hub;
use super::session::Control;
use super::{AgentSource, DaemonOptions, Token, client};

const TOKEN: &str = "0123456789abcdef";

fn hub(home: &std::path::Path) -> Arc<Hub> {
    let agents = AgentSource::Engine(Arc::new(Environment::new(home)));
    let shared = Arc::new(DaemonFiles::open(home));
    let token = Token::new(TOKEN).unwrap();
    Hub::new(DaemonOptions::new(agents, Store::open(home), shared, "host".to_owned(), token)).unwrap()
}

/// A client, connected in memory.
struct Client(Connection);

impl Client {
    async fn connect(hub: &Arc<Hub>) -> Self {
        let (near, far) = memory();
        let permit = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        drop(tokio::spawn(client::serve(
            Arc::clone(hub),
            far,
            Arc::new(AtomicBool::new(false)),
            permit,
            false,
        )));
        let mut client = Self(near);
        client.call("daemon.authenticate", json!({"apiKey": TOKEN, "caller": "test"})).await;
        client
    }

    async fn call(&mut self, method: &'static str, params: Value) -> Value {
        let request = Request::new(method, method, Json::from(params));
        self.0.outgoing.send(Frame::Request(request)).await.unwrap();
        self.until(&|message| message["type"] == "response" && message["id"] == method).await
    }

    async fn until(&mut self, is_wanted: &dyn Fn(&Value) -> bool) -> Value {
        loop {
            let frame = timeout(Duration::from_secs(30), self.0.incoming.recv()).await.unwrap().unwrap();
            let message: Value = serde_json::from_str(&frame.to_line()).unwrap();
            if is_wanted(&message) {
                return message;
            }
        }
    }
}

#[tokio::test]
async fn panic_in_a_session_ends_this_session_only_and_it_is_revived() {
    let home = tempfile::tempdir().unwrap();
    let hub = hub(home.path());
    let mut client = Client::connect(&hub).await;
    let mut ids = Vec::new();
    for id in ["one", "two"] {
        let params = json!({"machineId": "m", "token": "t", "cwd": home.path(), "sessionId": id});
        let opened = client.call("daemon.initialize_session", params).await;
        assert_eq!(opened["result"]["sessionId"], id, "{opened}");
        ids.push(SessionId::new(id).unwrap());
    }
    hub.registry.control(&ids[0], Control::Panic).unwrap();
    let exited = client.until(&|it| it["params"]["notification"]["type"] == "session_process_exited").await;
    assert_eq!(exited["params"]["sessionId"], "one");
    let opened = client.call("daemon.list_opened_sessions", json!({})).await;
    assert_eq!(opened["result"]["sessions"].as_array().unwrap().len(), 1, "{opened}");
    assert_eq!(opened["result"]["sessions"][0]["sessionId"], "two");
    // the same client continues with both
    for id in ["one", "two"] {
        let renamed = client.call("daemon.rename_session", json!({"sessionId": id, "title": "Named"})).await;
        assert_eq!(renamed["result"]["success"], true, "{renamed}");
    }
    assert_eq!(hub.metrics.session_panics.get(), 1);
}
