//! The connection of this process with whoever started it: frames on stdin and stdout.
//!
//! The only place that touches stdout. Both streams are served by threads of their own, because a read of stdin cannot be
//! taken back and a write to a stuck stdout does not end: on the runtime's own blocking threads either would keep it from
//! shutting down.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::mpsc as std_mpsc;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{mpsc, oneshot};

use crate::{Connection, Limits, LineConnection, lines_over, over};

/// How much is read at a time.
const CHUNK: usize = 64 * 1024;

/// Connects with stdin and stdout. Once per process, and needs a runtime.
///
/// Before the process ends, `outgoing.finish(…)` waits until everything was written.
///
/// # Errors
/// If no thread can be started.
pub fn stdio(limits: Limits) -> io::Result<Connection> {
    let (reader, writer) = threads()?;
    Ok(over(reader, writer, limits))
}

/// [`stdio`] for another dialect: the lines as they are.
///
/// # Errors
/// If no thread can be started.
pub fn stdio_lines(limits: Limits) -> io::Result<LineConnection> {
    let (reader, writer) = threads()?;
    Ok(lines_over(reader, writer, limits))
}

fn threads() -> io::Result<(ThreadReader, ThreadWriter)> {
    #[expect(clippy::disallowed_methods, reason = "this is the place where stdout is the protocol")]
    let stdout = io::stdout();
    Ok((ThreadReader::start(io::stdin())?, ThreadWriter::start(stdout)?))
}

/// A blocking reader, read on its own thread.
#[derive(Debug)]
struct ThreadReader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    read: usize,
}

impl ThreadReader {
    fn start(mut reader: impl Read + Send + 'static) -> io::Result<Self> {
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
struct ThreadWriter {
    pieces: std_mpsc::SyncSender<Piece>,
    written: Option<oneshot::Receiver<io::Result<()>>>,
}

type Piece = (Vec<u8>, oneshot::Sender<io::Result<()>>);

impl ThreadWriter {
    fn start(mut writer: impl Write + Send + 'static) -> io::Result<Self> {
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
