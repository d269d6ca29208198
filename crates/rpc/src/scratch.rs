//! Room to read into, lent for one read: connections that wait need none of their own.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// How much is read at a time.
const CHUNK: usize = 32 * 1024;

thread_local! {
    /// One for all connections of a thread: what was read has been looked at before the next one reads.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Reads what there is and lets `take` look at it; nothing, if the stream is at its end.
pub(crate) fn poll_read<T>(
    reader: &mut (impl AsyncRead + Unpin),
    context: &mut Context<'_>,
    take: impl FnOnce(&[u8]) -> T,
) -> Poll<io::Result<T>> {
    // a thread that ends has none any more, and a reader that reads another connection finds it lent: either gets a new one
    let mut chunk = SCRATCH.try_with(Cell::take).unwrap_or_default();
    chunk.resize(CHUNK, 0);
    let mut buffer = ReadBuf::new(&mut chunk);
    let polled = Pin::new(reader).poll_read(context, &mut buffer);
    let taken = polled.map_ok(|()| take(buffer.filled()));
    SCRATCH.try_with(|scratch| scratch.set(chunk)).ok();
    taken
}
