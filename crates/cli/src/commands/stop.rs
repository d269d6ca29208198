//! The signals that ask a serving command to stop, on each system.

use std::io;

use crate::exit::Exit;

/// The kind of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "there is only one on this system"))]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
    HangUp,
}

/// The exit code of a command that a signal ended: by convention 128 plus the number of the signal.
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
    /// Waits for a signal.
    pub(crate) async fn wait(self) {
        self.which().await;
    }
}

/// The signals that request a stop.
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

    /// Waits for a signal and returns it.
    pub(crate) async fn which(mut self) -> Signal {
        self.next().await
    }

    /// Waits for the next signal. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
            _ = self.hang_up.recv() => Signal::HangUp,
        }
    }
}

/// The signals that request a stop.
#[cfg(windows)]
pub(crate) struct Stop(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Stop {
    pub(crate) fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    /// Waits for a signal and returns it.
    pub(crate) async fn which(mut self) -> Signal {
        self.next().await
    }

    /// Waits for the next signal. Cancel-safe.
    pub(crate) async fn next(&mut self) -> Signal {
        self.0.recv().await;
        Signal::Interrupt
    }
}
