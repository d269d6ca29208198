//! Waits for one process and ends it, on threads of its own, so that it does not depend on the runtime.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use musher_process::Child;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

use super::Exit;
use super::stderr::Tail;

/// How long the children of a process may keep its pipes open after it has exited.
const PIPES_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a killed process may take to exit.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a process may take to exit after each step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grace {
    pub(super) stdin: Duration,
    /// If zero, no SIGINT is sent.
    pub(super) interrupt: Duration,
    pub(super) term: Duration,
}

impl Grace {
    pub(super) const NONE: Self =
        Self { stdin: Duration::ZERO, interrupt: Duration::ZERO, term: Duration::ZERO };
}

impl Default for Grace {
    fn default() -> Self {
        Self { stdin: Duration::from_secs(6), interrupt: Duration::ZERO, term: Duration::from_secs(2) }
    }
}

#[derive(Debug)]
pub(super) struct Process {
    program: PathBuf,
    child: Child,
    tail: Tail,
    state: Mutex<State>,
    changed: Condvar,
    exit: watch::Sender<Option<Arc<Exit>>>,
}

#[derive(Debug)]
struct State {
    has_exited: bool,
    open_pipes: usize,
}

impl Process {
    /// Takes over a process whose stdout and stderr are about to be read.
    pub(super) fn watch(
        child: Child,
        program: PathBuf,
        tail: Tail,
    ) -> io::Result<(Arc<Self>, [OpenPipe; 2])> {
        let process = Arc::new(Self {
            program,
            child,
            tail,
            state: Mutex::new(State { has_exited: false, open_pipes: 2 }),
            changed: Condvar::new(),
            exit: watch::Sender::new(None),
        });
        let pipes = [OpenPipe(Arc::clone(&process)), OpenPipe(Arc::clone(&process))];
        let keeper = Arc::clone(&process);
        // if there is no thread, all handles are dropped, which kills the process
        thread::Builder::new().name("agent-keeper".to_owned()).spawn(move || keeper.keep())?;
        Ok((process, pipes))
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn stderr_tail(&self) -> String {
        self.tail.text()
    }

    pub(super) async fn exited(&self) -> Arc<Exit> {
        let mut changes = self.exit.subscribe();
        match changes.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(exit)) => Arc::clone(exit),
            // not possible: the value was checked, and we hold the sending half
            Ok(None) | Err(_) => Arc::new(self.exit_with(None)),
        }
    }

    /// Ends the process, on a thread of its own: it works in a destructor, in a panic, and without a runtime.
    pub(super) fn end_in_background(self: &Arc<Self>, grace: Grace) {
        if self.state().has_exited {
            return;
        }
        let process = Arc::clone(self);
        let started = thread::Builder::new().name("agent-end".to_owned()).spawn(move || process.end(grace));
        if started.is_err() {
            self.child.kill();
        }
    }

    fn end(&self, grace: Grace) {
        if self.is_over_within(grace.stdin) {
            return;
        }
        if !grace.interrupt.is_zero() {
            self.child.interrupt();
            if self.is_over_within(grace.interrupt) {
                return;
            }
        }
        if !grace.term.is_zero() {
            self.child.terminate();
            if self.is_over_within(grace.term) {
                return;
            }
        }
        self.child.kill();
        if !self.is_over_within(KILL_TIMEOUT) {
            self.publish(self.exit_with(None));
        }
    }

    /// Waits for the process, ends its children, and publishes the exit.
    fn keep(&self) {
        self.child.wait();
        self.state().has_exited = true;
        self.changed.notify_all();
        self.wait_until(PIPES_TIMEOUT, |state| state.open_pipes == 0);
        let status = self.child.reap();
        // the tail is complete once the stderr pipe has been read to its end
        self.wait_until(PIPES_TIMEOUT, |state| state.open_pipes == 0);
        self.publish(self.exit_with(status.ok()));
    }

    fn is_over_within(&self, time: Duration) -> bool {
        self.wait_until(time, |state| state.has_exited)
    }

    /// Waits for a condition. Returns whether it became true in time.
    fn wait_until(&self, time: Duration, condition: impl Fn(&State) -> bool) -> bool {
        let deadline = Instant::now() + time;
        let mut state = self.state();
        while !condition(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // every change is a single assignment, so a panic leaves the state consistent
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn exit_with(&self, status: Option<std::process::ExitStatus>) -> Exit {
        Exit { program: self.program.clone(), status, stderr_tail: self.tail.text() }
    }

    fn publish(&self, exit: Exit) {
        self.exit.send_if_modified(|current| {
            let is_first = current.is_none();
            current.get_or_insert_with(|| Arc::new(exit));
            is_first
        });
    }
}

/// Counts a pipe from the process as open, until dropped.
#[derive(Debug)]
pub(super) struct OpenPipe(Arc<Process>);

impl Drop for OpenPipe {
    fn drop(&mut self) {
        self.0.state().open_pipes -= 1;
        self.0.changed.notify_all();
    }
}

/// A reader that drops its `OpenPipe` at the end of the stream.
#[derive(Debug)]
pub(super) struct Tracked<R> {
    reader: R,
    pipe: Option<OpenPipe>,
}

impl<R> Tracked<R> {
    pub(super) fn new(reader: R, pipe: OpenPipe) -> Self {
        Self { reader, pipe: Some(pipe) }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Tracked<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = out.filled().len();
        let polled = Pin::new(&mut self.reader).poll_read(context, out);
        if matches!(polled, Poll::Ready(Ok(()))) && out.filled().len() == before {
            self.pipe = None;
        }
        polled
    }
}
