//! The handle on a running agent, and how one is started.
//!
//! An agent is what one client talks to: one task that owns the session which is open, and everything it runs.

use tokio::sync::mpsc;

use crate::Busy;
use crate::command::{Answer, Command, Ticket};

/// A running agent. Clones speak to the same one; it ends when the last is dropped, and when it is told to.
#[derive(Debug, Clone)]
pub struct AgentHandle {
    work: mpsc::Sender<(Ticket, Command)>,
    control: mpsc::Sender<Control>,
}

/// What must never wait behind work.
#[derive(Debug)]
#[expect(dead_code, reason = "read by the session's task")]
pub(crate) enum Control {
    Interrupt(Ticket),
    Answer {
        question: String,
        answer: Answer,
    },
    /// No more input: finish the turn within a bounded time, then end.
    Drain,
    /// End now.
    Stop,
}

impl AgentHandle {
    /// Asks for something. Refuses at once if too much waits already; an interrupt has a lane of its own.
    pub fn submit(&self, ticket: Ticket, command: Command) -> Result<(), Busy> {
        match command {
            Command::Interrupt => self.control(Control::Interrupt(ticket)),
            command => self.work.try_send((ticket, command)).map_err(|_full| Busy),
        }
    }

    /// Settles a question. One that is unknown or settled is ignored.
    pub fn answer(&self, question: String, answer: Answer) -> Result<(), Busy> {
        self.control(Control::Answer { question, answer })
    }

    /// There will be no more input: the turn is finished within a bounded time, then the agent ends.
    pub fn drain(&self) -> Result<(), Busy> {
        self.control(Control::Drain)
    }

    /// Ends the agent now: the turn is stopped, commands are ended, the log is closed.
    pub fn stop(&self) -> Result<(), Busy> {
        self.control(Control::Stop)
    }

    fn control(&self, control: Control) -> Result<(), Busy> {
        self.control.try_send(control).map_err(|_full| Busy)
    }
}
