//! A connection over any pair of byte streams: one message per line.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};

use crate::lines::LineSplitter;
use crate::message::{Message, RawLine};
use crate::pump::{self, Sink, Source};
use crate::{Closed, Connection, Limits, LineConnection};

/// How many bytes are read at once.
const READ_CHUNK: usize = 32 * 1024;
/// How many bytes are written at once.
const WRITE_CHUNK: usize = 64 * 1024;

/// Creates a connection over two byte streams. Needs a runtime, which runs its two tasks.
///
/// ```
/// use musher_rpc::{Limits, over};
/// use musher_wire::Frame;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Closed> {
/// let input: &[u8] = b"{\"type\":\"notification\",\"method\":\"hello\"}\nrubbish\n";
/// let mut connection = over(input, tokio::io::sink(), Limits::default());
/// assert!(matches!(connection.incoming.recv().await?, Frame::Notification(_)));
/// assert!(matches!(connection.incoming.recv().await?, Frame::Malformed(_)));
/// assert_eq!(connection.incoming.recv().await.unwrap_err().to_string(), "the peer closed the connection");
/// # Ok(()) }
/// ```
pub fn over<R, W>(reader: R, writer: W, limits: Limits) -> Connection
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    pump::start(LineSource::new(reader, limits.line), LineSink::new(writer), limits)
}

/// [`over`] for a peer that speaks another protocol: passes the lines as they are.
pub fn lines_over<R, W>(reader: R, writer: W, limits: Limits) -> LineConnection
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    pump::start::<RawLine>(LineSource::new(reader, limits.line), LineSink::new(writer), limits)
}

/// Reads once and passes the bytes to `take`: none of them at the end of the stream.
///
/// The buffer is on the stack, so that an idle connection has none.
pub(crate) async fn read_chunk<T>(
    reader: &mut (impl AsyncRead + Unpin),
    mut take: impl FnMut(&[u8]) -> T,
) -> io::Result<T> {
    poll_fn(|context| {
        #[expect(
            clippy::large_stack_arrays,
            reason = "with half of it, a flood of small messages costs a quarter more CPU"
        )]
        let mut chunk = [MaybeUninit::uninit(); READ_CHUNK];
        let mut buffer = ReadBuf::uninit(&mut chunk);
        Pin::new(&mut *reader).poll_read(context, &mut buffer).map_ok(|()| take(buffer.filled()))
    })
    .await
}

/// Reads lines as messages.
#[derive(Debug)]
pub(crate) struct LineSource<R, M> {
    message: PhantomData<fn() -> M>,
    reader: R,
    splitter: LineSplitter,
}

impl<R, M> LineSource<R, M> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { message: PhantomData, reader, splitter: LineSplitter::new(limit) }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static, M: Message> Source for LineSource<R, M> {
    type Message = M;

    async fn fill(&mut self, messages: &mut VecDeque<M>) -> Result<(), Closed> {
        let Self { reader, splitter, .. } = self;
        let limit = splitter.limit();
        let mut add = |line: crate::Line<'_>| messages.push_back(M::from_line(line, limit));
        let read = read_chunk(reader, |bytes| {
            splitter.push(bytes, &mut add);
            bytes.len()
        });
        let end = match read.await {
            Ok(0) => Closed::Ended,
            Ok(_) => return Ok(()),
            Err(error) => error.into(),
        };
        splitter.finish(add);
        Err(end)
    }
}

/// Writes messages as lines.
#[derive(Debug)]
pub(crate) struct LineSink<W, M> {
    message: PhantomData<fn(M)>,
    pub(crate) writer: W,
    buffer: Vec<u8>,
}

impl<W, M> LineSink<W, M> {
    pub(crate) fn new(writer: W) -> Self {
        Self { message: PhantomData, writer, buffer: Vec::new() }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static, M> LineSink<W, M> {
    async fn write_out(&mut self) -> Result<(), Closed> {
        self.writer.write_all(&self.buffer).await?;
        self.buffer.clear();
        // the buffer is usually a little larger than a chunk, which is not worth a reallocation
        if self.buffer.capacity() > 2 * WRITE_CHUNK {
            self.buffer.shrink_to(WRITE_CHUNK);
        }
        Ok(())
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static, M: Message> Sink for LineSink<W, M> {
    type Message = M;

    async fn write(&mut self, message: M) -> Result<(), Closed> {
        message.print_to(&mut self.buffer);
        self.buffer.push(b'\n');
        if self.buffer.len() >= WRITE_CHUNK { self.write_out().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), Closed> {
        self.write_out().await?;
        Ok(self.writer.flush().await?)
    }

    async fn close(mut self) -> Result<(), Closed> {
        Ok(self.writer.shutdown().await?)
    }
}
