//! Misbehaving servers: raw bytes over TCP, and no server at all.

use std::net::SocketAddr;
use std::time::Duration;

use musher_http::{Client, Proxies, SseLimits, Timeouts};
use musher_model::{Endpoint, ErrorClass, Format, HttpProvider, ModelError, ModelEvent, Secret};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::faults::{ask, provider};

/// Starts a server that reads one request, sends these bytes and closes the connection.
async fn serve_bytes(answer: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while !request.ends_with(b"}") {
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => break,
                Ok(count) => request.extend_from_slice(&buffer[..count]),
            }
        }
        // fails if the client has already closed the connection
        stream.write_all(&answer).await.ok();
    });
    address
}

fn stream(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}

async fn call(answer: Vec<u8>) -> (Vec<ModelEvent>, Option<ModelError>) {
    let address = serve_bytes(answer).await;
    ask(&provider(Format::OpenaiChat, &format!("http://{address}"), Timeouts::default())).await
}

async fn error(answer: Vec<u8>) -> ModelError {
    call(answer).await.1.unwrap()
}

#[tokio::test]
async fn body_without_length_that_ends_properly_is_complete() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\r\n\r\n";
    let (events, failed) = call(stream(body)).await;
    assert_eq!((events.len(), failed), (3, None));
}

#[tokio::test]
async fn answer_without_its_end_is_truncated() {
    let body = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"function\":{\"name\":\"T\",\"arguments\":\"{}\"}}]}}]}\n\n";
    let (events, failed) = call(stream(body)).await;
    assert_eq!(failed.unwrap().class, ErrorClass::Cut);
    assert!(!events.iter().any(|event| matches!(event, ModelEvent::ToolCall(_))));
}

#[tokio::test]
async fn endless_line_is_rejected_at_the_limit() {
    let address = serve_bytes(stream(&"x".repeat(1 << 20))).await;
    let mut endpoint = Endpoint::new(Format::OpenaiChat, format!("http://{address}"));
    endpoint.limits = SseLimits { line: 1 << 16, ..SseLimits::default() };
    let provider = HttpProvider::new(Client::default(), endpoint);
    let error = ask(&provider).await.1.unwrap();
    assert_eq!(error.class, ErrorClass::Protocol);
    assert_eq!(error.message, "cannot read the events: the response has a line of more than 65536 bytes");
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let location = elsewhere.local_addr().unwrap();
    let answer = format!("HTTP/1.1 307 X\r\nlocation: http://{location}/\r\ncontent-length: 0\r\n\r\n");
    let error = error(answer.into_bytes()).await;
    assert_eq!((error.class, error.status), (ErrorClass::Invalid, Some(307)));
    let came = tokio::time::timeout(Duration::ZERO, elsewhere.accept()).await;
    assert!(came.is_err(), "a connection to the redirect target");
}

#[tokio::test]
async fn response_that_is_not_a_stream_is_reported() {
    let json = |body: &str| {
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    };
    let plain = error(json("{\"choices\":[]}")).await;
    assert_eq!(plain.class, ErrorClass::Protocol);
    assert_eq!(plain.message, "invalid response: expected an event stream, got: {\"choices\":[]}");
    let disguised =
        error(json("{\"error\":{\"message\":\"no money\",\"code\":\"insufficient_quota\"}}")).await;
    assert_eq!((disguised.class, disguised.message.as_str()), (ErrorClass::Billing, "no money"));
}

#[tokio::test]
async fn response_that_is_not_http_is_a_network_error() {
    assert_eq!(error(b"SSH-2.0-OpenSSH\r\n".to_vec()).await.class, ErrorClass::Network);
    assert_eq!(error(Vec::new()).await.class, ErrorClass::Network);
}

#[tokio::test]
async fn refused_connection_is_a_network_error_that_names_the_host() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error =
        ask(&provider(Format::Anthropic, &format!("http://{address}"), Timeouts::default())).await.1.unwrap();
    assert_eq!(error.class, ErrorClass::Network);
    assert!(error.message.starts_with(&format!("cannot connect to {address}: ")), "{error}");
}

#[tokio::test]
async fn tls_with_a_server_without_tls_fails() {
    let address = serve_bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
    let short = Some(Duration::from_millis(300));
    let timeouts = Timeouts { connect: short, ..Timeouts::default() };
    let error = ask(&provider(Format::Anthropic, &format!("https://{address}"), timeouts)).await.1.unwrap();
    assert!(matches!(error.class, ErrorClass::Network | ErrorClass::Timeout), "{error:?}");
}

#[tokio::test]
async fn invalid_settings_are_reported_without_a_request() {
    for url in ["ftp://host", "no address", "http://"] {
        let mut endpoint = Endpoint::new(Format::OpenaiChat, url);
        endpoint.key = Some(Secret::new("key"));
        let provider = HttpProvider::new(Client::default(), endpoint);
        assert_eq!(ask(&provider).await.1.unwrap().class, ErrorClass::Config, "{url}");
    }
    let mut endpoint = Endpoint::new(Format::OpenaiChat, "http://127.0.0.1:1");
    endpoint.key = Some(Secret::new("two\nlines"));
    let error = ask(&HttpProvider::new(Client::default(), endpoint)).await.1.unwrap();
    assert_eq!(error.message, "invalid value of the header `authorization`: failed to parse header value");
}

#[tokio::test]
async fn connection_is_reused_after_a_complete_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let answer = format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    // the server answers on its first connection only
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 4096];
        for _ in 0..3 {
            let count = stream.read(&mut buffer).await.unwrap();
            assert!(buffer[..count].ends_with(b"}"), "the small request arrives in one read");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        listener
    });
    let provider = provider(Format::OpenaiChat, &format!("http://{address}"), Timeouts::default());
    for _ in 0..3 {
        assert_eq!(ask(&provider).await.1, None);
    }
    drop(serving.await.unwrap());
}

#[tokio::test]
async fn proxy_error_is_retryable_only_if_it_may_be_temporary() {
    let cases = [
        ("407 Proxy Authentication Required", ErrorClass::Config, false),
        ("403 Forbidden", ErrorClass::Config, false),
        ("502 Bad Gateway", ErrorClass::Network, true),
    ];
    for (status, class, is_retryable) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = format!("http://user:s3cret-pw@{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
            }
            stream.write_all(format!("HTTP/1.1 {status}\r\n\r\n").as_bytes()).await.unwrap();
        });
        let proxies = Proxies::from_variables(|name| (name == "HTTPS_PROXY").then(|| proxy.clone().into()));
        let client = Client::builder().proxies(proxies).build();
        let provider = HttpProvider::new(client, Endpoint::new(Format::OpenaiChat, "https://vendor.example"));
        let error = ask(&provider).await.1.unwrap();
        assert_eq!((error.class, error.class.is_retryable()), (class, is_retryable), "{error}");
        assert!(error.message.contains("(HTTPS_PROXY)") && !error.message.contains("s3cret"), "{error}");
    }
}
