//! The signals that ask a serving command to stop, on each system.

use std::io;

/// The signals which ask us to stop.
#[cfg(unix)]
pub(crate) struct Stop {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Stop {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    pub(crate) async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// The signals which ask us to stop.
#[cfg(windows)]
pub(crate) struct Stop(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Stop {
    pub(crate) fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    pub(crate) async fn wait(mut self) {
        self.0.recv().await;
    }
}
