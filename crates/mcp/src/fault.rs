//! The limit of what a server may send in one message, and what happens to a connection that exceeds it.
//!
//! rmcp skips a line that is too long, and reconnects after an event that is too large, until the timeout of the call. Here the
//! connection fails at once, with a reason that names the limit. Nothing is buffered beyond the limit.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::CancellationToken;

/// The maximum size of a message: of a line, of a response, and of one event of a stream.
pub(super) const MAX_MESSAGE: usize = 16 << 20;

/// Says that a message is larger than the limit.
pub(super) fn too_large() -> String {
    format!(
        "the server sent a message of more than {} MiB, which is the maximum; ask for a smaller part",
        MAX_MESSAGE >> 20
    )
}

/// Why a connection cannot be used any more, once that is known. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct Fault(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    why: OnceLock<String>,
    is_known: CancellationToken,
}

impl Fault {
    /// Sets the reason, unless there is one.
    pub(super) fn set(&self, why: String) {
        self.0.why.set(why).ok();
        self.0.is_known.cancel();
    }

    pub(super) fn get(&self) -> Option<&str> {
        self.0.why.get().map(String::as_str)
    }

    /// Waits for the reason, which may never come.
    pub(super) async fn reached(&self) -> String {
        self.0.is_known.cancelled().await;
        self.get().unwrap_or_default().to_owned()
    }
}

/// The output of a program, which ends with an error at a line that is too long.
#[derive(Debug)]
pub(super) struct LimitedLines<R> {
    inner: R,
    /// The length of the line that is being read.
    line: usize,
    fault: Fault,
}

impl<R> LimitedLines<R> {
    pub(super) fn new(inner: R, fault: Fault) -> Self {
        Self { inner, line: 0, fault }
    }

    /// Counts the bytes of the line. Returns whether it is short enough.
    fn count(&mut self, bytes: &[u8]) -> bool {
        let mut pieces = bytes.split(|byte| *byte == b'\n');
        let first = pieces.next().map_or(0, <[u8]>::len);
        let is_short = self.line.saturating_add(first) <= MAX_MESSAGE;
        self.line = match pieces.next_back() {
            Some(last) => last.len(),
            None => self.line.saturating_add(first),
        };
        is_short
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LimitedLines<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(context, buffer))?;
        let is_short = self.count(&buffer.filled()[before..]);
        if !is_short {
            self.fault.set(too_large());
            // an error comes without data
            buffer.set_filled(before);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::FileTooLarge, too_large())));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn read(text: impl AsRef<[u8]>) -> (io::Result<usize>, Fault) {
        let fault = Fault::default();
        let mut lines = LimitedLines::new(text.as_ref(), fault.clone());
        let read = lines.read_to_end(&mut Vec::new()).await;
        (read, fault)
    }

    #[tokio::test]
    async fn lines_up_to_the_limit_are_read_in_any_number() {
        let line = [vec![b'x'; MAX_MESSAGE], b"\n".to_vec()].concat();
        let (read, fault) = read(line.repeat(2)).await;
        assert_eq!((read.unwrap(), fault.get()), (2 * line.len(), None));
    }

    #[tokio::test]
    async fn longer_line_is_an_error_that_names_the_limit() {
        let (read, fault) = read([b"{}\n".to_vec(), vec![b'x'; MAX_MESSAGE + 1]].concat()).await;
        assert_eq!(read.unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert!(fault.reached().await.contains("more than 16 MiB"));
    }
}
