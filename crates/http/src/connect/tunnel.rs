//! A tunnel through a proxy: `CONNECT`, and the proxy's response.

use http::StatusCode;
use memchr::memmem;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::proxy::Proxy;
use crate::{Error, ErrorKind};

/// Maximum size of the head of a response, in bytes.
const MAX_HEAD: usize = 16 << 10;
const END: &[u8] = b"\r\n\r\n";

/// Requests a tunnel to a host and port. Afterwards, the stream is connected to the host.
pub(super) async fn open<S>(stream: &mut S, proxy: &Proxy, target: &str) -> Result<(), Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let broken = |error: std::io::Error| {
        let message = format!("cannot connect to {target}: the connection to {proxy} broke");
        Error::because(ErrorKind::Connect, message, error)
    };
    stream.write_all(&request(proxy, target)).await.map_err(broken)?;
    stream.flush().await.map_err(broken)?;
    let mut head = Vec::new();
    let end = loop {
        if let Some(end) = memmem::find(&head, END) {
            break end + END.len();
        }
        if head.len() > MAX_HEAD {
            let message = format!("the response of {proxy} is larger than {MAX_HEAD} bytes");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        if stream.read_buf(&mut head).await.map_err(broken)? == 0 {
            let message = format!("cannot connect to {target}: {proxy} closed the connection");
            return Err(Error::new(ErrorKind::Connect, message));
        }
    };
    let Some(status) = status(&head) else {
        let message = format!("cannot connect to {target}: {proxy} did not respond with HTTP");
        return Err(Error::new(ErrorKind::Connect, message));
    };
    // tinyproxy returns 401 if the password is wrong
    if matches!(status, StatusCode::PROXY_AUTHENTICATION_REQUIRED | StatusCode::UNAUTHORIZED) {
        return Err(proxy.authentication_error());
    }
    if !status.is_success() {
        // a failure behind the proxy may be temporary, a refusal of the proxy is not
        let kind = if status.is_server_error() { ErrorKind::Connect } else { ErrorKind::ProxyRefused };
        return Err(Error::new(kind, format!("cannot connect to {target}: {proxy} returned {status}")));
    }
    if head.len() > end {
        // the host waits for the TLS handshake, so these bytes are from the proxy
        let message = format!("cannot connect to {target}: {proxy} sent data before the tunnel was used");
        return Err(Error::new(ErrorKind::Connect, message));
    }
    Ok(())
}

fn request(proxy: &Proxy, target: &str) -> Vec<u8> {
    let mut request = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n").into_bytes();
    if let Some(authorization) = &proxy.authorization {
        request.extend_from_slice(b"proxy-authorization: ");
        request.extend_from_slice(authorization.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    request
}

/// Returns the status in the first line of a response.
fn status(head: &[u8]) -> Option<StatusCode> {
    let rest = head.strip_prefix(b"HTTP/1.1 ").or_else(|| head.strip_prefix(b"HTTP/1.0 "))?;
    let (digits, rest) = rest.split_at_checked(3)?;
    let ends = rest.first().is_some_and(|byte| matches!(byte, b' ' | b'\r'));
    StatusCode::from_bytes(digits).ok().filter(|_| ends)
}
