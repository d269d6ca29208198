//! A connection over any pair of byte streams: one message per line.

use std::marker::PhantomData;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::lines::LineSplitter;
use crate::message::{Message, RawLine};
use crate::pump::{self, Batch, Sink, Source};
use crate::{Closed, Connection, Limits, LineConnection};

/// How much is written at a time.
const CHUNK: usize = 64 * 1024;
/// How much is read at a time: dozens of messages, and yet little for a process that has many connections.
const READ_CHUNK: usize = 16 * 1024;

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
    chunk: Vec<u8>,
}

impl<R, M> LineSource<R, M> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        let chunk = vec![0; READ_CHUNK];
        Self { message: PhantomData, reader, splitter: LineSplitter::new(limit), chunk }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static, M: Message> Source for LineSource<R, M> {
    type Message = M;

    async fn fill(&mut self, messages: &mut Batch<M>) -> Result<(), Closed> {
        let limit = self.splitter.limit();
        let mut add = |line: crate::Line<'_>| messages.push(M::from_line(line, limit));
        match self.reader.read(&mut self.chunk).await {
            Ok(0) => {
                self.splitter.finish(add);
                Err(Closed::Ended)
            }
            Ok(length) => {
                self.splitter.push(&self.chunk[..length], &mut add);
                Ok(())
            }
            Err(error) => {
                self.splitter.finish(add);
                Err(pump::broken(error))
            }
        }
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
        self.buffer.shrink_to(CHUNK);
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
