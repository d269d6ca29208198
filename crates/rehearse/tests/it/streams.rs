//! Answers as they arrive over HTTP.

use std::net::TcpListener;

use musher_rehearse::{Error, Reply, Script, Server, when};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{DEADLINE, Ending, exchange, get, post, request};

#[tokio::test]
async fn tool_call_and_then_text_arrive_over_chat_completions() {
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

#[tokio::test]
async fn all_three_apis_answer_with_and_without_a_stream() {
    let server = Server::bind("127.0.0.1:0", Script::new().otherwise(Reply::text("Hello"))).unwrap();
    let messages = json!([{"role": "user", "content": "hi"}]);
    for path in ["/v1/chat/completions", "/api/v1/responses", "/v1/messages"] {
        for stream in [true, false] {
            let body = json!({"model": "m", "stream": stream, "messages": messages, "input": messages});
            let answer = post(&server, path, &body).await;
            assert_eq!((answer.status, answer.ending), (200, Ending::Complete));
            let expected = if stream { "text/event-stream; charset=utf-8" } else { "application/json" };
            assert_eq!(answer.header("content-type"), Some(expected));
            assert!(answer.body.contains("Hello"), "{}", answer.body);
        }
    }
    assert_eq!(server.rehearsal().uses(), [0_u32; 0]);
    server.shutdown().await;
}

#[tokio::test]
async fn pieces_arrive_one_by_one() {
    let hour = 3_600_000;
    let reply = Reply::text(["first", "second"]).delay_ms(0, hour);
    let server = Server::bind("127.0.0.1:0", Script::new().otherwise(reply)).unwrap();
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let body = json!({"model": "m", "stream": true, "messages": []}).to_string();
    stream.write_all(request("POST", "/v1/messages", &body).as_bytes()).await.unwrap();
    let mut seen = String::new();
    while !seen.contains("first") {
        let mut buffer = [0; 1024];
        let count = tokio::time::timeout(DEADLINE, stream.read(&mut buffer)).await.unwrap().unwrap();
        seen.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    assert!(!seen.contains("second"), "{seen}");
    server.shutdown().await;
}

#[tokio::test]
async fn one_connection_serves_many_requests() {
    let server = Server::bind("127.0.0.1:0", Script::new().otherwise(Reply::text("Hello"))).unwrap();
    let body = json!({"model": "m", "messages": []}).to_string();
    let kept = request("POST", "/v1/messages", &body).replace("connection: close\r\n", "");
    let last = request("POST", "/v1/messages", &body);
    let answer = exchange(server.address(), &(kept + &last)).await;
    assert_eq!(answer.body.matches("HTTP/1.1 200").count(), 1, "{}", answer.body);
    assert_eq!(server.requests().len(), 2);
    server.shutdown().await;
}

#[tokio::test]
async fn nothing_listens_after_shutdown_or_drop() {
    let start = || Server::bind("127.0.0.1:0", Script::new().otherwise(Reply::empty())).unwrap();
    let server = start();
    let address = server.address();
    server.shutdown().await;
    assert!(TcpStream::connect(address).await.is_err());

    let server = start();
    let address = server.address();
    let idle = TcpStream::connect(address).await.unwrap();
    drop(server);
    // The open connection is closed, which shows that its task has ended.
    let mut idle = idle;
    let read = tokio::time::timeout(DEADLINE, idle.read(&mut [0; 1])).await.unwrap();
    assert!(matches!(read, Ok(0) | Err(_)));
}

#[tokio::test]
async fn non_loopback_addresses_must_be_allowed() {
    let script = || Script::new().otherwise(Reply::empty());
    let error = Server::bind("0.0.0.0:0", script()).unwrap_err();
    assert!(matches!(error, Error::NotLoopback(_)), "{error}");
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    assert!(matches!(Server::from_listener(listener, script()), Err(Error::NotLoopback(_))));
    let server = Server::builder(script()).allow_remote().bind("0.0.0.0:0").unwrap();
    server.shutdown().await;
    assert!(matches!(Server::bind("example.org:80", script()), Err(Error::Listen { .. })));
}

#[test]
fn server_without_a_runtime_is_an_error_not_a_panic() {
    let error = Server::bind("127.0.0.1:0", Script::new()).unwrap_err();
    assert!(matches!(error, Error::NoRuntime), "{error}");
}
