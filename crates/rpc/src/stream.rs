//! A connection over any pair of byte streams: one message per line.

use std::future::poll_fn;
use std::marker::PhantomData;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

use crate::lines::LineSplitter;
use crate::message::{Message, RawLine};
use crate::pump::{self, Sink, Source};
use crate::{Batch, Closed, Connection, Limits, LineConnection, scratch};

/// How much is written at a time.
const CHUNK: usize = 64 * 1024;

/// A connection over two byte streams. Needs a runtime, in which its two tasks live.
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

/// [`over`] for a peer that speaks another dialect: the lines as they are.
pub fn lines_over<R, W>(reader: R, writer: W, limits: Limits) -> LineConnection
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    pump::start::<RawLine>(LineSource::new(reader, limits.line), LineSink::new(writer), limits)
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

    async fn fill(&mut self, messages: &mut Batch<M>) -> Result<(), Closed> {
        let Self { reader, splitter, .. } = self;
        let limit = splitter.limit();
        let mut add = |line: crate::Line<'_>| messages.push(M::from_line(line, limit));
        let read = poll_fn(|context| {
            scratch::poll_read(reader, context, |bytes| {
                splitter.push(bytes, &mut add);
                !bytes.is_empty()
            })
        });
        let end = match read.await {
            Ok(true) => return Ok(()),
            Ok(false) => Closed::Ended,
            Err(error) => pump::broken(error),
        };
        splitter.finish(add);
        Err(end)
    }
}

/// Writes messages as lines.
#[derive(Debug)]
pub(crate) struct LineSink<W, M> {
    message: PhantomData<fn(M)>,
    writer: W,
    buffer: Vec<u8>,
}

impl<W, M> LineSink<W, M> {
    pub(crate) fn new(writer: W) -> Self {
        Self { message: PhantomData, writer, buffer: Vec::new() }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static, M> LineSink<W, M> {
    async fn write_out(&mut self) -> Result<(), Closed> {
        self.writer.write_all(&self.buffer).await.map_err(pump::broken)?;
        self.buffer.clear();
        // it is a little more than a chunk as a rule, which is no reason to give memory back and ask for it again
        if self.buffer.capacity() > 2 * CHUNK {
            self.buffer.shrink_to(CHUNK);
        }
        Ok(())
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static, M: Message> Sink for LineSink<W, M> {
    type Message = M;

    async fn write(&mut self, message: M) -> Result<(), Closed> {
        message.print_to(&mut self.buffer);
        self.buffer.push(b'\n');
        if self.buffer.len() >= CHUNK { self.write_out().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<(), Closed> {
        self.write_out().await?;
        self.writer.flush().await.map_err(pump::broken)
    }

    async fn close(&mut self) -> Result<(), Closed> {
        self.writer.shutdown().await.map_err(pump::broken)
    }
}
