//! Stdin and stdout without a thread, where they are pipes or sockets: no change of threads per line.
//!
//! Whether a stream blocks is a property that all processes share which have it open, so it must not be changed for good: a shell or a
//! terminal that has the other copy would break. A pipe is therefore opened anew, which gives an open file of our own; with a socket
//! each single call says that it must not wait.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::{RecvFlags, SendFlags, recv, send};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

use super::{Reader, Writer};

/// How much may be on the way to a slow reader.
const PIPE: usize = 256 * 1024;

/// Reads from `stream` if it is a pipe or a socket.
pub(super) fn reader(stream: impl AsFd) -> Option<Reader> {
    let direct = Direct::open(stream.as_fd().try_clone_to_owned().ok()?, Interest::READABLE).ok()??;
    Some(Box::new(direct))
}

/// Writes to `stream` if it is a pipe or a socket.
pub(super) fn writer(stream: impl AsFd) -> Option<Writer> {
    let direct = Direct::open(stream.as_fd().try_clone_to_owned().ok()?, Interest::WRITABLE).ok()??;
    Some(Box::new(direct))
}

/// One direction of a pipe or a socket.
#[derive(Debug)]
struct Direct {
    stream: AsyncFd<OwnedFd>,
    is_socket: bool,
}

impl Direct {
    fn open(stream: OwnedFd, interest: Interest) -> io::Result<Option<Self>> {
        let kind = std::fs::File::from(stream.try_clone()?).metadata()?.file_type();
        let stream = if kind.is_socket() {
            stream
        } else if kind.is_fifo() {
            // the copy of the descriptor lives until the file is open, so the name is the one of this pipe
            let name = format!("/proc/self/fd/{}", stream.as_raw_fd());
            let mut options = OpenOptions::new();
            options.read(interest.is_readable()).write(interest.is_writable());
            let pipe: OwnedFd =
                options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed()).open(name)?.into();
            if interest.is_writable() {
                // a wish: the reader is woken less often, and there is a limit on what all pipes of a user may hold
                rustix::pipe::fcntl_setpipe_size(&pipe, PIPE).ok();
            }
            pipe
        } else {
            return Ok(None);
        };
        // SAFETY: the descriptor is ours alone, stays open and the same until the `AsyncFd` drops it, and is never exchanged.
        #[expect(
            unsafe_code,
            reason = "there is no safe way to wait for a descriptor of a kind known only now"
        )]
        let stream = unsafe { AsyncFd::register_with_interest(stream, interest) }?;
        Ok(Some(Self { stream, is_socket: kind.is_socket() }))
    }

    fn read(&self, out: &mut [u8]) -> io::Result<usize> {
        let read = if self.is_socket {
            recv(&self.stream, out, RecvFlags::DONTWAIT).map(|(read, _)| read)
        } else {
            rustix::io::read(&self.stream, out)
        };
        Ok(read?)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let written = if self.is_socket {
            send(&self.stream, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
        } else {
            rustix::io::write(&self.stream, bytes)
        };
        Ok(written?)
    }
}

impl AsyncRead for Direct {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.stream.poll_read_ready(context))?;
            match ready.try_io(|_| self.read(out.initialize_unfilled())) {
                Ok(Ok(length)) => {
                    out.advance(length);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_would_block) => {}
            }
        }
    }
}

impl AsyncWrite for Direct {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.stream.poll_write_ready(context))?;
            match ready.try_io(|_| self.write(bytes)) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(result) => return Poll::Ready(result),
                Err(_would_block) => {}
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Stdout stays open as long as this process lives: others may write to it, too.
    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
