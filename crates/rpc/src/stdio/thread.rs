//! Streams that can only be read and written by waiting, such as files and terminals, each on a thread of its own.
//!
//! Not on the runtime's own blocking threads: a read of stdin cannot be taken back and a write to a stuck stdout does not end, so
//! either would keep the runtime from shutting down.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::mpsc as std_mpsc;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{mpsc, oneshot};

/// How much is read at a time.
const CHUNK: usize = 64 * 1024;

/// A blocking reader, read on its own thread.
#[derive(Debug)]
pub(super) struct ThreadReader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    read: usize,
}

impl ThreadReader {
    pub(super) fn start(mut reader: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(2);
        thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            let mut buffer = vec![0; CHUNK];
            loop {
                let chunk = match reader.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(length) => Ok(buffer[..length].to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let is_over = chunk.is_err();
                if sender.blocking_send(chunk).is_err() || is_over {
                    return;
                }
            }
        })?;
        Ok(Self { chunks, chunk: Vec::new(), read: 0 })
    }
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.read == self.chunk.len() {
            match ready!(self.chunks.poll_recv(context)) {
                Some(chunk) => self.chunk = chunk?,
                None => return Poll::Ready(Ok(())),
            }
            self.read = 0;
        }
        let rest = &self.chunk[self.read..];
        let length = rest.len().min(out.remaining());
        out.put_slice(&rest[..length]);
        self.read += length;
        Poll::Ready(Ok(()))
    }
}

/// A blocking writer, written on its own thread, one piece at a time.
#[derive(Debug)]
pub(super) struct ThreadWriter {
    pieces: std_mpsc::SyncSender<Piece>,
    written: Option<oneshot::Receiver<io::Result<()>>>,
}

type Piece = (Vec<u8>, oneshot::Sender<io::Result<()>>);

impl ThreadWriter {
    pub(super) fn start(mut writer: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, pieces) = std_mpsc::sync_channel::<Piece>(1);
        thread::Builder::new().name("stdout".to_owned()).spawn(move || {
            for (piece, done) in pieces {
                // if nobody waits for the answer, nobody will write again
                done.send(writer.write_all(&piece).and_then(|()| writer.flush())).ok();
            }
        })?;
        Ok(Self { pieces: sender, written: None })
    }

    /// Waits until the last piece is written.
    fn poll_written(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(written) = &mut self.written else { return Poll::Ready(Ok(())) };
        let result = ready!(Pin::new(written).poll(context)).unwrap_or_else(|_gone| Err(thread_gone()));
        self.written = None;
        Poll::Ready(result)
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_written(context))?;
        let (done, written) = oneshot::channel();
        // never blocks: the one before has been written
        self.pieces.send((bytes.to_vec(), done)).map_err(|_gone| thread_gone())?;
        self.written = Some(written);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_written(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_written(context)
    }
}

fn thread_gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the thread that writes is gone")
}
