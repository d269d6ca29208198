//! The HTTP side of the console: its files, the login, and the check of the cookie before a WebSocket.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::Console;
use super::assets::{self, Asset, HASH};
use super::login::COOKIE_LIFETIME;
use crate::daemon::http::Head;

/// Maximum size of the body of a login.
const MAX_BODY: usize = 1024;
/// Only what the program itself serves may run or be shown, and nothing may frame it. No text becomes HTML (`trusted-types`).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
    connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types musher";
const TEXT: &str = "text/plain; charset=utf-8";

/// What a request below `/console` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A plain request, which [`answer`] answers.
    Plain,
    /// A WebSocket with a valid cookie.
    Socket,
    /// A WebSocket without one.
    Stranger,
}

/// Whether a request is for the console, and what it is.
pub(crate) fn kind(console: &Console, head: &Head) -> Option<Kind> {
    let path = head.path.as_str();
    if path != "/console" && !path.starts_with("/console/") {
        return None;
    }
    Some(match head.is_upgrade() {
        false => Kind::Plain,
        true if path == "/console/socket" && is_logged_in(console, head) => Kind::Socket,
        true => Kind::Stranger,
    })
}

/// Returns the name of the cookie: browsers send cookies of one port to all ports of a host.
fn cookie_name(head: &Head) -> String {
    let port = head.one("host").and_then(|host| host.rsplit_once(':')).map_or("", |(_, port)| port);
    let digits: String = port.chars().filter(char::is_ascii_digit).collect();
    format!("musher_console_{digits}")
}

fn is_logged_in(console: &Console, head: &Head) -> bool {
    let name = cookie_name(head);
    let cookies = head.all("cookie");
    let mut pairs =
        cookies.iter().flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.any(|(key, value)| key == name && console.knows(value))
}

/// Answers a plain request. `bytes`: what was read of it.
pub(crate) async fn answer<S: AsyncRead + AsyncWrite + Unpin>(
    console: &Console,
    head: &Head,
    bytes: Vec<u8>,
    stream: &mut S,
) -> io::Result<()> {
    match (head.method.as_str(), head.path.as_str()) {
        ("GET" | "HEAD", "/console") => {
            respond(stream, "308 Permanent Redirect", "Location: /console/\r\n", TEXT, b"").await
        }
        ("GET", "/console/status") => {
            let status = if is_logged_in(console, head) { "204 No Content" } else { "401 Unauthorized" };
            respond(stream, status, "Cache-Control: no-store\r\n", TEXT, b"").await
        }
        ("GET" | "HEAD", path) => match file(path) {
            Some((asset, caching)) => {
                let is_known = head.all("if-none-match").contains(&etag().as_str());
                if is_known && caching == Caching::Revalidated {
                    let extra = format!("ETag: {}\r\n", etag());
                    return respond(stream, "304 Not Modified", &extra, asset.kind(), b"").await;
                }
                let extra =
                    format!("Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n{}", caching.headers());
                let body = if head.method == "GET" { asset.gzip } else { b"" };
                respond(stream, "200 OK", &extra, asset.kind(), body).await
            }
            None => respond(stream, "404 Not Found", "", TEXT, b"not found\n").await,
        },
        ("POST", "/console/login") => log_in(console, head, bytes, stream).await,
        ("POST", "/console/logout") => {
            let cookie = set_cookie(head, "", 0);
            respond(stream, "204 No Content", &cookie, TEXT, b"").await
        }
        _ => respond(stream, "405 Method Not Allowed", "", TEXT, b"method not allowed\n").await,
    }
}

/// How long a browser may keep a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Caching {
    /// Its URL has its hash.
    Forever,
    /// It asks whether the file is still the same.
    Revalidated,
}

impl Caching {
    fn headers(self) -> String {
        match self {
            Self::Forever => "Cache-Control: public, max-age=31536000, immutable\r\n".to_owned(),
            Self::Revalidated => format!("Cache-Control: no-cache\r\nETag: {}\r\n", etag()),
        }
    }
}

fn etag() -> String {
    format!("\"{HASH}\"")
}

fn file(path: &str) -> Option<(&'static Asset, Caching)> {
    let name = path.strip_prefix("/console/")?;
    if let Some(hashed) = name.strip_prefix("a/") {
        let name = hashed.strip_prefix(HASH)?.strip_prefix('/')?;
        return Some((assets::find(name)?, Caching::Forever));
    }
    let name = match name {
        "" => "index.html",
        "sw.js" | "manifest.webmanifest" | "icon.svg" => name,
        _ => return None,
    };
    Some((assets::find(name)?, Caching::Revalidated))
}

/// Takes a ticket for a cookie.
async fn log_in<S: AsyncRead + AsyncWrite + Unpin>(
    console: &Console,
    head: &Head,
    bytes: Vec<u8>,
    stream: &mut S,
) -> io::Result<()> {
    // a form of another site cannot set this type, and a request with it needs our origin
    let is_text = head.one("content-type").is_some_and(|kind| kind == "application/musher-ticket");
    let length = head.one("content-length").and_then(|length| length.parse::<usize>().ok());
    let Some(length) = length.filter(|length| is_text && *length <= MAX_BODY) else {
        return respond(stream, "400 Bad Request", "", TEXT, b"send a ticket\n").await;
    };
    let start = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    let mut body = bytes[start..].to_vec();
    if body.len() < length {
        let have = body.len();
        body.resize(length, 0);
        stream.read_exact(&mut body[have..]).await?;
    }
    let cookie = std::str::from_utf8(&body[..length]).ok().and_then(|ticket| console.redeem(ticket));
    match cookie {
        Some(cookie) => {
            let cookie = set_cookie(head, &cookie, COOKIE_LIFETIME);
            respond(stream, "204 No Content", &cookie, TEXT, b"").await
        }
        None => respond(stream, "403 Forbidden", "", TEXT, b"the link is not valid any more\n").await,
    }
}

fn set_cookie(head: &Head, value: &str, seconds: u64) -> String {
    // behind a proxy with TLS the page has an https origin
    let is_secure = head.one("origin").is_some_and(|origin| origin.starts_with("https://"));
    let secure = if is_secure { "; Secure" } else { "" };
    let name = cookie_name(head);
    format!(
        "Set-Cookie: {name}={value}; Path=/console/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}\r\n"
    )
}

async fn respond<S: AsyncWrite + Unpin>(
    stream: &mut S,
    status: &str,
    extra: &str,
    kind: &str,
    body: &[u8],
) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n{extra}\
         Content-Security-Policy: {POLICY}\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n\
         Referrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::Token;
    use crate::daemon::http::parse;

    async fn ask(console: &Console, request: &str) -> String {
        let head = parse(request.as_bytes()).unwrap().unwrap();
        let (mut ours, mut theirs) = tokio::io::duplex(1024 * 1024);
        answer(console, &head, request.as_bytes().to_vec(), &mut ours).await.unwrap();
        drop(ours);
        let mut text = Vec::new();
        theirs.read_to_end(&mut text).await.unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }

    fn login(ticket: &str) -> String {
        format!(
            "POST /console/login HTTP/1.1\r\nHost: 127.0.0.1:81\r\nContent-Type: application/musher-ticket\r\n\
             Content-Length: {}\r\n\r\n{ticket}",
            ticket.len()
        )
    }

    #[tokio::test]
    async fn ticket_gives_a_cookie_once_and_the_cookie_opens_the_socket() {
        let console = Console::new(&Token::random());
        let ticket = console.ticket();
        let answer = ask(&console, &login(&ticket)).await;
        assert!(answer.starts_with("HTTP/1.1 204 "), "{answer}");
        let cookie = answer.split("Set-Cookie: ").nth(1).unwrap();
        assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
        let pair = cookie.split(';').next().unwrap();
        assert!(ask(&console, &login(&ticket)).await.starts_with("HTTP/1.1 403 "));

        let upgrade = |cookie: &str, host: &str| {
            let text = format!(
                "GET /console/socket HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nCookie: a=b; {cookie}\r\n\r\n"
            );
            kind(&console, &parse(text.as_bytes()).unwrap().unwrap()).unwrap()
        };
        assert_eq!(upgrade(pair, "127.0.0.1:81"), Kind::Socket);
        assert_eq!(upgrade(pair, "127.0.0.1:82"), Kind::Stranger);
        assert_eq!(upgrade("musher_console_81=1.2.3", "127.0.0.1:81"), Kind::Stranger);
    }

    #[tokio::test]
    async fn body_without_a_ticket_is_refused() {
        let console = Console::new(&Token::random());
        let ticket = console.ticket();
        let wrong = login(&ticket).replace("application/musher-ticket", "text/plain");
        assert!(ask(&console, &wrong).await.starts_with("HTTP/1.1 400 "));
        assert!(ask(&console, &login(&"x".repeat(2000))).await.starts_with("HTTP/1.1 400 "));
        assert!(ask(&console, &login(&ticket)).await.starts_with("HTTP/1.1 204 "));
    }

    #[tokio::test]
    async fn files_are_cached_by_hash_and_the_page_is_not() {
        let console = Console::new(&Token::random());
        let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n");
        let page = ask(&console, &get("/console/")).await;
        assert!(page.contains("Cache-Control: no-cache") && page.contains("script-src 'self';"), "{page}");
        let script = ask(&console, &get(&format!("/console/a/{HASH}/main.js"))).await;
        assert!(script.contains("immutable") && script.contains("Content-Encoding: gzip"), "{script}");
        for path in
            ["/console/a/0123456789abcdef/main.js", "/console/main.js", "/console/a/../login", "/console/x"]
        {
            assert!(ask(&console, &get(path)).await.starts_with("HTTP/1.1 404 "), "{path}");
        }
        let again = format!("GET /console/ HTTP/1.1\r\nHost: x\r\nIf-None-Match: \"{HASH}\"\r\n\r\n");
        assert!(ask(&console, &again).await.starts_with("HTTP/1.1 304 "));
        assert!(kind(&console, &parse(get("/health").as_bytes()).unwrap().unwrap()).is_none());
    }
}
