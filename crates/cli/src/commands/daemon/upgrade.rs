//! An upgrade: on SIGUSR2, the daemon becomes the program that is at its path now, and keeps its lock and its sockets.
//!
//! The process stays the same, so that nothing that watches it notices, and two daemons never share the files of one home.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use musher_engine::store::shared::DaemonLock;
use musher_server::daemon::{Daemon, Listener};
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) use musher_process::inherited;

/// How long the turns that run may take to end.
pub(super) const TURNS_TIMEOUT: Duration = Duration::from_mins(10);

/// What an upgrade needs.
#[derive(Debug)]
pub(super) struct Upgrade {
    asked: Signal,
    program: PathBuf,
    args: Vec<OsString>,
    /// The lock, then the sockets, in the order of the addresses.
    files: Vec<OwnedFd>,
}

impl Upgrade {
    pub(super) fn new(lock: &DaemonLock, listeners: &[Listener]) -> io::Result<Self> {
        let mut files = vec![lock.as_fd().try_clone_to_owned()?];
        for listener in listeners {
            files.push(listener.socket()?);
        }
        Ok(Self {
            asked: signal(SignalKind::user_defined2())?,
            // now: later there may be another file at this path
            program: std::env::current_exe()?,
            args: std::env::args_os().skip(1).collect(),
            files,
        })
    }

    /// Waits for the signal and becomes the new program. If that fails, the daemon continues.
    pub(super) async fn when_asked(mut self, daemon: &Daemon) -> Infallible {
        loop {
            if self.asked.recv().await.is_none() {
                std::future::pending::<()>().await;
            }
            tracing::info!("an upgrade is asked for: turns that run end first");
            if !daemon.pause(TURNS_TIMEOUT).await {
                continue;
            }
            let files: Vec<_> = self.files.iter().map(OwnedFd::as_fd).collect();
            let error = musher_process::replace(&self.program, &self.args, crate::hide::variables(), &files);
            tracing::error!(%error, program = %self.program.display(), "cannot start the new program");
            daemon.go_on();
        }
    }
}
