//! Background commands by id: their new output, their input, and their end.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use musher_process::Sandbox;
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep, timeout};

use super::job::Handle;
use super::{Ended, GRACE_TIMEOUT};
use crate::limits::MAX_SHOWN_OUTPUT_BYTES;

/// A background command that calls can look at, write to and end.
#[derive(Debug)]
pub(crate) struct RunningCommand {
    pub(super) id: String,
    pub(super) pid: u32,
    pub(super) handle: Handle,
    pub(super) output: PathBuf,
    /// `None` after its input was closed. Held for a few instructions only, never across an await.
    pub(super) input: Mutex<Option<Arc<pipe::Sender>>>,
    /// What it may change and connect to; `None` if everything.
    pub(super) sandbox: Option<Sandbox>,
    /// The number of bytes of output that calls have returned. Held for a few instructions only, never across an await.
    pub(super) returned: Mutex<u64>,
}

/// The state of a background command, and its output since the last look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    /// How it has ended; `None` while it runs.
    pub(crate) ended: Option<Ended>,
    /// Its new output; of a long one only the end.
    pub(crate) text: String,
    /// The number of bytes of new output that `text` leaves out.
    pub(crate) skipped: u64,
}

/// How long a command may take to read its input.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// How often the output file is looked at while new output is awaited.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// Output counts as complete after this time without more.
const QUIET_TIME: Duration = Duration::from_millis(150);

impl RunningCommand {
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn output(&self) -> &std::path::Path {
        &self.output
    }

    /// Waits until the command has ended, at most for this time.
    pub(crate) async fn wait(&self, limit: Duration) {
        timeout(limit, self.handle.exited()).await.ok();
    }

    /// Waits until the command has written something and paused, or has ended, at most for this time.
    pub(crate) async fn wait_for_output(&self, limit: Duration) {
        let wait = async {
            let (mut known, mut changed) = (self.size(), None::<Instant>);
            while changed.is_none_or(|at| at.elapsed() < QUIET_TIME) {
                sleep(POLL_INTERVAL).await;
                let size = self.size();
                if size != known {
                    (known, changed) = (size, Some(Instant::now()));
                }
            }
        };
        tokio::select! {
            () = wait => {}
            _ = self.handle.exited() => {}
            () = sleep(limit) => {}
        }
    }

    fn size(&self) -> u64 {
        fs_err::metadata(&self.output).map_or(0, |found| found.len())
    }

    /// Returns the state, and the output that no call has returned yet. Blocks.
    pub(crate) fn look(&self) -> io::Result<Look> {
        // before the output is read: what an ended command wrote is complete then
        let ended = self.handle.ended();
        let mut file = fs_err::File::open(&self.output)?;
        let mut returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner);
        let size = file.metadata()?.len();
        let from = size.saturating_sub(MAX_SHOWN_OUTPUT_BYTES as u64).max(*returned);
        let skipped = from.saturating_sub(*returned);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(MAX_SHOWN_OUTPUT_BYTES as u64).read_to_end(&mut bytes)?;
        *returned = from + bytes.len() as u64;
        Ok(Look { ended, text: String::from_utf8_lossy(&bytes).into_owned(), skipped })
    }

    /// Writes to the input of the command, and closes it if `is_last`.
    pub(crate) async fn write(&self, text: &str, is_last: bool) -> io::Result<()> {
        let input = self.input().clone();
        let input = input.ok_or_else(|| io::Error::new(io::ErrorKind::BrokenPipe, "its input is closed"))?;
        if is_last {
            *self.input() = None;
        }
        timeout(WRITE_TIMEOUT, write_all(&input, text.as_bytes())).await.unwrap_or_else(|_elapsed| {
            Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "it does not read its input, so only a part was written",
            ))
        })
    }

    fn input(&self) -> MutexGuard<'_, Option<Arc<pipe::Sender>>> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the command with all its descendants. Returns whether it was still running.
    pub(crate) async fn stop(&self) -> bool {
        let was_running = self.handle.ended().is_none();
        if was_running {
            self.handle.end(GRACE_TIMEOUT).await;
        }
        was_running
    }
}

async fn write_all(input: &pipe::Sender, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        input.writable().await?;
        match input.try_write(bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The background commands of a session, oldest first.
#[derive(Debug, Default)]
pub(super) struct Commands {
    all: Vec<Arc<RunningCommand>>,
    started: usize,
}

/// Maximum number of commands that are kept after they have ended.
const MAX_COMMANDS: usize = 64;

impl Commands {
    pub(super) fn next_id(&mut self) -> String {
        self.started += 1;
        format!("command_{}", self.started)
    }

    pub(super) fn add(&mut self, command: RunningCommand) -> Arc<RunningCommand> {
        if self.all.len() >= MAX_COMMANDS
            && let Some(ended) = self.all.iter().position(|command| command.handle.ended().is_some())
        {
            self.all.remove(ended);
        }
        let command = Arc::new(command);
        self.all.push(Arc::clone(&command));
        command
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<RunningCommand>> {
        self.all.iter().find(|command| command.id == id).cloned()
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
    }
}
