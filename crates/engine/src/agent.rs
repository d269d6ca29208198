//! The handle on a running agent, and how one is started.
//!
//! An agent is what one client talks to: one task that owns the session which is open, and everything it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;

use crate::command::{Answer, Command, Ticket};
use crate::session::{Actor, Session};
use crate::{Busy, Environment, Event};

/// So many commands may wait, and so many events may be on their way.
const WAITING_COMMANDS: usize = 256;
const WAITING_CONTROLS: usize = 256;
const WAITING_EVENTS: usize = 256;

/// Starts an agent. It has no session yet. Must be called within a Tokio runtime.
///
/// The events have to be read: while too many wait, the agent stops reading from models and tools. It ends when the receiver
/// or the last handle is dropped, or when it is told to; the end of the events is the end of the agent.
pub fn start(environment: Arc<Environment>) -> (AgentHandle, mpsc::Receiver<Event>) {
    launch(environment, None)
}

/// Starts an agent that has a session already.
pub(crate) fn start_with(
    environment: Arc<Environment>,
    session: Session,
) -> (AgentHandle, mpsc::Receiver<Event>) {
    launch(environment, Some(session))
}

fn launch(environment: Arc<Environment>, session: Option<Session>) -> (AgentHandle, mpsc::Receiver<Event>) {
    let (work, commands) = mpsc::channel(WAITING_COMMANDS);
    let (control, controls) = mpsc::channel(WAITING_CONTROLS);
    let (events, received) = mpsc::channel(WAITING_EVENTS);
    let (mut actor, inputs) = Actor::new(environment, events);
    if let Some(session) = session {
        actor.switch(session);
    }
    tokio::spawn(actor.run(commands, controls, inputs));
    (AgentHandle { work, control, submitted: Arc::default() }, received)
}

/// A running agent. Clones speak to the same one; it ends when the last is dropped, and when it is told to.
#[derive(Debug, Clone)]
pub struct AgentHandle {
    work: mpsc::Sender<(Ticket, Command)>,
    control: mpsc::Sender<Control>,
    /// How many commands were put into the lane of work.
    submitted: Arc<AtomicU64>,
}

/// What must never wait behind work.
#[derive(Debug)]
pub(crate) enum Control {
    Interrupt {
        ticket: Ticket,
        /// How many commands were asked for before it: those stay before it, and no others.
        behind: u64,
    },
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
            Command::Interrupt => {
                let behind = self.submitted.load(Ordering::Acquire);
                self.control(Control::Interrupt { ticket, behind })
            }
            command => {
                self.work.try_send((ticket, command)).map_err(|_full| Busy)?;
                self.submitted.fetch_add(1, Ordering::Release);
                Ok(())
            }
        }
    }

    /// Waits until something can be asked for. The agent may be held up by whoever does not read its events.
    pub async fn room(&self) {
        // fails if the agent has ended, which is told by asking
        drop(self.work.reserve().await);
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
