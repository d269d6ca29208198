//! The same sessions without `async`, for scripts, build programs and tests of synchronous code.
//!
//! Each session has a thread with a runtime of its own, which works between calls, too: it reads from the agent, handlers
//! run, timers fire. Handlers must not call the session that they belong to. Close sessions: dropping one ends its agent, too,
//! but does not wait for that. Do not use this module in a program that has a runtime already: there every call would block a worker, and the
//! async types do the same at less cost.
//!
//! ```
//! use musher::Event;
//! use musher::blocking::Session;
//! # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/text_turn.jsonl")?.agent();
//!
//! let session = Session::open(musher::Session::builder().agent(droid))?;
//! let mut turn = session.start(session.prompt("Say hello.").partial())?;
//! for event in &mut turn {
//!     if let Event::TextDelta(delta) = event? {
//!         print!("{}", delta.text);
//!     }
//! }
//! assert_eq!(turn.result().unwrap().text, "Hello from the scripted model.");
//! session.close()?;
//! # Ok::<(), musher::Error>(())
//! ```

mod worker;

use std::fmt;
use std::future::{Future, IntoFuture};
use std::sync::Arc;

use worker::Worker;

use crate::{Event, Prompt, Result, ResumeBuilder, Run, SessionBuilder, SessionId, SessionState, TurnResult};

/// Runs one prompt and waits for its result.
///
/// ```
/// # let droid = musher::Replay::load("../../fixtures/wire/droid-0.225.2/text_turn.jsonl")?.agent();
/// let answer = musher::blocking::run(musher::run("Say hello.").session(|session| session.agent(droid)))?;
/// assert_eq!(answer.text, "Hello from the scripted model.");
/// # Ok::<(), musher::Error>(())
/// ```
pub fn run(run: Run) -> Result<TurnResult> {
    Worker::start()?.wait(run.into_future())?
}

/// A session on a thread of its own. Clones are the same session.
#[derive(Debug, Clone)]
pub struct Session {
    session: crate::Session,
    worker: Arc<Worker>,
}

impl Session {
    /// Opens a new session.
    pub fn open(builder: SessionBuilder) -> Result<Self> {
        Self::begin(builder.open())
    }

    /// Resumes a session on disk.
    pub fn resume(builder: ResumeBuilder) -> Result<Self> {
        Self::begin(builder.open())
    }

    fn begin(opening: impl Future<Output = Result<crate::Session>> + Send + 'static) -> Result<Self> {
        let worker = Arc::new(Worker::start()?);
        let session = worker.wait(opening)??;
        Ok(Self { session, worker })
    }

    /// Returns a prompt with its options, for [`send`](Self::send) or [`start`](Self::start).
    pub fn prompt(&self, text: impl Into<String>) -> Prompt {
        self.session.send(text)
    }

    /// Sends a prompt and waits for the end of its turn.
    pub fn send(&self, prompt: Prompt) -> Result<TurnResult> {
        self.worker.wait(prompt.into_future())?
    }

    /// Sends a prompt, and returns its turn.
    pub fn start(&self, prompt: Prompt) -> Result<Turn> {
        let turn = self.worker.wait(prompt.start())??;
        let cancel = turn.cancel_token();
        Ok(Turn { inner: Some(turn), result: None, cancel, worker: Arc::clone(&self.worker) })
    }

    /// Runs a function on the async session, and waits for its result.
    ///
    /// ```no_run
    /// # fn example(session: musher::blocking::Session) -> musher::Result<()> {
    /// let skills = session.wait(|session| async move { session.client().list_skills().await })?;
    /// # Ok(()) }
    /// ```
    pub fn wait<T, F>(&self, call: impl FnOnce(crate::Session) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.worker.wait(call(self.session.clone()))?
    }

    /// Returns the id of the session.
    pub fn id(&self) -> SessionId {
        self.session.id()
    }

    /// Returns the current state of the session.
    pub fn state(&self) -> SessionState {
        self.session.state()
    }

    /// Ends the agent, and waits until it has ended.
    pub fn close(&self) -> Result<()> {
        let session = self.session.clone();
        self.worker.wait(async move { session.close().await })?
    }
}

/// A running turn: an iterator of [`Event`]s that always ends, with [`Event::Result`] or with an error.
///
/// Dropping it interrupts the turn.
#[must_use = "a turn that is dropped is interrupted"]
pub struct Turn {
    /// `None` only while the worker waits for the next event.
    inner: Option<crate::Turn>,
    result: Option<TurnResult>,
    cancel: crate::CancellationToken,
    worker: Arc<Worker>,
}

impl Turn {
    /// Returns a token that interrupts the turn when it is cancelled, from any thread. The iterator still runs to its end, and the result says so.
    pub fn cancel_token(&self) -> crate::CancellationToken {
        self.cancel.clone()
    }

    /// Returns the result, once the iterator has reached it.
    pub fn result(&self) -> Option<&TurnResult> {
        self.result.as_ref()
    }
}

impl Iterator for Turn {
    type Item = Result<Event>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut turn = self.inner.take()?;
        let waited = self.worker.wait(async move {
            let event = turn.next().await;
            (turn, event)
        });
        let (turn, event) = match waited {
            Ok(next) => next,
            Err(error) => return Some(Err(error)),
        };
        if let Some(Ok(Event::Result(result))) = &event {
            self.result = Some((**result).clone());
        }
        // after the end there is nothing to ask for
        self.inner = event.is_some().then_some(turn);
        event
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("result", &self.result).finish_non_exhaustive()
    }
}
