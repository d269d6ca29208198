//! A minimal HTTP/1.1 client that shows exactly what was received, also after a cut.

use std::net::SocketAddr;
use std::time::Duration;

use musher_rehearse::Server;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Generous: it only ends tests that would never end.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A received answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// How the connection ended: normally after a complete body, or not.
    pub(crate) ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Complete,
    Closed,
    Reset,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// Returns the data of all server-sent events.
    pub(crate) fn data(&self) -> Vec<&str> {
        self.body.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
    }
}

pub(crate) async fn post(server: &Server, path: &str, body: &Value) -> Answer {
    exchange(server.address(), &request("POST", path, &body.to_string())).await
}

pub(crate) async fn get(server: &Server, path: &str) -> Answer {
    exchange(server.address(), &request("GET", path, "")).await
}

pub(crate) fn request(method: &str, path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer secret\r\nx-api-key: secret\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

pub(crate) async fn exchange(address: SocketAddr, request: &str) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = Vec::new();
    let mut is_reset = false;
    let reading = async {
        let mut buffer = [0; 4096];
        loop {
            match stream.read(&mut buffer).await {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
                Err(_reset) => {
                    is_reset = true;
                    break;
                }
            }
        }
    };
    tokio::time::timeout(DEADLINE, reading).await.expect("the server answers within the deadline");
    understand(&String::from_utf8(bytes).unwrap(), is_reset)
}

fn understand(text: &str, is_reset: bool) -> Answer {
    let (head, rest) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let status = head.split(' ').nth(1).map_or(0, |status| status.parse().unwrap());
    let is_chunked = head.contains("transfer-encoding: chunked");
    let (body, is_complete) =
        if is_chunked { unchunked(rest) } else { (rest.to_owned(), is_full(head, rest)) };
    let ending = match (is_reset, is_complete) {
        (true, _) => Ending::Reset,
        (false, true) => Ending::Complete,
        (false, false) => Ending::Closed,
    };
    Answer { status, head: head.to_owned(), body, ending }
}

fn is_full(head: &str, body: &str) -> bool {
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    length.is_some_and(|length| length.parse() == Ok(body.len()))
}

fn unchunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    (body, false)
}
