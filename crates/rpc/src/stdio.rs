//! The connection of this process with whoever started it: frames on stdin and stdout.
//!
//! The only place that touches stdout. Pipes and sockets are served by the runtime like any others; what cannot be, by threads.

#[cfg(target_os = "linux")]
mod direct;
mod thread;

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Connection, Limits, LineConnection, lines_over, over};
use thread::{ThreadReader, ThreadWriter};

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Connects with stdin and stdout. Once per process, and needs a runtime.
///
/// Before the process ends, `outgoing.finish(…)` waits until everything was written.
///
/// # Errors
/// If no thread can be started where one is needed.
pub fn stdio(limits: Limits) -> io::Result<Connection> {
    let (reader, writer) = streams()?;
    Ok(over(reader, writer, limits))
}

/// [`stdio`] for another dialect: the lines as they are.
///
/// # Errors
/// If no thread can be started where one is needed.
pub fn stdio_lines(limits: Limits) -> io::Result<LineConnection> {
    let (reader, writer) = streams()?;
    Ok(lines_over(reader, writer, limits))
}

fn streams() -> io::Result<(Reader, Writer)> {
    #[expect(clippy::disallowed_methods, reason = "this is the place where stdout is the protocol")]
    let stdout = io::stdout();
    #[cfg(target_os = "linux")]
    let (reader, writer) = (direct::reader(io::stdin()), direct::writer(&stdout));
    #[cfg(not(target_os = "linux"))]
    let (reader, writer) = (None::<Reader>, None::<Writer>);
    let reader = match reader {
        Some(reader) => reader,
        None => Box::new(ThreadReader::start(io::stdin())?),
    };
    let writer = match writer {
        Some(writer) => writer,
        None => Box::new(ThreadWriter::start(stdout)?),
    };
    Ok((reader, writer))
}
