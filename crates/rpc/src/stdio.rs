//! The connection of this process with whoever started it: frames on stdin and stdout.
//!
//! The only place that touches stdout. Pipes and sockets are served by the runtime like any others; what cannot be, by threads.

#[cfg(target_os = "linux")]
mod direct;
#[cfg(unix)]
mod gone;
mod thread;

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::message::Message;
use crate::pump::{self, Dying};
use crate::stream::{LineSink, LineSource};
use crate::{Connection, Limits, LineConnection};
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
    connect(limits)
}

/// [`stdio`] for another dialect: the lines as they are.
///
/// # Errors
/// If no thread can be started where one is needed.
pub fn stdio_lines(limits: Limits) -> io::Result<LineConnection> {
    connect(limits)
}

fn connect<M: Message>(limits: Limits) -> io::Result<Connection<M>> {
    let (reader, writer) = streams()?;
    let dying = Dying::default();
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        #[expect(clippy::disallowed_methods, reason = "this is the place where stdout is the protocol")]
        let stdout = io::stdout().as_fd().try_clone_to_owned()?;
        gone::watch(stdout, dying.clone())?;
    }
    let (source, sink) = (LineSource::new(reader, limits.line), LineSink::new(writer));
    Ok(pump::start_with(source, sink, limits, dying, async |reason| reason))
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
