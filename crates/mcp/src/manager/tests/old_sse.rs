//! A server of the older transport on loopback, and what is asked of it.

use std::sync::Mutex;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use rmcp::ServiceExt as _;

use super::server::Workshop;
use super::*;

/// The way to the server of the stream that is open.
type ToServer = Arc<Mutex<Option<mpsc::Sender<Vec<u8>>>>>;

/// Returns a server that has one client. It ends when this is dropped.
async fn serve(endpoint: &'static str) -> (String, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/sse", listener.local_addr().unwrap());
    let task = tokio::spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        let to_server: ToServer = Arc::default();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            connections.spawn(answer(stream, endpoint, Arc::clone(&to_server)));
        }
    });
    (url, AbortOnDropHandle::new(task))
}

/// Answers one request: a stream of events, or a message that is taken.
async fn answer(stream: TcpStream, endpoint: &str, to_server: ToServer) {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        read.read_line(&mut head).await.unwrap();
        let line = head[start..].trim().to_ascii_lowercase();
        if let Some(told) = line.strip_prefix("content-length:") {
            length = told.trim().parse().unwrap();
        }
        if line.is_empty() {
            break;
        }
    }
    let say = |status: &str, more: &str| format!("HTTP/1.1 {status}\r\nconnection: close\r\n{more}\r\n");
    if !head.to_ascii_lowercase().contains("authorization: bearer t0ken") {
        let refusal = say("401 Unauthorized", "content-length: 0\r\nwww-authenticate: Bearer\r\n");
        write.write_all(refusal.as_bytes()).await.unwrap();
        return;
    }
    if head.starts_with("POST ") {
        assert!(head.starts_with("POST /messages?session=1 "), "{head}");
        let mut body = vec![0; length];
        read.read_exact(&mut body).await.unwrap();
        body.push(b'\n');
        let way = to_server.lock().unwrap().clone().expect("a stream");
        way.send(body).await.unwrap();
        write.write_all(say("202 Accepted", "content-length: 0\r\n").as_bytes()).await.unwrap();
        return;
    }
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        if let Ok(service) = Workshop::default().serve(ours).await {
            service.waiting().await.ok();
        }
    });
    let (from_server, mut to) = tokio::io::split(theirs);
    let (way, mut messages) = mpsc::channel::<Vec<u8>>(16);
    *to_server.lock().unwrap() = Some(way);
    tokio::spawn(async move {
        while let Some(message) = messages.recv().await {
            to.write_all(&message).await.unwrap();
        }
    });
    let begin = say("200 OK", "content-type: text/event-stream\r\n");
    write.write_all(format!("{begin}event: endpoint\ndata: {endpoint}\n\n").as_bytes()).await.unwrap();
    pass_on(from_server, write).await;
}

async fn pass_on(from: ReadHalf<DuplexStream>, mut to: tokio::net::tcp::OwnedWriteHalf) {
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if to.write_all(format!("event: message\ndata: {line}\n\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

fn sse(url: String, token: &str) -> Transport {
    let token = musher_model::Secret::new(format!("Bearer {token}"));
    Transport::Sse { url, headers: vec![("Authorization".to_owned(), token)] }
}

#[tokio::test]
async fn server_with_the_older_transport_is_called() {
    let (url, _served) = serve("/messages?session=1").await;
    let (mcp, _home) = start(vec![("old", sse(url, "t0ken"))]).await;
    assert_eq!(status(&mcp), pairs([("old", "connected")]), "{:?}", mcp.servers());
    does_its_work(&mcp, "old").await;
    mcp.shutdown().await;
    assert!(mcp.pool.tasks.is_empty());
}

#[tokio::test]
async fn result_over_the_limit_fails_at_once_and_the_next_call_connects_again() {
    let (url, _served) = serve("/messages?session=1").await;
    let (mcp, _home) = start(vec![("old", sse(url, "t0ken"))]).await;
    limits::refuses_a_huge_result(&mcp, "old").await;
}

#[tokio::test]
async fn endpoint_at_another_origin_is_rejected() {
    let (url, _served) = serve("http://127.0.0.1:9/messages").await;
    let (mcp, _home) = start(vec![("old", sse(url.clone(), "t0ken")), ("locked", sse(url, "wrong"))]).await;
    let why: Vec<String> = mcp.servers().into_iter().map(|server| format!("{server:?}")).collect();
    assert!(why.iter().any(|text| text.contains("another origin")), "{why:?}");
    assert!(why.iter().any(|text| text.contains("needs a token")), "{why:?}");
    assert!(mcp.tools().is_empty());
}
