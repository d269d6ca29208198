//! Limits, redirects and errors of a client without a proxy.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use http::{HeaderMap, Method};
use musher_http::{Client, ErrorKind, Proxies, Redirects, SseLimits, SseReader, Timeouts};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::servers::{answer, read_head, serve};

fn client() -> Client {
    Client::builder().proxies(Proxies::none()).build()
}

#[tokio::test]
async fn response_head_larger_than_the_limit_fails() {
    let host = serve(|_| answer("200 OK", &format!("x: {}\r\n", "y".repeat(20_000)), "hello")).await;
    let small = Client::builder().proxies(Proxies::none()).max_head(16 << 10).build();
    let error = small.get(&host.url("/"), HeaderMap::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{}", error.report());
    let large = client().get(&host.url("/"), HeaderMap::new()).await.unwrap();
    assert_eq!(large.header("x").unwrap().len(), 20_000);
}

#[tokio::test]
async fn body_is_read_up_to_the_limit() {
    let host = serve(|_| answer("200 OK", "", &"x".repeat(100_000))).await;
    let get = async || client().get(&host.url("/"), HeaderMap::new()).await.unwrap().body;
    assert_eq!(get().await.read(100_000).await.unwrap().len(), 100_000);
    let error = get().await.read(99_999).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::TooLarge, "the response is larger than 99999 bytes")
    );
    let (prefix, is_cut) = get().await.read_prefix(99_999).await.unwrap();
    assert_eq!((prefix.len(), is_cut), (99_999, true));
    let (whole, is_cut) = get().await.read_prefix(100_000).await.unwrap();
    assert_eq!((whole.len(), is_cut), (100_000, false));
}

#[tokio::test]
async fn every_wait_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let short = Some(Duration::from_millis(100));
    let timeouts = Timeouts { connect: short, headers: short, silence: short };
    let client = Client::builder().proxies(Proxies::none()).timeouts(timeouts).build();
    // no one accepts: the headers never arrive, and over TLS not even the connection is established
    assert_eq!(client.get(&url, HeaderMap::new()).await.unwrap_err().kind(), ErrorKind::Timeout);
    let tls = client.get(&url.replace("http:", "https:"), HeaderMap::new()).await.unwrap_err();
    assert_eq!(tls.kind(), ErrorKind::Timeout);
    assert!(tls.to_string().ends_with("within 100ms"), "{tls}");
    drop(listener);
    let host = serve(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello".to_vec()).await;
    let error = client.get(&host.url("/"), HeaderMap::new()).await.unwrap().body.read(100).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incomplete);
}

#[tokio::test]
async fn silence_in_a_body_ends_in_a_timeout() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_head(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nhello").await.unwrap();
        // wait until the client has closed the connection
        stream.read_to_end(&mut Vec::new()).await.ok();
    });
    let timeouts = Timeouts { silence: Some(Duration::from_millis(100)), ..Timeouts::default() };
    let client = Client::builder().proxies(Proxies::none()).timeouts(timeouts).build();
    let mut response = client.get(&url, HeaderMap::new()).await.unwrap();
    assert_eq!(response.body.next().await.unwrap().unwrap(), "hello");
    assert_eq!(response.body.next().await.unwrap_err().kind(), ErrorKind::Timeout);
    drop((response, client));
    serving.await.unwrap();
}

#[tokio::test]
async fn error_has_its_whole_chain_of_causes() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = client().get(&format!("http://user:s3cret@{address}/"), HeaderMap::new()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.to_string()),
        (ErrorKind::Connect, format!("cannot connect to {address}"))
    );
    assert!(error.report().starts_with(&format!("cannot connect to {address}: Connection refused")));
    let mut cause = error.source();
    let mut found = None;
    while let Some(at) = cause {
        found = at.downcast_ref::<io::Error>().or(found);
        cause = at.source();
    }
    assert_eq!(found.unwrap().kind(), io::ErrorKind::ConnectionRefused);
    assert!(!format!("{error:?}").contains("s3cret"));
}

#[tokio::test]
async fn response_that_is_not_http_is_a_broken_connection() {
    for says in [&b"SSH-2.0-OpenSSH\r\n"[..], b"", b"HTTP/1.1 200"] {
        let host = serve(|_| says.to_vec()).await;
        let error = client().get(&host.url("/"), HeaderMap::new()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Broken, "{}", error.report());
        assert!(error.source().is_some());
    }
}

fn redirects(head: &str) -> Vec<u8> {
    let to = |location: &str| answer("302 Found", &format!("location: {location}\r\n"), "");
    match head.split(' ').nth(1).unwrap() {
        "/moved" => to("/target"),
        "/round" => to("round"),
        _ => answer("200 OK", "", "target"),
    }
}

#[tokio::test]
async fn redirects_are_followed_only_if_configured() {
    let host = serve(redirects).await;
    let returned = client().get(&host.url("/moved"), HeaderMap::new()).await.unwrap();
    assert_eq!((returned.status.as_u16(), returned.header("location")), (302, Some("/target")));
    let following =
        Client::builder().proxies(Proxies::none()).redirects(Redirects::Follow { max: 2 }).build();
    let response = following.get(&host.url("/moved"), HeaderMap::new()).await.unwrap();
    assert_eq!((response.status.as_u16(), response.url.path()), (200, "/target"));
    let error = following.get(&host.url("/round"), HeaderMap::new()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Redirect);
    assert_eq!(host.heads().len(), 1 + 2 + 3);
    // only GET follows redirects
    let posted =
        following.request(Method::POST, &host.url("/moved"), HeaderMap::new(), Vec::new()).await.unwrap();
    assert_eq!(posted.status, 302);
}

#[tokio::test]
async fn events_are_read_up_to_an_overflow() {
    let host =
        serve(|_| answer("200 OK", "", &format!("data: one\n\ndata: two\n\n{}", "x".repeat(1000)))).await;
    let limits = SseLimits { line: 100, ..SseLimits::default() };
    let response = client().get(&host.url("/"), HeaderMap::new()).await.unwrap();
    let mut reader = SseReader::new(response.body, limits);
    assert_eq!(reader.next().await.unwrap().unwrap().data, "one");
    assert_eq!(reader.next().await.unwrap().unwrap().data, "two");
    for _ in 0..2 {
        assert_eq!(reader.next().await.unwrap_err().kind(), ErrorKind::TooLarge);
    }
}
