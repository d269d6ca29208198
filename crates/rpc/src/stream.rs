//! A connection over any pair of byte streams: one frame per line.

use std::collections::VecDeque;

use musher_wire::{Frame, Malformed};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::lines::{Line, LineSplitter};
use crate::pump::{self, Sink, Source};
use crate::{Closed, Connection, Limits};

/// How much is read and written at a time.
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

/// Reads lines as frames.
#[derive(Debug)]
pub(crate) struct LineSource<R> {
    reader: R,
    splitter: LineSplitter,
    chunk: Box<[u8]>,
}

impl<R> LineSource<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader, splitter: LineSplitter::new(limit), chunk: vec![0; CHUNK].into() }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Source for LineSource<R> {
    async fn fill(&mut self, frames: &mut VecDeque<Frame>) -> Result<(), Closed> {
        let limit = self.splitter.limit();
        let mut add = |line: Line<'_>| frames.push_back(frame(line, limit));
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

fn frame(line: Line<'_>, limit: usize) -> Frame {
    match line {
        Line::Whole(line) => Frame::parse(line),
        Line::TooLong(beginning) => Frame::Malformed(Malformed::too_long(limit, beginning)),
    }
}

/// Writes frames as lines.
#[derive(Debug)]
pub(crate) struct LineSink<W> {
    writer: W,
    buffer: Vec<u8>,
}

impl<W> LineSink<W> {
    pub(crate) fn new(writer: W) -> Self {
        Self { writer, buffer: Vec::new() }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> LineSink<W> {
    async fn write_out(&mut self) -> Result<(), Closed> {
        self.writer.write_all(&self.buffer).await.map_err(pump::broken)?;
        self.buffer.clear();
        self.buffer.shrink_to(CHUNK);
        Ok(())
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Sink for LineSink<W> {
    async fn write(&mut self, frame: Frame) -> Result<(), Closed> {
        self.buffer.extend_from_slice(frame.to_line().as_bytes());
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
