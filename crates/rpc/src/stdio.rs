//! The connection of this process with its parent: messages on stdin and stdout.
//!
//! The only place that touches stdout. On Linux a pipe is reopened and served by the runtime. Everything else (files, terminals,
//! sockets) is copied through a pipe by a thread that blocks: processes that share a stream, such as a shell, share its
//! non-blocking mode, so it must not be changed.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::sync::Arc;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{read, retry_on_intr};
use tokio::io::Interest;
use tokio::net::unix::pipe;
use tokio::sync::SetOnce;

use crate::message::Message;
use crate::pump::{self, Dying, Sink};
use crate::stream::{LineSink, LineSource};
use crate::{Closed, Connection, Limits, LineConnection};

/// How many bytes a thread copies at once.
const COPY_CHUNK: usize = 64 * 1024;
/// The capacity that stdout gets, if it is a pipe.
#[cfg(target_os = "linux")]
const PIPE_CAPACITY: usize = 256 * 1024;

/// Connects with stdin and stdout. Call it once per process, in a runtime.
///
/// Before the process ends, `outgoing.finish(…)` waits until everything has been written.
///
/// # Errors
/// If a stream cannot be opened, or a thread cannot be started.
pub fn stdio(limits: Limits) -> io::Result<Connection> {
    connect(limits)
}

/// [`stdio`] for another protocol: passes the lines as they are.
///
/// # Errors
/// If a stream cannot be opened, or a thread cannot be started.
pub fn stdio_lines(limits: Limits) -> io::Result<LineConnection> {
    connect(limits)
}

fn connect<M: Message>(limits: Limits) -> io::Result<Connection<M>> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    #[expect(clippy::disallowed_methods, reason = "this is the place where stdout is the protocol")]
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;

    let (reader, copied) = open_reader(stdin.into())?;
    let explain = async move |seen| match copied.as_deref().and_then(SetOnce::get) {
        Some(Err(failed)) => failed.clone(),
        _ => seen,
    };
    let (source, sink) = (LineSource::new(reader, limits.line), StdoutSink::open(stdout.into())?);
    Ok(pump::start_with(source, sink, limits, Dying::default(), explain))
}

/// How a thread that copies has ended.
type Copied = Arc<SetOnce<Result<(), Closed>>>;

fn open_reader(stdin: File) -> io::Result<(pipe::Receiver, Option<Copied>)> {
    if let Some(pipe) =
        path_of_pipe(&stdin).and_then(|path| pipe::OpenOptions::new().open_receiver(path).ok())
    {
        return Ok((pipe, None));
    }
    let (ours, theirs) = io::pipe()?;
    let copied = copy_on_thread("stdin", stdin, OwnedFd::from(theirs).into())?;
    Ok((pipe::Receiver::from_owned_fd(ours.into())?, Some(copied)))
}

/// Returns the path that reopens a pipe on Linux, as a separate open file description.
fn path_of_pipe(stream: &File) -> Option<String> {
    let is_pipe = stream.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
    (is_pipe && cfg!(target_os = "linux")).then(|| format!("/proc/self/fd/{}", stream.as_raw_fd()))
}

/// Writes lines to stdout, and notices when its reader is gone, also while there is nothing to write.
#[derive(Debug)]
struct StdoutSink<M> {
    lines: LineSink<pipe::Sender, M>,
    copied: Option<Copied>,
}

impl<M> StdoutSink<M> {
    fn open(stdout: File) -> io::Result<Self> {
        if let Some(pipe) =
            path_of_pipe(&stdout).and_then(|path| pipe::OpenOptions::new().open_sender(path).ok())
        {
            // a larger pipe wakes its reader less often; there is a limit on the pipes of a user
            #[cfg(target_os = "linux")]
            rustix::pipe::fcntl_setpipe_size(&pipe, PIPE_CAPACITY).ok();
            return Ok(Self { lines: LineSink::new(pipe), copied: None });
        }
        let (theirs, ours) = io::pipe()?;
        let copied = copy_on_thread("stdout", OwnedFd::from(theirs).into(), stdout)?;
        Ok(Self { lines: LineSink::new(pipe::Sender::from_owned_fd(ours.into())?), copied: Some(copied) })
    }
}

impl<M: Message> Sink for StdoutSink<M> {
    type Message = M;

    async fn write(&mut self, message: M) -> Result<(), Closed> {
        self.lines.write(message).await
    }

    async fn flush(&mut self) -> Result<(), Closed> {
        self.lines.flush().await
    }

    /// Stdout itself stays open as long as this process lives: others may write to it, too.
    async fn close(self) -> Result<(), Closed> {
        let Self { lines, copied } = self;
        drop(lines);
        match copied {
            Some(copied) => copied.wait().await.clone(),
            None => Ok(()),
        }
    }

    async fn due(&mut self) {
        match &self.copied {
            Some(copied) => drop(copied.wait().await.clone()),
            None => drop(self.lines.writer.ready(Interest::ERROR).await),
        }
    }

    async fn act(&mut self) -> Result<(), Closed> {
        match self.copied.as_deref().and_then(SetOnce::get) {
            Some(Err(failed)) => Err(failed.clone()),
            _ => Err(Closed::from(io::Error::from(io::ErrorKind::BrokenPipe))),
        }
    }
}

/// Copies on a thread of its own, not on the blocking threads of the runtime: a read of a terminal may never return, and
/// would keep the runtime from shutting down.
fn copy_on_thread(name: &str, from: File, to: File) -> io::Result<Copied> {
    let copied = Copied::default();
    let result = Copied::clone(&copied);
    thread::Builder::new().name(name.to_owned()).spawn(move || {
        result.set(copy(&from, to).map_err(Closed::from)).ok();
    })?;
    Ok(copied)
}

/// Copies until `from` ends or the reader of `to` is gone.
fn copy(from: &File, mut to: File) -> io::Result<()> {
    let mut chunk = vec![0; COPY_CHUNK];
    loop {
        // without a requested event, only the end of `to` is reported
        let mut streams = [PollFd::new(from, PollFlags::IN), PollFd::new(&to, PollFlags::empty())];
        retry_on_intr(|| poll(&mut streams, None))?;
        if streams[1].revents().intersects(PollFlags::HUP | PollFlags::ERR) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        match retry_on_intr(|| read(from, &mut *chunk))? {
            0 => return Ok(()),
            length => to.write_all(&chunk[..length])?,
        }
    }
}
