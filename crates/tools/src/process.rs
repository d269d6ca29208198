//! Shell commands: the only place of this crate that starts programs, made so that none of them outlives its session.
//!
//! `musher-process` starts them and ends them with everything below them, also if this process is killed. Here is what commands are given, what
//! becomes of their output, and what a session remembers of them.

mod capture;
mod environment;
mod first;
mod job;
mod piped;
mod plain;
mod processes;
mod shell;
mod terminal;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use capture::Capture;
pub(crate) use capture::Captured;
pub use environment::command_environment;
pub(crate) use job::Job;
pub use piped::Piped;
pub use processes::{Background, Processes};
pub(crate) use shell::Shell;
pub(crate) use terminal::run_in_terminal;

/// How long a command may take to end by itself when it is asked to.
const GRACE: Duration = Duration::from_millis(800);
/// How long output may still come after the command has ended.
const LATE: Duration = Duration::from_millis(300);
/// How often news of a run is told.
const NEWS: Duration = Duration::from_millis(100);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// By us, because it took too long.
    TimedOut,
    /// By us, because nobody wants it any more.
    Cancelled,
}

/// What came of a command.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) ended: Ended,
    pub(crate) output: Captured,
}

/// Runs a command to its end, its limit, or its cancellation. Output goes to `news` as it comes.
///
/// Returns soon after the command itself has ended, also if something it started in the background holds on to its output.
pub(crate) async fn run(
    shell: Shell<'_>,
    limit: Duration,
    scratch: &Path,
    processes: &Processes,
    cancel: &CancellationToken,
    mut news: impl FnMut(String),
) -> io::Result<Finished> {
    let (reader, writer) = io::pipe()?;
    let errors = writer.try_clone()?;
    let job = Job::start(shell, None, writer.into(), errors.into()).await?;
    let mut output =
        Output { pipe: pipe::Receiver::from_owned_fd(reader.into())?, capture: Capture::new(scratch) };
    let deadline = Instant::now() + limit;
    let mut next_news = Instant::now() + NEWS;
    let mut is_open = true;
    let ended = loop {
        tokio::select! {
            status = job.exited() => break status,
            () = cancel.cancelled() => {
                job.end(GRACE).await;
                break Ended::Cancelled;
            }
            () = sleep_until(deadline) => {
                job.end(GRACE).await;
                break Ended::TimedOut;
            }
            more = output.read(), if is_open => is_open = more,
            () = sleep_until(next_news), if output.capture.has_news() => {
                next_news = Instant::now() + NEWS;
                news(output.capture.take_news());
            }
        }
    };
    let last = Instant::now() + LATE;
    while is_open {
        let left = last.saturating_duration_since(Instant::now());
        match timeout(left, output.read()).await {
            Ok(more) => is_open = more,
            Err(_elapsed) => break,
        }
    }
    if output.capture.has_news() {
        news(output.capture.take_news());
    }
    let Output { pipe, capture } = output;
    if is_open {
        processes.keep_remains(&job, shell.command, pipe);
    } else {
        processes.remember(&job);
    }
    job.release();
    Ok(Finished { ended, output: capture.finish() })
}

/// Starts a command that goes on by itself; its output goes to a file.
pub(crate) async fn start(shell: Shell<'_>, scratch: &Path, processes: &Processes) -> io::Result<Background> {
    let (file, path) = capture::new_file(scratch, "out")?;
    let errors = file.try_clone()?;
    let job = Job::start(shell, None, file.into(), errors.into()).await?;
    Ok(processes.keep(job, shell.command, Some(PathBuf::from(&path))))
}

struct Output {
    pipe: pipe::Receiver,
    capture: Capture,
}

impl Output {
    /// Takes what is there. Whether more may come. Loses nothing if it is dropped while it waits.
    async fn read(&mut self) -> bool {
        if self.pipe.readable().await.is_err() {
            return false;
        }
        let mut buffer = [0; 16 << 10];
        match self.pipe.try_read(&mut buffer) {
            Ok(0) => false,
            Ok(count) => {
                self.capture.push(&buffer[..count]);
                true
            }
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        }
    }
}

#[cfg(test)]
mod tests;
