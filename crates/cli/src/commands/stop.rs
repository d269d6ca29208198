//! The signals that ask a serving command to stop, on each system.

use std::io;

use crate::exit::Exit;

/// Which signal it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "there is only one on this system"))]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
    HangUp,
}

/// What was done was cut short by a signal: by convention 128 and its number.
impl From<Signal> for Exit {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Interrupt => Self::Interrupted,
            Signal::Terminate => Self::Terminated,
            Signal::HangUp => Self::HungUp,
        }
    }
}

impl Stop {
    /// Waits for one.
    pub(crate) async fn wait(self) {
        self.which().await;
    }
}

/// The signals which ask us to stop.
#[cfg(unix)]
pub(crate) struct Stop {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Stop {
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for one, and tells which it was.
    pub(crate) async fn which(mut self) -> Signal {
        self.next().await
    }

    /// The next one. Nothing is lost if it is not waited for to the end.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hang_up.recv() => Signal::HangUp,
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

    /// Waits for one, and tells which it was.
    pub(crate) async fn which(mut self) -> Signal {
        self.next().await
    }

    /// The next one. Nothing is lost if it is not waited for to the end.
    pub(crate) async fn next(&mut self) -> Signal {
        self.0.recv().await;
        Signal::Interrupt
    }
}
