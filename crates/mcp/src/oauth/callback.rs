//! The address on loopback that the browser returns to after a login.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::login::LoginInput;

/// The path of the address.
const PATH: &str = "/callback";
/// The maximum size of the head of a request.
const MAX_HEAD: usize = 16 << 10;
/// The maximum time for one request. Browsers open connections they may not use.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// The maximum number of connections at a time.
const MAX_CONNECTIONS: usize = 16;

/// A listener on loopback.
pub(super) struct Callback {
    listener: TcpListener,
    redirect: String,
}

impl Callback {
    /// Listens on this port, or on a free one.
    pub(super) async fn listen(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let redirect = format!("http://{}{PATH}", listener.local_addr()?);
        Ok(Self { listener, redirect })
    }

    /// Listens on the port of an earlier login if it is free, which spares another registration.
    pub(super) async fn listen_again(redirect: &str) -> Option<Self> {
        let port = redirect.strip_prefix("http://127.0.0.1:")?.strip_suffix(PATH)?.parse().ok()?;
        Self::listen(port).await.ok()
    }

    /// Returns the URL of the listener.
    pub(super) fn redirect(&self) -> &str {
        &self.redirect
    }

    /// Waits until a browser returns with this state. Other requests are refused.
    pub(super) async fn answer(&self, state: &str) -> LoginInput {
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = self.listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                    match accepted {
                        Ok((stream, _from)) => {
                            let state = state.to_owned();
                            connections.spawn(async move { timeout(REQUEST_TIMEOUT, serve(stream, &state)).await });
                        }
                        // too many open files, for example: the user can paste the code
                        Err(error) => {
                            tracing::warn!(%error, "cannot accept the answer to a login");
                            tokio::time::sleep(Duration::from_millis(100)).await;
                        }
                    }
                }
                Some(served) = connections.join_next() => {
                    if let Ok(Ok(Ok(Some(input)))) = served {
                        return input;
                    }
                }
            }
        }
    }
}

/// Answers one request. Returns the answer to the login, if it is that.
async fn serve(mut stream: TcpStream, state: &str) -> io::Result<Option<LoginInput>> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer).await?;
        if count == 0 || head.len() + count > MAX_HEAD {
            return Ok(None);
        }
        head.extend_from_slice(&buffer[..count]);
    }
    let input = parse(&String::from_utf8_lossy(&head), state);
    let (status, text) = match &input {
        Some(LoginInput::Code { .. }) => ("200 OK", "Login complete. You can close this page."),
        Some(LoginInput::Error { .. }) => ("200 OK", "The login was refused. You can close this page."),
        None => ("404 Not Found", "This is not the answer to a login that musher waits for."),
    };
    let page = format!("<!doctype html><meta charset=utf-8><title>musher</title><p>{text}");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
         referrer-policy: no-referrer\r\nconnection: close\r\n\r\n{page}",
        page.len()
    );
    // the login counts even if the browser is gone
    if stream.write_all(answer.as_bytes()).await.is_ok() {
        stream.shutdown().await.ok();
    }
    Ok(input)
}

/// Reads the answer to a login from the head of a request.
fn parse(head: &str, state: &str) -> Option<LoginInput> {
    let target = head.strip_prefix("GET ")?.split_whitespace().next()?;
    let (path, query) = target.split_once('?')?;
    (path == PATH).then(|| LoginInput::of_query(query, None)).flatten().filter(|input| input.state() == state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_expected_state_is_an_answer() {
        let get = |target: &str| parse(&format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"), "s1");
        let code = LoginInput::Code { code: "a b".to_owned(), state: "s1".to_owned(), issuer: None };
        assert_eq!(get("/callback?code=a+b&state=s1"), Some(code));
        assert!(matches!(get("/callback?state=s1&error=access_denied"), Some(LoginInput::Error { .. })));
        for other in [
            "/callback?code=a&state=s2",
            "/callback?code=a",
            "/callback",
            "/x?code=a&state=s1",
            "/callback?state=s1",
        ] {
            assert_eq!(get(other), None, "{other}");
        }
        assert_eq!(parse("POST /callback?code=a&state=s1 HTTP/1.1\r\n\r\n", "s1"), None);
    }

    #[test]
    fn browser_that_only_connects_does_not_delay_the_one_that_answers() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let callback = Callback::listen(0).await.unwrap();
            let address = callback.listener.local_addr().unwrap();
            let _idle = TcpStream::connect(address).await.unwrap();
            let browser = async {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"GET /callback?code=c&state=s HTTP/1.1\r\n\r\n").await.unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).await.unwrap();
                answer
            };
            let (input, answer) = tokio::join!(callback.answer("s"), browser);
            assert!(matches!(input, LoginInput::Code { .. }));
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
            assert!(Callback::listen_again(callback.redirect()).await.is_none(), "the port is in use");
        });
    }
}
