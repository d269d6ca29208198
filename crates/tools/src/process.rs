//! Shell commands: the only module of this crate that starts programs. No program outlives its session.
//!
//! `musher-process` starts programs and ends them with all their descendants, also if this process is killed. This module decides what
//! commands are given, captures their output, and tracks what a session has started.

mod capture;
mod commands;
mod denial;
mod environment;
mod job;
mod piped;
mod plain;
mod processes;
mod shell;
mod shell_prelude;
mod temp_folder;
mod terminal;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use capture::Capture;
pub(crate) use capture::{Captured, new_file};
pub(crate) use commands::{Look, RunningCommand};
pub use denial::{DeniedAction, SandboxDenial};
pub(crate) use denial::{denial, denial_note};
pub use environment::{command_environment, looks_like_credential};
pub(crate) use job::Job;
pub use piped::Piped;
pub use processes::{Background, Processes};
pub(crate) use shell::Shell;
pub(crate) use temp_folder::TempFolder;
pub use terminal::LAUNCH_COMMAND;
pub(crate) use terminal::run_in_terminal;

/// How long a command may take to end after it is asked to.
const GRACE_TIMEOUT: Duration = Duration::from_millis(800);
/// How long output is awaited after the command has ended.
const OUTPUT_TIMEOUT: Duration = Duration::from_millis(300);
/// The interval of progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ended {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// Ended by musher after its timeout.
    TimedOut,
    /// Ended by musher because the call was cancelled.
    Cancelled,
}

/// The outcome of a command.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) ended: Ended,
    pub(crate) output: Captured,
}

/// Runs a command until it ends, its timeout passes, or it is cancelled. Output goes to `report` as it arrives.
///
/// Returns soon after the command itself has ended, also if a background process of it keeps the output open.
pub(crate) async fn run(
    shell: Shell<'_>,
    limit: Duration,
    scratch: &Path,
    processes: &Processes,
    cancel: &CancellationToken,
    mut report: impl FnMut(String),
) -> io::Result<Finished> {
    let (reader, writer) = io::pipe()?;
    let errors = writer.try_clone()?;
    let job = Job::start(shell, None, writer.into(), errors.into()).await?;
    let mut output =
        Output { pipe: pipe::Receiver::from_owned_fd(reader.into())?, capture: Capture::new(scratch) };
    let deadline = Instant::now() + limit;
    let mut next_report = Instant::now() + PROGRESS_INTERVAL;
    let mut is_open = true;
    let ended = loop {
        tokio::select! {
            status = job.exited() => break status,
            () = cancel.cancelled() => {
                job.end(GRACE_TIMEOUT).await;
                break Ended::Cancelled;
            }
            () = sleep_until(deadline) => {
                job.end(GRACE_TIMEOUT).await;
                break Ended::TimedOut;
            }
            more = output.read(), if is_open => is_open = more,
            () = sleep_until(next_report), if output.capture.has_unreported() => {
                next_report = Instant::now() + PROGRESS_INTERVAL;
                report(output.capture.take_unreported());
            }
        }
    };
    let last = Instant::now() + OUTPUT_TIMEOUT;
    while is_open {
        let left = last.saturating_duration_since(Instant::now());
        match timeout(left, output.read()).await {
            Ok(more) => is_open = more,
            Err(_elapsed) => break,
        }
    }
    if output.capture.has_unreported() {
        report(output.capture.take_unreported());
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

/// Starts a background command; its output goes to a file, and its input is open.
pub(crate) async fn start(
    shell: Shell<'_>,
    scratch: &Path,
    processes: &Processes,
) -> io::Result<Arc<RunningCommand>> {
    let (file, path) = new_file(scratch, "out")?;
    let errors = file.try_clone()?;
    let (their_input, our_input) = io::pipe()?;
    let input = pipe::Sender::from_owned_fd(our_input.into())?;
    let job = Job::start(shell, Some(their_input.into()), file.into(), errors.into()).await?;
    Ok(processes.keep(job, shell, path, input))
}

struct Output {
    pipe: pipe::Receiver,
    capture: Capture,
}

impl Output {
    /// Reads available output. Returns whether more may come. Cancel-safe: nothing is lost if it is dropped while it waits.
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
