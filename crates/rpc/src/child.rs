//! An agent as a child process with a connection to it: it cannot outlive us, and ends within a time limit, with all it started.
//!
//! `musher-process` starts the process, and finds and kills its tree. Here are the messages and stderr of an agent, and the time it
//! may take to end. Stderr is always read, and its end is kept.

mod launch;
mod process;
mod stderr;

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fmt, io};

use musher_process::Streams;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::connection::{LINGER, WeakMessageSender};
use crate::message::{Message, RawLine};
use crate::pump::{self, Dying};
use crate::stream::{LineSink, LineSource};
use crate::{Closed, Connection, Error, LineConnection};
pub use launch::Launch;
use process::{Grace, Process};
use stderr::Tail;

/// A running agent. Clones are the same agent; dropping the last one ends it in the background.
///
/// ```
/// use musher_rpc::{Child, Launch};
/// use musher_wire::{Frame, Json, Notification};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Error> {
/// let (child, mut connection) = Child::spawn(Launch::new("cat")).await?;
/// let hello = Frame::Notification(Notification::new("hello", Json::empty_object()));
/// connection.outgoing.send(hello.clone()).await?;
/// assert_eq!(connection.incoming.recv().await?, hello);
///
/// let exit = child.close().await;
/// assert!(exit.status.is_some_and(|status| status.success()));
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
#[must_use = "an agent ends when its last handle is dropped"]
pub struct Child {
    handle: Arc<Handle>,
}

/// How an agent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exit {
    /// The program as it was given.
    pub program: PathBuf,
    /// Its exit status. `None` if it is unknown, because the process did not end even after SIGKILL.
    pub status: Option<ExitStatus>,
    /// The end of its stderr, without the secrets it was given.
    pub stderr_tail: String,
}

#[derive(Debug)]
struct Handle {
    process: Arc<Process>,
    input: Box<dyn Input>,
    grace: Grace,
    is_closing: AtomicBool,
}

impl Child {
    /// Starts the program and connects with its stdin and stdout. Needs a runtime, which runs the connection.
    ///
    /// When the program exits, the connection delivers its last messages and then ends with [`Closed::Exited`].
    pub async fn spawn(launch: Launch) -> Result<(Self, Connection), Error> {
        let close_request = launch.close_request.clone();
        Self::start(launch, close_request).await
    }

    /// [`spawn`](Self::spawn) for a program that speaks another protocol: passes its lines as they are, and sends no close request.
    pub async fn spawn_lines(launch: Launch) -> Result<(Self, LineConnection), Error> {
        Self::start::<RawLine>(launch, None).await
    }

    async fn start<M: Message>(
        launch: Launch,
        close_request: Option<M>,
    ) -> Result<(Self, Connection<M>), Error> {
        let command = &launch.command;
        let failed = |source| Error::Spawn {
            program: command.program().to_owned(),
            cwd: command.current_dir().map(ToOwned::to_owned),
            source,
        };
        let mut child = command.spawn(Streams::piped()).await.map_err(failed)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed(io::Error::other("bug: the pipes of the process are gone")));
        };
        let stdin = ChildStdin::from_std(stdin).map_err(failed)?;
        let stdout = ChildStdout::from_std(stdout).map_err(failed)?;
        let stderr = ChildStderr::from_std(stderr).map_err(failed)?;

        let tail = Tail::new(launch.stderr_tail, launch.secrets.clone());
        let (process, [stdout_pipe, stderr_pipe]) =
            Process::watch(child, command.program().to_owned(), tail.clone()).map_err(failed)?;
        stderr::drain(stderr, tail, stderr_pipe);

        let source = LineSource::new(process::Tracked::new(stdout, stdout_pipe), launch.limits.line);
        let dying = Dying::default();
        let watched = Arc::clone(&process);
        let announced = Dying::clone(&dying);
        tokio::spawn(async move { announced.set(Closed::Exited(watched.exited().await)) });
        let watched = Arc::clone(&process);
        let connection =
            pump::start_with(source, LineSink::new(stdin), launch.limits, dying, async move |seen| {
                match timeout(LINGER, watched.exited()).await {
                    Ok(exit) => Closed::Exited(exit),
                    // it closed its stdout and lives on
                    Err(_elapsed) => seen,
                }
            });

        let input = Stdin { outgoing: connection.outgoing.downgrade(), close_request: close_request.into() };
        let handle = Handle {
            process,
            input: Box::new(input),
            grace: launch.grace,
            is_closing: AtomicBool::new(false),
        };
        Ok((Self { handle: Arc::new(handle) }, connection))
    }

    /// Returns the process id: that of the wrapper, if it is started through one, such as `npx`.
    pub fn id(&self) -> u32 {
        self.handle.process.id()
    }

    /// Returns the end of its stderr so far, without the secrets it was given.
    pub fn stderr_tail(&self) -> String {
        self.handle.process.stderr_tail()
    }

    /// Waits until it has exited by itself or was ended.
    pub async fn exited(&self) -> Arc<Exit> {
        self.handle.process.exited().await
    }

    /// Ends it and everything it started, and returns how it ended.
    ///
    /// Sends the close request, if there is one, and closes its stdin. After the grace period it sends SIGINT (if the launch asks for
    /// it) and SIGTERM to its group, then SIGKILL to its group and to every process it started elsewhere. This continues in the background
    /// if the future is dropped. It can be called again, and after the exit.
    pub async fn close(&self) -> Arc<Exit> {
        self.handle.begin_to_close();
        self.exited().await
    }

    /// [`close`](Self::close) for a busy program: begins with the signals, because closing its stdin would not stop it.
    pub async fn stop(&self) -> Arc<Exit> {
        self.handle.is_closing.store(true, Ordering::Relaxed);
        let grace = Grace { stdin: Duration::ZERO, ..self.handle.grace };
        self.handle.process.end_in_background(grace);
        self.exited().await
    }

    /// Ends it at once, without a grace period.
    pub async fn kill(&self) -> Arc<Exit> {
        self.handle.is_closing.store(true, Ordering::Relaxed);
        self.handle.process.end_in_background(Grace::NONE);
        self.exited().await
    }
}

impl Handle {
    fn begin_to_close(&self) {
        if self.is_closing.swap(true, Ordering::Relaxed) {
            return;
        }
        self.input.close();
        self.process.end_in_background(self.grace);
    }
}

/// Closes the stdin of a program, whatever its messages are.
trait Input: fmt::Debug + Send + Sync {
    fn close(&self);
}

#[derive(Debug)]
struct Stdin<M> {
    outgoing: WeakMessageSender<M>,
    close_request: Mutex<Option<M>>,
}

impl<M: Message> Input for Stdin<M> {
    fn close(&self) {
        if let Some(outgoing) = self.outgoing.upgrade() {
            if let Some(request) = self.close_request.lock().unwrap_or_else(PoisonError::into_inner).take() {
                // without room for it the program does not read, and the end of stdin has to do
                outgoing.try_send_now(request).ok();
            }
            outgoing.close();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.begin_to_close();
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.program.display())?;
        match self.status {
            Some(status) => write!(f, "exited ({status})")?,
            None => f.write_str("did not end when it was killed")?,
        }
        match self.stderr_tail.trim_end().lines().next_back() {
            Some(line) if !line.trim().is_empty() => write!(f, ": {}", line.trim()),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Exit {}
