//! Requests through a proxy on loopback, and failing proxies.

use std::time::Duration;

use http::HeaderMap;
use musher_http::{Client, Error, ErrorKind, Timeouts};

use crate::servers::{Names, Proxy, TestServer, answer, client, proxy, serve};

const PASSWORD: &str = "s3cret-p4ss";
/// `user:s3cret-p4ss` in base64.
const ENCODED: &str = "dXNlcjpzM2NyZXQtcDRzcw==";

fn with_password(served: &TestServer) -> String {
    format!("http://user:{PASSWORD}@{}", served.address)
}

/// Creates a client whose requests all go through a proxy.
fn through(served: &TestServer) -> Client {
    client(&[("ALL_PROXY", with_password(served))]).build()
}

async fn error(client: &Client, url: &str) -> Error {
    let error = client.get(url, HeaderMap::new()).await.expect_err(url);
    let shown = format!("{error} {error:?} {} {client:?}", error.report());
    assert!(!shown.contains(PASSWORD) && !shown.contains(ENCODED), "{shown}");
    error
}

async fn body(client: &Client, url: &str) -> String {
    let mut response = client.get(url, HeaderMap::new()).await.unwrap();
    String::from_utf8(response.body.read(1000).await.unwrap()).unwrap()
}

#[tokio::test]
async fn http_request_is_forwarded_with_absolute_url_and_credentials() {
    let host = serve(|_| answer("200 OK", "", "hello")).await;
    let proxy = proxy(Proxy::To(host.address), None).await;
    assert_eq!(body(&through(&proxy), "http://host.example/path?q=1").await, "hello");
    let heads = proxy.heads();
    assert!(heads[0].starts_with("GET http://host.example/path?q=1 HTTP/1.1\r\n"), "{heads:?}");
    assert!(heads[0].contains("\r\nhost: host.example\r\n"), "{heads:?}");
    assert!(heads[0].contains(&format!("\r\nproxy-authorization: Basic {ENCODED}\r\n")), "{heads:?}");
}

#[tokio::test]
async fn https_request_opens_a_tunnel_with_credentials() {
    let proxy = proxy(Proxy::Sends(answer("502 Bad Gateway", "", "")), None).await;
    for (url, target) in [
        ("https://host.example/secret-path", "host.example:443"),
        ("https://host.example:8443/", "host.example:8443"),
        ("https://[2001:db8::1]/", "[2001:db8::1]:443"),
    ] {
        let error = error(&through(&proxy), url).await;
        let expected = format!(
            "cannot connect to {target}: the proxy {} (ALL_PROXY) returned 502 Bad Gateway",
            proxy.address
        );
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Connect, expected));
        let head = proxy.heads().pop().unwrap();
        let expected = format!(
            "CONNECT {target} HTTP/1.1\r\nhost: {target}\r\nproxy-authorization: Basic {ENCODED}\r\n\r\n"
        );
        assert_eq!(head, expected);
    }
}

#[tokio::test]
async fn rejected_and_missing_proxy_credentials_are_reported() {
    let refusal =
        answer("407 Proxy Authentication Required", "proxy-authenticate: Basic\r\n", "who are you?");
    let proxy = proxy(Proxy::Sends(refusal), None).await;
    let anonymous = client(&[("ALL_PROXY", proxy.address.to_string())]).build();
    for url in ["http://host.example/", "https://host.example/"] {
        let known = error(&through(&proxy), url).await;
        let unknown = error(&anonymous, url).await;
        assert_eq!(known.kind(), ErrorKind::ProxyAuthentication);
        assert_eq!(unknown.kind(), ErrorKind::ProxyAuthentication);
        let proxy = format!("the proxy {} (ALL_PROXY)", proxy.address);
        assert_eq!(known.to_string(), format!("{proxy} rejected the user name and password"));
        assert_eq!(unknown.to_string(), format!("{proxy} requires a user name and password"));
    }
}

#[tokio::test]
async fn refusal_of_a_proxy_is_distinguished_from_an_unreachable_host() {
    let cases = [("403 Forbidden", ErrorKind::ProxyRefused), ("503 Service Unavailable", ErrorKind::Connect)];
    for (status, kind) in cases {
        let proxy = proxy(Proxy::Sends(answer(status, "", "")), None).await;
        let error = error(&through(&proxy), "https://host.example/").await;
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().ends_with(&format!("returned {status}")), "{error}");
    }
    // the origin of the response to a forwarded request is unknown, so it is returned
    let proxy = proxy(Proxy::Sends(answer("502 Bad Gateway", "", "sorry")), None).await;
    let response = through(&proxy).get("http://host.example/", HeaderMap::new()).await.unwrap();
    assert_eq!(response.status, 502);
}

#[tokio::test]
async fn hanging_proxy_ends_in_a_timeout() {
    let proxy = proxy(Proxy::Hangs, None).await;
    let short = Some(Duration::from_millis(200));
    let timeouts = Timeouts { connect: short, headers: short, silence: short };
    let client = client(&[("ALL_PROXY", with_password(&proxy))]).timeouts(timeouts).build();
    let tunnel = error(&client, "https://host.example/").await;
    let expected = format!(
        "cannot connect to host.example:443 through the proxy {} (ALL_PROXY) within 200ms",
        proxy.address
    );
    assert_eq!((tunnel.kind(), tunnel.to_string()), (ErrorKind::Timeout, expected));
    assert_eq!(error(&client, "http://host.example/").await.kind(), ErrorKind::Timeout);
}

#[tokio::test]
async fn proxy_that_does_not_speak_http_fails() {
    let endless = [b"HTTP/1.1 200 OK\r\nx: ".to_vec(), vec![b'x'; 1 << 20]].concat();
    let cases = [
        (b"SSH-2.0-OpenSSH\r\n\r\n".to_vec(), ErrorKind::Connect, "did not respond with HTTP"),
        (b"HTTP/1.1 2000 OK\r\n\r\n".to_vec(), ErrorKind::Connect, "did not respond with HTTP"),
        (b"HTTP/1.1 200 OK\r\n".to_vec(), ErrorKind::Connect, "closed the connection"),
        (b"HTTP/1.1 200 OK\r\n\r\nhello".to_vec(), ErrorKind::Connect, "sent data before"),
        (endless, ErrorKind::TooLarge, "larger than 16384 bytes"),
    ];
    for (says, kind, reason) in cases {
        let proxy = proxy(Proxy::Sends(says), None).await;
        let error = error(&through(&proxy), "https://host.example/").await;
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[tokio::test]
async fn unreachable_proxy_is_named_in_the_error() {
    let proxy = proxy(Proxy::Hangs, None).await;
    let (address, client) = (proxy.address, through(&proxy));
    proxy.end().await;
    for url in ["http://host.example/", "https://host.example/"] {
        let error = error(&client, url).await;
        assert_eq!(error.kind(), ErrorKind::Connect);
        assert_eq!(error.to_string(), format!("cannot connect to the proxy {address} (ALL_PROXY)"));
        assert!(error.report().contains("Connection refused"), "{}", error.report());
    }
}

#[tokio::test]
async fn listed_hosts_and_loopback_do_not_use_the_proxy() {
    let host = serve(|_| answer("200 OK", "", "direct")).await;
    let port = host.address.port();
    let proxy = proxy(Proxy::Sends(answer("200 OK", "", "proxied")), None).await;
    let lists = ["host.example", ".example", "*", &format!("host.example:{port}"), "x, HOST.example ,y"];
    for list in lists {
        let client = client(&[("http_proxy", with_password(&proxy)), ("no_proxy", list.to_owned())]);
        let client = client.resolver(Names::new(&[("host.example", &[&["127.0.0.1"]])])).build();
        assert_eq!(body(&client, &format!("http://host.example:{port}/")).await, "direct", "{list}");
    }
    assert_eq!(body(&through(&proxy), &host.url("/")).await, "direct");
    assert_eq!(proxy.heads(), Vec::<String>::new());
    assert!(host.heads().iter().all(|head| !head.contains("proxy-authorization")));
    let elsewhere =
        client(&[("http_proxy", with_password(&proxy)), ("no_proxy", "host.example:1".to_owned())]);
    assert_eq!(body(&elsewhere.build(), "http://host.example/").await, "proxied");
}

#[tokio::test]
async fn invalid_proxy_variable_fails_requests_instead_of_bypassing_the_proxy() {
    let names = Names::new(&[]);
    let client = client(&[("ALL_PROXY", format!("socks5://user:{PASSWORD}@proxy.example:1080"))]);
    let client = client.resolver(names.clone()).build();
    for url in ["http://host.example/", "https://host.example/"] {
        let error = error(&client, url).await;
        assert_eq!(error.kind(), ErrorKind::ProxySettings);
        assert_eq!(error.to_string(), "invalid ALL_PROXY: only http:// and https:// proxies are supported");
    }
    assert_eq!(names.lookups(), Vec::<String>::new());
}

#[tokio::test]
async fn proxy_authorization_of_the_caller_is_not_sent_to_the_host() {
    let host = serve(|_| answer("200 OK", "", "")).await;
    let mut headers = HeaderMap::new();
    headers.insert("proxy-authorization", "Basic x".parse().unwrap());
    client(&[]).build().get(&host.url("/"), headers).await.unwrap();
    assert!(!host.heads()[0].contains("proxy-authorization"));
}
