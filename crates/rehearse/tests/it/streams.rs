//! Answers as they arrive over HTTP.

use std::net::TcpListener;

use musher_rehearse::{Reply, Script, Server, when};
use serde_json::json;

use crate::client::{Ending, get, post};

#[tokio::test]
async fn a_tool_call_and_then_text_arrive_over_chat_completions() {
    let script = Script::new()
        .reply(Reply::tool("Execute", json!({"command": "ls"})).when(when().call(1)))
        .reply(Reply::text(["Hel", "lo"]).when(when().tool_result("main.rs")));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server::from_listener(listener, script).unwrap();

    let mut body = json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "list"}]});
    let first = post(&server, "/v1/chat/completions", &body).await;
    assert_eq!((first.status, first.ending), (200, Ending::Complete));
    assert!(first.body.contains(r#""arguments":"{\"command\":\"ls\"}""#), "{}", first.body);
    assert_eq!(first.data().last(), Some(&"[DONE]"));

    let call =
        json!({"id": "call_1", "type": "function", "function": {"name": "Execute", "arguments": "{}"}});
    body["messages"] = json!([
        {"role": "user", "content": "list"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "main.rs"}
    ]);
    let second = post(&server, "/chat/completions", &body).await;
    assert!(second.body.contains(r#""content":"Hel""#), "{}", second.body);
    assert_eq!(server.calls().len(), 2);
    assert_eq!(get(&server, "/v1/models").await.json()["data"][0]["id"], "rehearsal");
    server.shutdown().await;
}
