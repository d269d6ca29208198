//! An agent as a child process, with a connection to it: started so that it cannot outlive us, ended within a bound, with all it started.
//!
//! How a process is started and its tree found and killed is in `musher-process`; here is what an agent says and how long it may take to end.
//! What it says on stderr is always read, and the end of it kept.

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

use crate::connection::{LINGER, WeakSenderOf};
use crate::message::{Message, RawLine};
use crate::pump::{self, Dying};
use crate::stream::{LineSink, LineSource};
use crate::{Closed, Connection, Error, LineConnection};
pub use launch::Launch;
use process::{Patience, Process};
use stderr::Tail;

/// A running agent. Clones are the same agent; when the last one is dropped, it is ended in the background.
///
/// ```
/// use musher_rpc::{Child, Launch};
/// use musher_wire::{Frame, Json, Notification};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), musher_rpc::Error> {
/// let (child, mut connection) = Child::spawn(Launch::new("cat")).await?;
/// let news = Frame::Notification(Notification::new("hello", Json::empty_object()));
/// connection.outgoing.send(news.clone()).await?;
/// assert_eq!(connection.incoming.recv().await?, news);
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
    /// Its exit status. `None` if it could not be learned: the process resists even SIGKILL.
    pub status: Option<ExitStatus>,
    /// The last it wrote to stderr, without the secrets it was given.
    pub stderr_tail: String,
}

#[derive(Debug)]
struct Handle {
    process: Arc<Process>,
    input: Box<dyn Input>,
    patience: Patience,
    is_closing: AtomicBool,
}

impl Child {
    /// Starts the program and connects with its stdin and stdout. Needs a runtime, in which the connection lives.
    ///
    /// When the program exits, the connection delivers what it had written and then ends with [`Closed::Exited`].
    pub async fn spawn(launch: Launch) -> Result<(Self, Connection), Error> {
        let farewell = launch.farewell.clone();
        Self::start(launch, farewell).await
    }

    /// [`spawn`](Self::spawn) for a program of another dialect: its lines as they are. A farewell is not sent.
    pub async fn spawn_lines(launch: Launch) -> Result<(Self, LineConnection), Error> {
        Self::start::<RawLine>(launch, None).await
    }

    async fn start<M: Message>(launch: Launch, farewell: Option<M>) -> Result<(Self, Connection<M>), Error> {
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
        let announced = dying.clone();
        tokio::spawn(async move { announced.settle(Closed::Exited(watched.exited().await)) });
        let watched = Arc::clone(&process);
        let connection =
            pump::start_with(source, LineSink::new(stdin), launch.limits, dying, async move |seen| {
                match timeout(LINGER, watched.exited()).await {
                    Ok(exit) => Closed::Exited(exit),
                    // it closed its stdout and lives on
                    Err(_elapsed) => seen,
                }
            });

        let handle = Handle {
            process,
            input: Box::new(ToClose { outgoing: connection.outgoing.downgrade(), farewell: farewell.into() }),
            patience: launch.patience,
            is_closing: AtomicBool::new(false),
        };
        Ok((Self { handle: Arc::new(handle) }, connection))
    }

    /// The process id. Behind a wrapper such as `npx` it is the wrapper's.
    pub fn id(&self) -> u32 {
        self.handle.process.id()
    }

    /// The last it wrote to stderr so far, without the secrets it was given.
    pub fn stderr_tail(&self) -> String {
        self.handle.process.stderr_tail()
    }

    /// Waits until it has exited by itself or was ended.
    pub async fn exited(&self) -> Arc<Exit> {
        self.handle.process.exited().await
    }

    /// Ends it and everything it started, and tells how it went.
    ///
    /// First the farewell, if there is one, then the end of its stdin; after the grace SIGINT (if the launch asks for it) and
    /// SIGTERM to its group, then SIGKILL to its group and to whatever it started elsewhere. This goes on in the background if the future is dropped, and calling
    /// it again, or after the exit, is no harm.
    pub async fn close(&self) -> Arc<Exit> {
        self.handle.begin_to_close();
        self.exited().await
    }

    /// [`close`](Self::close) for a program that is busy: begins with the signals, as the end of its stdin would not stop it.
    pub async fn stop(&self) -> Arc<Exit> {
        self.handle.is_closing.store(true, Ordering::Relaxed);
        let patience = Patience { stdin: Duration::ZERO, ..self.handle.patience };
        self.handle.process.end_in_background(patience);
        self.exited().await
    }

    /// Ends it at once, without any grace.
    pub async fn kill(&self) -> Arc<Exit> {
        self.handle.is_closing.store(true, Ordering::Relaxed);
        self.handle.process.end_in_background(Patience::NONE);
        self.exited().await
    }
}

impl Handle {
    fn begin_to_close(&self) {
        if self.is_closing.swap(true, Ordering::Relaxed) {
            return;
        }
        self.input.end();
        self.process.end_in_background(self.patience);
    }
}

/// The way to end the stdin of a program, whatever messages it takes.
trait Input: fmt::Debug + Send + Sync {
    fn end(&self);
}

#[derive(Debug)]
struct ToClose<M> {
    outgoing: WeakSenderOf<M>,
    farewell: Mutex<Option<M>>,
}

impl<M: Message> Input for ToClose<M> {
    fn end(&self) {
        if let Some(outgoing) = self.outgoing.upgrade() {
            if let Some(farewell) = self.farewell.lock().unwrap_or_else(PoisonError::into_inner).take() {
                // if there is no room, the peer does not listen: the end of stdin must do
                outgoing.try_send_now(farewell).ok();
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
