//! A thread with a runtime, for callers that have none.

use std::future::Future;
use std::sync::mpsc;
use std::thread::JoinHandle;

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::CancellationToken;

use crate::error::Kind;
use crate::{Error, Result};

/// The thread. It ends, with all that runs on it, when this is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    handle: Handle,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(super) fn start() -> Result<Self> {
        let failed = |source| Error::because(Kind::Session, source);
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let handle = runtime.handle().clone();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let work = move || {
            runtime.block_on(stopped.cancelled());
            // a blocking task that still runs must not hold up the caller
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("musher".to_owned()).spawn(work).map_err(failed)?;
        Ok(Self { handle, stop, thread: Some(thread) })
    }

    /// Runs a future on the thread, and waits for it.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T> {
        if self.is_this_thread() {
            return Err(Error::session("a handler waits for the session that waits for the handler"));
        }
        let (sender, result) = mpsc::sync_channel(1);
        self.handle.spawn(async move {
            // the caller waits below
            sender.send(work.await).ok();
        });
        result.recv().map_err(|_gone| Error::session("its thread ended, or a panic ended the call"))
    }
}

impl Worker {
    fn is_this_thread(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| thread.thread().id() == std::thread::current().id())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.cancel();
        let is_this_thread = self.is_this_thread();
        if let Some(thread) = self.thread.take().filter(|_| !is_this_thread) {
            // it has nothing left to do but to end
            thread.join().ok();
        }
    }
}
