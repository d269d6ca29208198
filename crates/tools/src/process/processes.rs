//! Tracks what a session has started and not ended: background commands, and processes that other commands left running.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use musher_process::{Mark, kill_marked};
use tokio::net::unix::pipe;

use super::commands::{Commands, RunningCommand};
use super::{Job, Shell};

/// The processes of a session. They are ended when this is dropped.
#[derive(Default)]
pub struct Processes {
    // both mutexes are held for a few instructions only, never across an await
    kept: Mutex<Vec<Kept>>,
    /// The marks of commands that have ended. Processes they may have left are searched for only when the session ends.
    over: Mutex<VecDeque<Mark>>,
    /// The background commands by id; held like the others.
    commands: Mutex<Commands>,
}

/// A background command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Background {
    /// The process id; 0 if the editor started the command.
    pub pid: u32,
    /// The command as it was given.
    pub command: String,
    /// The file with its output; `None` if the output is discarded.
    pub output: Option<PathBuf>,
    /// Whether it is still running.
    pub is_running: bool,
}

struct Kept {
    background: Background,
    mark: Mark,
    /// `None` if the command itself has ended and only processes that it left are tracked.
    job: Option<Job>,
}

/// Maximum number of tracked commands. The oldest ended command is removed first.
const MAX_TRACKED: usize = 256;
/// Maximum number of marks of ended commands. Processes that older commands left end with this process.
const MAX_MARKS: usize = 4096;

impl Processes {
    /// Returns the background commands, oldest first. An ended command is listed once more, then removed.
    pub fn list(&self) -> Vec<Background> {
        let mut kept = self.kept();
        for one in kept.iter_mut() {
            one.background.is_running = match &one.job {
                Some(job) if job.is_running() => true,
                _ => one.mark.is_alive(),
            };
        }
        let all = kept.iter().map(|one| one.background.clone()).collect();
        let ended: Vec<Kept> = kept.extract_if(.., |one| !one.background.is_running).collect();
        drop(kept);
        ended.iter().filter_map(|one| one.job.as_ref()).for_each(Job::release);
        all
    }

    /// Ends everything, with all descendants. They are gone when this returns.
    pub async fn end_all(&self) {
        let marks = self.forget();
        // fails only if the runtime is shutting down
        tokio::task::spawn_blocking(move || kill_marked(&marks)).await.ok();
    }

    /// Returns a background command by its id.
    pub(crate) fn command(&self, id: &str) -> Option<Arc<RunningCommand>> {
        self.commands().find(id)
    }

    /// Tracks a background command, which gets an id.
    pub(super) fn keep(
        &self,
        job: Job,
        shell: Shell<'_>,
        output: PathBuf,
        input: pipe::Sender,
    ) -> Arc<RunningCommand> {
        let Shell { command, sandbox, .. } = shell;
        let (pid, handle) = (job.id(), job.handle());
        let background =
            Background { pid, command: command.to_owned(), output: Some(output.clone()), is_running: true };
        self.add(Kept { background, mark: job.mark().clone(), job: Some(job) });
        let mut commands = self.commands();
        let id = commands.next_id();
        let (input, returned) = (Mutex::new(Some(Arc::new(input))), Mutex::default());
        commands.add(RunningCommand { id, pid, handle, output, input, sandbox: sandbox.cloned(), returned })
    }

    /// Tracks what a command left running, and keeps reading its output: writing to a closed pipe would kill it.
    pub(super) fn keep_remains(&self, job: &Job, command: &str, mut output: pipe::Receiver) {
        let background =
            Background { pid: job.id(), command: command.to_owned(), output: None, is_running: true };
        self.add(Kept { background, mark: job.mark().clone(), job: None });
        tokio::spawn(async move {
            let mut nowhere = tokio::io::sink();
            // ends when all writers are gone
            tokio::io::copy(&mut output, &mut nowhere).await.ok();
        });
    }

    /// Tracks what a command in an editor's terminal left running. Its process id is unknown; it is found by its mark.
    pub(super) fn keep_marked(&self, mark: &Mark, command: &str) {
        let background = Background { pid: 0, command: command.to_owned(), output: None, is_running: true };
        self.add(Kept { background, mark: mark.clone(), job: None });
    }

    /// Remembers the mark of an ended command, which may have left processes that hold no pipe of musher's.
    pub(super) fn remember(&self, job: &Job) {
        self.remember_mark(job.mark().clone());
    }

    fn remember_mark(&self, mark: Mark) {
        let mut over = self.over();
        if over.len() >= MAX_MARKS {
            over.pop_front();
        }
        over.push_back(mark);
    }

    fn add(&self, one: Kept) {
        let mut kept = self.kept();
        if kept.len() >= MAX_TRACKED {
            let oldest_ended = kept.iter().position(|one| !one.mark.is_alive());
            let forgotten = kept.remove(oldest_ended.unwrap_or(0));
            // the process may continue; it is only not listed any more
            forgotten.job.iter().for_each(Job::release);
            self.remember_mark(forgotten.mark);
        }
        kept.push(one);
    }

    fn forget(&self) -> Vec<Mark> {
        self.commands().clear();
        let kept: Vec<Kept> = std::mem::take(&mut *self.kept());
        kept.iter().filter_map(|one| one.job.as_ref()).for_each(Job::release);
        let over = std::mem::take(&mut *self.over());
        over.into_iter().chain(kept.into_iter().map(|one| one.mark)).collect()
    }

    fn over(&self) -> MutexGuard<'_, VecDeque<Mark>> {
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commands(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        let marks = self.forget();
        if marks.is_empty() {
            return;
        }
        // without a thread, they end with this process
        thread::Builder::new().name("shell-end".to_owned()).spawn(move || kill_marked(&marks)).ok();
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processes").field("kept", &self.kept().len()).finish()
    }
}
