//! Starts agents. An agent serves one client: one task that owns the open session and everything the session runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::mpsc;

use crate::command::{Command, CommandId, UserResponse};
use crate::session::{Actor, Session};
use crate::{Busy, Environment, SessionEvent};

/// The sizes of the queues of an agent.
const MAX_WAITING_COMMANDS: usize = 256;
const MAX_WAITING_CONTROLS: usize = 256;
const MAX_WAITING_EVENTS: usize = 256;

/// Starts an agent. It has no session yet. Must be called within a Tokio runtime.
///
/// Receive the events: while too many wait, the agent stops reading from models and tools. The agent ends when the receiver or the last
/// handle is dropped, or when it is stopped. The channel of events closes when the agent has ended.
pub fn start(environment: Arc<Environment>) -> (AgentHandle, mpsc::Receiver<SessionEvent>) {
    launch(environment, None)
}

/// Starts an agent that has a session already.
pub(crate) fn start_with(
    environment: Arc<Environment>,
    session: Session,
) -> (AgentHandle, mpsc::Receiver<SessionEvent>) {
    launch(environment, Some(session))
}

fn launch(
    environment: Arc<Environment>,
    session: Option<Session>,
) -> (AgentHandle, mpsc::Receiver<SessionEvent>) {
    let (handle, AgentInbox { commands, controls }) = AgentHandle::channel();
    let (events, received) = mpsc::channel(MAX_WAITING_EVENTS);
    let (mut actor, inputs) = Actor::new(environment, events);
    if let Some(session) = session {
        actor.switch(session);
    }
    tokio::spawn(actor.run(commands, controls, inputs));
    (handle, received)
}

/// A running agent. Clones are handles on the same agent, which ends when the last one is dropped or the agent is stopped.
#[derive(Debug, Clone)]
pub struct AgentHandle {
    work: mpsc::Sender<(CommandId, Command)>,
    control: mpsc::Sender<Control>,
    /// The number of submitted commands.
    submitted: Arc<AtomicU64>,
    skips_permissions: bool,
}

/// The receiving end of an [`AgentHandle`]: what clients ask of the agent, in two queues.
#[derive(Debug)]
pub struct AgentInbox {
    /// Commands, in the order in which they were submitted.
    pub commands: mpsc::Receiver<(CommandId, Command)>,
    /// Messages that never wait behind commands.
    pub controls: mpsc::Receiver<Control>,
}

/// What must never wait behind commands.
#[derive(Debug)]
pub enum Control {
    /// Interrupt the turn.
    Interrupt {
        /// The request to answer.
        command_id: CommandId,
        /// The number of commands submitted before it: only those run before it.
        behind: u64,
    },
    /// Settle a request to the user.
    Respond {
        /// The id of the request.
        request: String,
        /// What the user answered.
        response: UserResponse,
    },
    /// The input has ended: finish the turn within a bounded time, then end.
    Drain,
    /// End now.
    Stop,
}

impl AgentHandle {
    /// Creates a handle and its receiving end. [`start`] gives the receiving end to an agent; a test may read it instead.
    pub fn channel() -> (Self, AgentInbox) {
        let (work, commands) = mpsc::channel(MAX_WAITING_COMMANDS);
        let (control, controls) = mpsc::channel(MAX_WAITING_CONTROLS);
        let handle = Self { work, control, submitted: Arc::default(), skips_permissions: false };
        (handle, AgentInbox { commands, controls })
    }

    /// Returns a handle whose sessions never ask for permission, as if the client had set `skipPermissionsUnsafe`.
    #[must_use]
    pub fn skipping_permissions(mut self) -> Self {
        self.skips_permissions = true;
        self
    }

    /// Submits a command. An interrupt has its own queue.
    ///
    /// # Errors
    ///
    /// Returns [`Busy`] if too many commands wait, or the agent has ended.
    pub fn submit(&self, command_id: CommandId, mut command: Command) -> Result<(), Busy> {
        if self.skips_permissions {
            match &mut command {
                Command::Create(session) => session.attach.skip_permissions = true,
                Command::Load(session) => session.attach.skip_permissions = true,
                _ => {}
            }
        }
        match command {
            Command::Interrupt => {
                let behind = self.submitted.load(Ordering::Acquire);
                self.control(Control::Interrupt { command_id, behind })
            }
            command => {
                self.work.try_send((command_id, command)).map_err(|_full| Busy)?;
                self.submitted.fetch_add(1, Ordering::Release);
                Ok(())
            }
        }
    }

    /// Waits until a command can be submitted. The agent may be waiting for the receiver of its events.
    pub async fn room(&self) {
        // fails if the agent has ended, which the next `submit` reports
        drop(self.work.reserve().await);
    }

    /// Responds to a [`UserRequest`](crate::UserRequest). A response to an unknown or resolved request is ignored.
    pub fn respond(&self, request: String, response: UserResponse) -> Result<(), Busy> {
        self.control(Control::Respond { request, response })
    }

    /// Ends the agent after the running turn, which gets a bounded time. No more commands are taken.
    pub fn drain(&self) -> Result<(), Busy> {
        self.control(Control::Drain)
    }

    /// Ends the agent now: stops the turn, ends running programs, closes the log.
    pub fn stop(&self) -> Result<(), Busy> {
        self.control(Control::Stop)
    }

    /// Like [`drain`](Self::drain), but waits for room in the control queue. Does nothing if the agent has ended.
    pub async fn send_drain(&self) {
        drop(self.control.send(Control::Drain).await);
    }

    /// Like [`stop`](Self::stop), but waits for room in the control queue. Does nothing if the agent has ended.
    pub async fn send_stop(&self) {
        drop(self.control.send(Control::Stop).await);
    }

    fn control(&self, control: Control) -> Result<(), Busy> {
        self.control.try_send(control).map_err(|_full| Busy)
    }
}
