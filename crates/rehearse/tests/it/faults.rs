//! Errors, cuts and hangs as they arrive over HTTP.

use std::time::{Duration, Instant};

use musher_rehearse::{Hang, HttpError, Reply, Script, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{Answer, DEADLINE, Ending, post, request};

const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];

fn body(stream: bool) -> Value {
    let messages = json!([{"role": "user", "content": "hello"}]);
    json!({"model": "m", "stream": stream, "messages": messages, "input": messages})
}

fn server(reply: Reply) -> Server {
    Server::bind("127.0.0.1:0", Script::new().otherwise(reply)).unwrap()
}

async fn ask(reply: Reply, stream: bool) -> Vec<Answer> {
    let server = server(reply);
    let mut answers = Vec::new();
    for path in PATHS {
        answers.push(post(&server, path, &body(stream)).await);
    }
    server.shutdown().await;
    answers
}

#[tokio::test]
async fn rate_limit_has_its_status_and_retry_after() {
    for answer in
        ask(Reply::error(HttpError::new(429).retry_after_seconds(7).message("slow down")), true).await
    {
        assert_eq!((answer.status, answer.header("retry-after")), (429, Some("7")));
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.json()["error"]["message"], "slow down");
        assert_eq!(answer.ending, Ending::Complete);
    }
}

#[tokio::test]
async fn close_comes_after_the_text_and_before_the_end() {
    for answer in ask(Reply::text(["Hel", "lo"]).and_close(), true).await {
        assert_eq!((answer.status, answer.ending), (200, Ending::Closed));
        assert!(answer.body.contains("\"lo\""), "{}", answer.body);
    }
}

#[tokio::test]
async fn pause_before_a_close_is_kept() {
    let pause = 100;
    let start = Instant::now();
    for answer in ask(Reply::text(["Hel", "lo"]).and_wait_ms(pause).and_close(), true).await {
        assert_eq!((answer.status, answer.ending), (200, Ending::Closed));
        assert!(answer.body.contains("\"lo\""), "{}", answer.body);
    }
    assert!(start.elapsed() >= Duration::from_millis(pause) * 3, "one for each format");
}

#[tokio::test]
async fn reset_comes_after_the_text() {
    for answer in ask(Reply::text(["Hel", "lo"]).and_reset(), true).await {
        assert_eq!((answer.status, answer.ending), (200, Ending::Reset));
        assert!(answer.body.contains("\"lo\""), "{}", answer.body);
    }
}

#[tokio::test]
async fn cut_of_a_non_streaming_answer_leaves_half_of_it() {
    for answer in ask(Reply::text("Hello").and_close(), false).await {
        assert_eq!((answer.status, answer.ending), (200, Ending::Closed));
        assert!(answer.body.starts_with('{') && serde_json::from_str::<Value>(&answer.body).is_err());
    }
}

#[tokio::test]
async fn error_event_ends_a_stream_in_order() {
    for answer in ask(Reply::text("Hel").and_error(HttpError::new(529).message("Overloaded")), true).await {
        assert_eq!((answer.status, answer.ending), (200, Ending::Complete));
        assert!(answer.body.contains("Overloaded"), "{}", answer.body);
    }
}

#[tokio::test]
async fn error_may_come_first_in_a_stream() {
    for answer in ask(Reply::error(HttpError::new(500).message("broken").in_stream()), true).await {
        assert_eq!((answer.status, answer.ending), (200, Ending::Complete));
        assert!(answer.body.contains("broken"), "{}", answer.body);
    }
}

/// Reads until `wanted` appears, or until the end or the deadline of the test.
async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut seen = String::new();
    while !seen.contains(wanted) {
        let mut buffer = [0; 1024];
        let count = tokio::time::timeout(DEADLINE, stream.read(&mut buffer)).await.unwrap().unwrap();
        assert!(count > 0, "closed after {seen}");
        seen.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    seen
}

#[tokio::test]
async fn hang_after_headers_lasts_until_the_client_disconnects() {
    let server = server(Reply::text("Hel").and_hang());
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(request("POST", PATHS[0], &body(true).to_string()).as_bytes()).await.unwrap();
    read_until(&mut stream, "Hel").await;
    assert_eq!(server.open_connections(), 1);
    drop(stream);
    server.wait_until_idle(DEADLINE).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn hang_as_the_first_step_sends_headers_and_nothing_else() {
    for path in PATHS {
        let server = server(Reply::hang(Hang::AfterHeaders));
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(request("POST", path, &body(true).to_string()).as_bytes()).await.unwrap();
        let seen = read_until(&mut stream, "\r\n\r\n").await;
        assert!(seen.ends_with("\r\n\r\n"), "{seen}");
        server.shutdown().await;
    }
}

#[tokio::test]
async fn hang_before_headers_lasts_until_the_client_disconnects() {
    let server = server(Reply::hang(Hang::BeforeHeaders));
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(request("POST", PATHS[0], &body(true).to_string()).as_bytes()).await.unwrap();
    server.wait_for_calls(1, DEADLINE).await.unwrap();
    assert_eq!((server.open_connections(), server.requests()[0].status), (1, None));
    drop(stream);
    server.wait_until_idle(DEADLINE).await.unwrap();
    server.shutdown().await;
}

#[tokio::test]
async fn client_that_leaves_during_a_pause_frees_the_connection() {
    let day = 86_400_000;
    for reply in [Reply::text("x").delay_ms(day, 0), Reply::text(["x", "y"]).delay_ms(0, day)] {
        let server = server(reply);
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(request("POST", PATHS[2], &body(true).to_string()).as_bytes()).await.unwrap();
        server.wait_for_calls(1, DEADLINE).await.unwrap();
        drop(stream);
        server.wait_until_idle(DEADLINE).await.unwrap();
        server.shutdown().await;
    }
}

#[tokio::test]
async fn stopping_ends_answers_that_hang() {
    for reply in [Reply::hang(Hang::BeforeHeaders), Reply::text("Hel").and_hang()] {
        let server = server(reply);
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(request("POST", PATHS[1], &body(true).to_string()).as_bytes()).await.unwrap();
        server.wait_for_calls(1, DEADLINE).await.unwrap();
        tokio::time::timeout(DEADLINE, server.shutdown()).await.unwrap();
        let mut rest = Vec::new();
        // Closed or reset, the client does not keep waiting.
        let ended = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut rest)).await;
        assert!(ended.is_ok());
    }
}
