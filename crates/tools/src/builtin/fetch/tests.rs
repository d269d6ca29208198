//! Pages of a server on loopback, which only tests may reach.

use musher_http::{Proxies, Resolve, Resolving};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::builtin::testing::TestWorkspace;

/// Reads the whole head of a request; an earlier response would be invalid.
async fn hear(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(count) => head.extend_from_slice(&buffer[..count]),
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Starts a server that answers each path with these bytes; ADDRESS in them becomes its own address.
async fn server(pages: &'static [(&'static str, &'static str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let own = address.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let head = hear(&mut stream).await;
            let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
            let answer = pages
                .iter()
                .find(|(at, _)| *at == path)
                .map_or("HTTP/1.1 404 N\r\ncontent-length: 0\r\n\r\n", |(_, answer)| answer);
            // fails if the client has closed the connection
            stream.write_all(answer.replace("ADDRESS", &own).as_bytes()).await.ok();
        }
    });
    format!("http://{address}")
}

const PAGES: &[(&str, &str)] = &[
    ("/html", "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\r\n<h1>Hi</h1><p>there"),
    ("/text?q=1", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nplain"),
    ("/binary", "HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 1\r\n\r\nx"),
    ("/moved", "HTTP/1.1 302 F\r\nlocation: /html\r\ncontent-length: 0\r\n\r\n"),
    ("/far", "HTTP/1.1 302 F\r\nlocation: http://ADDRESS/html\r\ncontent-length: 0\r\n\r\n"),
    ("/round", "HTTP/1.1 302 F\r\nlocation: /round\r\ncontent-length: 0\r\n\r\n"),
    ("/file", "HTTP/1.1 302 F\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n"),
    ("/lost", "HTTP/1.1 302 F\r\ncontent-length: 0\r\n\r\n"),
];

async fn fetch(tool: &FetchUrl, url: &str) -> ToolOutput {
    TestWorkspace::new().run(tool, json!({"url": url})).await
}

#[tokio::test]
async fn pages_are_read_and_redirects_followed() {
    let base = server(PAGES).await;
    let any = &FetchUrl::new(AddressRule::Any);
    for path in ["/html", "/moved", "/far", "/html#part"] {
        let output = fetch(any, &format!("{base}{path}")).await;
        assert_eq!((output.client_text().as_str(), output.is_error), ("Hi\n\nthere", false), "{path}");
    }
    assert_eq!(fetch(any, &format!("{base}/text?q=1")).await.client_text(), "plain");
}

#[tokio::test]
async fn failed_fetch_gives_the_reason() {
    let base = server(PAGES).await;
    let cases = [
        ("/binary", "is `image/png`, not text"),
        ("/missing", "answered with status 404"),
        ("/round", "more than 5 redirects"),
        ("/file", "invalid URL `file:///etc/passwd`"),
        ("/lost", "redirects without a location"),
    ];
    for (path, reason) in cases {
        let output = fetch(&FetchUrl::new(AddressRule::Any), &format!("{base}{path}")).await;
        assert_eq!((output.client_text().as_str(), output.is_error), ("Error: URL fetch failed", true));
        assert!(output.model_text().contains(reason), "{}", output.model_text());
    }
}

#[tokio::test]
async fn private_addresses_are_rejected_in_every_notation() {
    let base = server(PAGES).await;
    let port = base.rsplit_once(':').unwrap().1;
    let hosts = [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "2130706433",
        "0x7f.1",
        "169.254.169.254",
        "10.0.0.1",
    ];
    for host in hosts {
        let output = fetch(&FetchUrl::new(AddressRule::Public), &format!("http://{host}:{port}/html")).await;
        assert!(output.is_error, "{host}");
        let text = output.model_text();
        assert!(text.contains("not an address of the public internet"), "{text}");
    }
    for url in [
        "file:///etc/passwd",
        "ftp://x/",
        "http://",
        "gopher://x",
        "http://user:pw@example.com/",
        "not an address",
        "",
    ] {
        assert!(fetch(&FetchUrl::new(AddressRule::Any), url).await.is_error, "{url}");
    }
}

#[tokio::test]
async fn large_page_is_cut() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        hear(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        let piece = vec![b'x'; 1 << 16];
        // until the client closes the connection
        while stream.write_all(&piece).await.is_ok() {}
    });
    let output = fetch(&FetchUrl::new(AddressRule::Any), &format!("http://{address}/")).await;
    assert_eq!(output.client_text().len(), MAX_FETCH_CHARS);
    assert!(output.model_text().ends_with("[... the page is longer; the rest is not shown ...]"));
}

#[tokio::test]
async fn fetch_ends_on_timeout_and_on_cancellation() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let hasty = FetchUrl { timeout: Duration::from_millis(100), ..FetchUrl::new(AddressRule::Any) };
    assert!(fetch(&hasty, &url).await.model_text().contains("did not answer within 100ms"));
    let cancel = CancellationToken::new();
    cancel.cancel();
    let output =
        TestWorkspace::new().run_until(&FetchUrl::new(AddressRule::Any), json!({"url": url}), cancel).await;
    assert_eq!(output.client_text(), "Error: Tool execution cancelled by user");
}

/// A resolver of a network that knows only its own names.
#[derive(Debug)]
struct Inside;

impl Resolve for Inside {
    fn resolve(&self, host: &str) -> Resolving {
        let found = if host == "wiki.example" {
            Ok(vec![([10, 1, 2, 3], 0).into()])
        } else {
            Err(std::io::Error::other("unknown"))
        };
        Box::pin(std::future::ready(found))
    }
}

#[tokio::test]
async fn proxy_fetches_public_pages_and_is_not_asked_for_private_ones() {
    const PAGES: &[(&str, &str)] = &[
        ("http://docs.example/", "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npublic"),
        (
            "http://docs.example/moved",
            "HTTP/1.1 302 F\r\nlocation: http://wiki.example/\r\ncontent-length: 0\r\n\r\n",
        ),
        ("http://wiki.example/", "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nprivate"),
        ("http://10.1.2.3/", "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nprivate"),
    ];
    let proxy = server(PAGES).await;
    let proxies = Proxies::from_variables(|name| (name == "HTTP_PROXY").then(|| proxy.clone().into()));
    let client = Client::builder().addresses(AddressRule::Public).proxies(proxies).resolver(Inside);
    let tool = FetchUrl::with_client(client);
    assert_eq!(fetch(&tool, "http://docs.example/").await.client_text(), "public");
    for url in ["http://docs.example/moved", "http://wiki.example/", "http://10.1.2.3/", "http://intranet/"] {
        let output = fetch(&tool, url).await;
        let text = output.model_text();
        assert!(output.is_error && text.contains("of the public internet"), "{url}: {text}");
        assert!(!text.contains("private"), "{text}");
    }
}
