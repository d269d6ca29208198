//! Responses, and bodies that are read in chunks, with limits on size and silence.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, Uri};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout;

use crate::{Error, ErrorKind};

/// Maximum rest of a body that is read to reuse the connection, in bytes, and the timeout for it.
const MAX_REST: usize = 16 << 10;
const REST_TIMEOUT: Duration = Duration::from_millis(20);
/// Maximum part of an error's body that is read, in bytes, and the timeout for it.
const MAX_TEXT: usize = 64 << 10;
const TEXT_TIMEOUT: Duration = Duration::from_secs(10);

/// A response whose body has not been read yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The URL of the response; after redirects, the last one.
    pub url: Uri,
    /// The body.
    pub body: Body,
}

impl Response {
    /// Returns a header, if it exists and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Reads the beginning of the body as text for display: at most 64 KiB, for at most 10 seconds. Never fails.
    pub async fn text(&mut self) -> String {
        let mut bytes = Vec::new();
        let reading = async {
            while let Ok(Some(piece)) = self.body.next().await {
                bytes.extend_from_slice(&piece);
                if bytes.len() >= MAX_TEXT {
                    break;
                }
            }
        };
        // a slow body is shown as far as it has arrived
        timeout(TEXT_TIMEOUT, reading).await.ok();
        bytes.truncate(MAX_TEXT);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A body, read in chunks.
#[derive(Debug)]
pub struct Body {
    body: Incoming,
    silence: Option<Duration>,
}

impl Body {
    pub(crate) fn new(body: Incoming, silence: Option<Duration>) -> Self {
        Self { body, silence }
    }

    /// Returns the next chunk; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = match self.silence {
                None => self.body.frame().await,
                Some(limit) => timeout(limit, self.body.frame()).await.map_err(|elapsed| {
                    let message = format!("timed out after {limit:?} waiting for more of the response");
                    Error::because(ErrorKind::Timeout, message, elapsed)
                })?,
            };
            match frame {
                None => return Ok(None),
                Some(Err(error)) => {
                    let message = "the connection broke during the response";
                    return Err(Error::because(ErrorKind::Incomplete, message, error));
                }
                // trailers are skipped
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    /// Reads the whole body. Fails if it is larger than `max` bytes.
    pub async fn read(&mut self, max: usize) -> Result<Vec<u8>, Error> {
        let (bytes, is_cut) = self.read_prefix(max).await?;
        if is_cut {
            let message = format!("the response is larger than {max} bytes");
            return Err(Error::new(ErrorKind::TooLarge, message));
        }
        Ok(bytes)
    }

    /// Reads at most `max` bytes. Returns them, and whether the body is longer.
    pub async fn read_prefix(&mut self, max: usize) -> Result<(Vec<u8>, bool), Error> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.next().await? {
            let room = max - bytes.len();
            bytes.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.len() > room {
                return Ok((bytes, true));
            }
        }
        Ok((bytes, false))
    }

    /// Stops reading. Reads a short rest of the body, so that the connection can be reused.
    pub async fn finish(&mut self) {
        let rest = async {
            let mut left = MAX_REST;
            while let Some(Ok(frame)) = self.body.frame().await {
                let length = frame.data_ref().map_or(0, Bytes::len);
                let Some(still) = left.checked_sub(length) else { return };
                left = still;
            }
        };
        // beyond that, a new connection is cheaper
        timeout(REST_TIMEOUT, rest).await.ok();
    }
}
