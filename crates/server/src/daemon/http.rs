//! The HTTP side of a connection: reads the head of one request, answers plain ones, and passes upgrades on with the bytes read so far.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};

/// Maximum size of the head of a request.
const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
/// What a client may send before it has authenticated.
const MAX_BEFORE_LOGIN: usize = 64 * 1024;

/// The head of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) method: String,
    /// The path without the query.
    pub(crate) path: String,
    headers: Vec<(String, String)>,
}

impl Head {
    /// Returns all values of a header.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(header, _)| header.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }

    /// Returns a header, if it is there exactly once.
    pub(crate) fn one(&self, name: &str) -> Option<&str> {
        match self.all(name).as_slice() {
            [value] => Some(value),
            _ => None,
        }
    }

    pub(crate) fn is_upgrade(&self) -> bool {
        self.one("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"))
    }
}

/// Why there is no head.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoHead {
    /// The client closed the connection, or it broke.
    Gone,
    /// The bytes are not a request, or too many.
    Invalid,
}

/// Reads the head of a request. Returns it with all bytes that were read.
pub(crate) async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> Result<(Head, Vec<u8>), NoHead> {
    let mut bytes = Vec::with_capacity(1024);
    loop {
        if let Some(head) = parse(&bytes)? {
            return Ok((head, bytes));
        }
        if bytes.len() >= MAX_HEAD {
            return Err(NoHead::Invalid);
        }
        match stream.read_buf(&mut bytes).await {
            Ok(0) | Err(_) => return Err(NoHead::Gone),
            Ok(_) => {}
        }
    }
}

/// Parses the head of a request; `None` if it is incomplete.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Head>, NoHead> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(httparse::Status::Partial) => Ok(None),
        Err(_) => Err(NoHead::Invalid),
        Ok(httparse::Status::Complete(_)) => {
            let path = request.path.unwrap_or("/");
            let headers = request.headers.iter().map(|header| {
                (header.name.to_owned(), String::from_utf8_lossy(header.value).trim().to_owned())
            });
            Ok(Some(Head {
                method: request.method.unwrap_or_default().to_owned(),
                path: path.split('?').next().unwrap_or_default().to_owned(),
                headers: headers.collect(),
            }))
        }
    }
}

/// Answers a request and ends the connection.
pub(crate) async fn respond<S: AsyncWrite + Unpin>(
    stream: &mut S,
    status: &str,
    kind: &str,
    body: &str,
) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\
         X-Content-Type-Options: nosniff\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body.as_bytes()).await?;
    stream.shutdown().await
}

/// A stream with the bytes that were read from it already. Limits what comes before the login.
#[derive(Debug)]
pub(crate) struct Replayed<S> {
    stream: S,
    bytes: Vec<u8>,
    position: usize,
    received: usize,
    admitted: Arc<AtomicBool>,
}

impl<S> Replayed<S> {
    pub(crate) fn new(stream: S, bytes: Vec<u8>, admitted: Arc<AtomicBool>) -> Self {
        Self { stream, bytes, position: 0, received: 0, admitted }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Replayed<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.position < this.bytes.len() {
            let rest = &this.bytes[this.position..];
            let taken = rest.len().min(buffer.remaining());
            buffer.put_slice(&rest[..taken]);
            this.position += taken;
            if this.position == this.bytes.len() {
                this.bytes = Vec::new();
                this.position = 0;
            }
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.stream).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = &polled
            && !this.admitted.load(Ordering::Relaxed)
        {
            this.received += buffer.filled().len() - before;
            if this.received > MAX_BEFORE_LOGIN {
                return Poll::Ready(Err(io::Error::other("too much input before the login")));
            }
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Replayed<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_read_with_all_values_of_a_header() {
        let text =
            "GET /a/b?c=d HTTP/1.1\r\nHost: x\r\nUpgrade: WebSocket\r\nOrigin: a\r\norigin: b\r\n\r\nrest";
        let head = parse(text.as_bytes()).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.path.as_str(), head.is_upgrade()), ("GET", "/a/b", true));
        assert_eq!((head.one("host"), head.one("origin")), (Some("x"), None));
        assert_eq!(head.all("ORIGIN"), ["a", "b"]);
        assert_eq!(parse(&text.as_bytes()[..20]), Ok(None));
        assert_eq!(parse(b"\0\0\0\0"), Err(NoHead::Invalid));
    }

    #[tokio::test]
    async fn endless_head_is_refused() {
        let mut endless = tokio::io::repeat(b'a');
        assert_eq!(read_head(&mut endless).await.unwrap_err(), NoHead::Invalid);
        let mut ended = &b"GET / HTTP/1.1\r\n"[..];
        assert_eq!(read_head(&mut ended).await.unwrap_err(), NoHead::Gone);
    }

    #[tokio::test]
    async fn input_before_the_login_is_limited() {
        let admitted = Arc::new(AtomicBool::new(false));
        let mut stream = Replayed::new(tokio::io::repeat(0), b"first".to_vec(), Arc::clone(&admitted));
        let mut first = [0; 5];
        stream.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"first");
        let mut much = vec![0; MAX_BEFORE_LOGIN];
        stream.read_exact(&mut much).await.unwrap();
        assert!(stream.read_exact(&mut first).await.is_err());
        admitted.store(true, Ordering::Relaxed);
        stream.read_exact(&mut much).await.unwrap();
    }
}
