//! Invalid requests, and the recording of all requests.

use std::time::Duration;

use musher_rehearse::{Api, Error, Reply, Script, Server};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::client::{DEADLINE, exchange, get, post, request};

fn hello() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]})
}

fn server() -> Server {
    Server::bind("127.0.0.1:0", Script::new().reply(Reply::text("Hello").named("greeting"))).unwrap()
}

#[tokio::test]
async fn unknown_paths_and_methods_are_rejected_at_once() {
    let server = server();
    let unknown = get(&server, "/v1/nothing").await;
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.json()["error"]["message"], "rehearsal: unknown endpoint GET /v1/nothing");
    assert_eq!(get(&server, "/v1/messages").await.status, 405);
    assert_eq!(get(&server, "/v1/models/other").await.status, 404);
    server.shutdown().await;
}

#[tokio::test]
async fn requests_of_web_pages_and_for_other_hosts_are_rejected() {
    let server = server();
    let ask = async |server: &Server, headers: &str| {
        let body = hello().to_string();
        let head = format!("POST /v1/chat/completions HTTP/1.1\r\n{headers}connection: close\r\n");
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        exchange(server.address(), &request).await.status
    };
    assert_eq!(ask(&server, "host: 127.0.0.1\r\n").await, 200);
    assert_eq!(ask(&server, "host: localhost:1\r\norigin: http://localhost:3000\r\n").await, 200);
    for headers in [
        "host: evil.example\r\n",
        "host: evil.example\r\norigin: http://evil.example\r\n",
        "host: 127.0.0.1\r\norigin: http://evil.example\r\n",
        "host: 127.0.0.1\r\norigin: null\r\n",
    ] {
        assert_eq!(ask(&server, headers).await, 403, "{headers}");
    }
    assert_eq!(server.calls().len(), 2);
    server.shutdown().await;
    let remote = Server::builder(Script::new().otherwise(Reply::text("x"))).allow_remote();
    let remote = remote.bind("127.0.0.1:0").unwrap();
    assert_eq!(ask(&remote, "host: model.internal\r\n").await, 200);
    assert_eq!(ask(&remote, "host: model.internal\r\norigin: http://evil.example\r\n").await, 403);
    remote.shutdown().await;
}

#[tokio::test]
async fn invalid_json_is_rejected_in_the_vendors_format() {
    let server = server();
    let deep = "[".repeat(100_000);
    for body in ["{", "", "\u{feff}", deep.as_str()] {
        let anthropic = exchange(server.address(), &request("POST", "/v1/messages", body)).await;
        assert_eq!(anthropic.status, 400);
        assert_eq!(anthropic.json()["type"], "error");
        assert_eq!(anthropic.json()["error"]["type"], "invalid_request_error");
        let openai = exchange(server.address(), &request("POST", "/v1/responses", body)).await;
        assert_eq!(openai.status, 400);
        assert_eq!(openai.json()["error"]["type"], "invalid_request_error");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn body_over_the_limit_is_rejected() {
    let server = server();
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let sending = tokio::spawn(async move {
        let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
        // The server stops reading after 64 of these, so the rest may fail.
        for _ in 0..80 {
            if writer.write_all(chunk.as_bytes()).await.is_err() {
                break;
            }
        }
        writer
    });
    let mut buffer = [0; 64];
    let count = tokio::time::timeout(DEADLINE, reader.read(&mut buffer)).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&buffer[..count]);
    assert!(text.starts_with("HTTP/1.1 413"), "{text}");
    drop(reader);
    sending.abort();
    server.shutdown().await;
}

#[tokio::test]
async fn models_are_listed_in_the_form_of_the_client() {
    let script = Script::new().model("one").model("two").otherwise(Reply::empty());
    let server = Server::bind("localhost:0", script).unwrap();
    let openai = get(&server, "/models").await.json();
    assert_eq!((&openai["object"], &openai["data"][1]["id"]), (&json!("list"), &json!("two")));
    let anthropic_request =
        request("GET", "/v1/models", "").replacen("host:", "anthropic-version: 1\r\nhost:", 1);
    let anthropic = exchange(server.address(), &anthropic_request).await.json();
    assert_eq!((&anthropic["data"][0]["type"], &anthropic["last_id"]), (&json!("model"), &json!("two")));
    assert_eq!(get(&server, "/v1/models/one").await.json()["id"], "one");
    server.shutdown().await;
}

#[tokio::test]
async fn tokens_are_counted_without_using_a_reply() {
    let server = server();
    let counted = post(&server, "/v1/messages/count_tokens", &hello()).await;
    assert_eq!(counted.json(), json!({"input_tokens": 2}));
    assert_eq!(server.rehearsal().uses(), [0]);
    assert!(server.calls().is_empty());
    server.shutdown().await;
}

#[tokio::test]
async fn requests_are_remembered_without_their_secrets() {
    let server = server();
    post(&server, "/v1/messages?beta=true", &hello()).await;
    get(&server, "/nowhere").await;
    let requests = server.wait_for_requests(2, DEADLINE).await.unwrap();
    let call = &requests[0];
    assert_eq!(
        (call.number, call.method.as_str(), call.path.as_str()),
        (1, "POST", "/v1/messages?beta=true")
    );
    assert_eq!(
        (call.header("authorization"), call.header("x-api-key")),
        (Some("(redacted)"), Some("(redacted)"))
    );
    assert_eq!((call.body.as_ref(), call.api), (Some(&hello()), Some(Api::Anthropic)));
    assert_eq!((call.reply.as_deref(), call.status), (Some("greeting"), Some(200)));
    assert_eq!(call.call.as_ref().unwrap().prompt, "hello");
    assert_eq!((requests[1].number, requests[1].status, requests[1].is_call()), (2, Some(404), false));
    assert_eq!(server.calls().len(), 1);
    server.shutdown().await;
}

#[tokio::test]
async fn waiting_for_requests_ends_at_the_deadline() {
    let server = server();
    let error = server.wait_for_requests(1, Duration::from_millis(1)).await.unwrap_err();
    assert!(matches!(error, Error::Deadline { seen: 0, .. }), "{error}");
    server.shutdown().await;
}

#[tokio::test]
async fn recorded_files_are_numbered_after_existing_ones() {
    let directory = tempfile::tempdir().unwrap();
    fs_err::write(directory.path().join("000041.json"), "mine").unwrap();
    let record = directory.path().to_owned();
    let server =
        Server::builder(Script::new().otherwise(Reply::text("x"))).record_to(record).bind("127.0.0.1:0");
    let server = server.unwrap();
    post(&server, "/v1/chat/completions", &hello()).await;
    server.shutdown().await;
    let text = fs_err::read_to_string(directory.path().join("000042.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&file["number"], &file["body"], &file["reply"]), (&json!(42), &hello(), &json!("otherwise")));
    assert!(!text.contains("secret"), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let metadata = fs_err::metadata(directory.path().join("000042.json")).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs_err::read_to_string(directory.path().join("000041.json")).unwrap(), "mine");
}

#[tokio::test]
async fn request_that_cannot_be_recorded_gets_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let record = directory.path().join("records");
    let server =
        Server::builder(Script::new().otherwise(Reply::text("x"))).record_to(&record).bind("127.0.0.1:0");
    let server = server.unwrap();
    fs_err::remove_dir(&record).unwrap();
    let answer = post(&server, "/v1/messages", &hello()).await;
    assert_eq!(answer.status, 500);
    assert!(answer.body.contains("cannot record requests"), "{}", answer.body);
    server.shutdown().await;
}
