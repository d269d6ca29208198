//! Reads a program's standard error so that its pipe never fills, and keeps the end of it for reports.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::ChildStderr;
use tokio::task::JoinHandle;
use tokio::time::timeout;

const KEEP: usize = 16 * 1024;

/// The last part of the output.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Tail {
    pub(super) fn follow(mut stderr: ChildStderr) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&kept);
        let reader = tokio::spawn(async move {
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&chunk[..count]);
                let excess = kept.len().saturating_sub(KEEP);
                kept.drain(..excess);
            }
        });
        Self { kept, reader }
    }

    /// Returns the output so far.
    pub(super) fn so_far(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }

    /// Returns the output until the pipe was closed; waits only for a limited time for a descendant that keeps it open.
    pub(super) async fn finish(&mut self, limit: Duration) -> String {
        timeout(limit, &mut self.reader).await.ok();
        self.so_far()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.reader.abort();
    }
}
