//! A session: a conversation with an agent, and the process that holds it.

mod actor;
mod builder;
mod follow;
mod id;
mod notifications;
mod operations;
mod requests;
mod state;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Child, Peer};
use musher_wire::{
    CloseSession, InteractionMode, Json, Method, RenameSessionParams, UpdateSessionSettingsParams,
};
use tokio::sync::{Semaphore, broadcast, mpsc, oneshot, watch};
use tracing::Instrument;

pub(crate) use actor::{Command, NewTurn, TurnLimits};
pub use builder::{ResumeBuilder, SessionBuilder};
pub use follow::Follow;
pub use id::SessionId;
pub use notifications::Notifications;
pub use operations::{Compact, Compaction, EnterSpecMode, Fork};
pub use state::SessionState;

use crate::editor::EditorRequests;
use crate::requests::MAX_WAITING;
use crate::turn::{Dialect, TurnLog};
use crate::{Agent, Client, Error, PendingRequest, Prompt, Requests, Result};
use actor::Actor;
use builder::Setup;

#[cfg(feature = "mcp")]
use crate::mcp_server::Serving;

/// Without the feature `mcp` there is no server to keep.
#[cfg(not(feature = "mcp"))]
#[derive(Debug)]
enum Serving {}

/// How long an agent that is not a child process may take to close its session, and again to hang up.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum number of raw notifications that wait for a slow subscriber before the oldest are dropped.
const RAW_CAPACITY: usize = 1024;

/// A conversation with an agent. Clones are the same session; when the last one and all its turns are gone, the agent ends.
///
/// ```no_run
/// # async fn example() -> musher::Result<()> {
/// use musher::{Autonomy, Session};
///
/// let session = Session::builder().cwd("/workspace").autonomy(Autonomy::Low).open().await?;
/// session.send("Remember the word mango.").await?;
/// let answer = session.send("Which word did I say?").await?;
/// println!("{}", answer.text);
/// session.close().await
/// # }
/// ```
///
/// The methods here concern the session; [`Session::client`] has those of the protocol.
#[derive(Debug, Clone)]
pub struct Session {
    pub(crate) handle: Handle,
}

/// Keeps a session alive.
pub(crate) type Handle = Arc<Shared>;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) client: Client,
    pub(crate) commands: mpsc::Sender<Command>,
    pub(crate) state: watch::Receiver<SessionState>,
    /// Weak, so that subscriptions end when the agent does, not when the last handle goes.
    pub(crate) raw: broadcast::WeakSender<Arc<musher_wire::Notification>>,
    /// The subscription for requests that no turn takes.
    requests: watch::Sender<Option<mpsc::Sender<PendingRequest>>>,
    /// One turn at a time.
    pub(crate) turns: Arc<Semaphore>,
    pub(crate) setup: Setup,
    child: Option<Child>,
    /// The MCP servers of this process, served to the agent.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "always empty"))]
    serving: Vec<Serving>,
}

impl Session {
    /// Returns the options of a new session, to be opened with [`open`](SessionBuilder::open).
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// Returns the options to resume a session on disk. It works in the directory that it was created in.
    pub fn resume(id: impl Into<String>) -> ResumeBuilder {
        ResumeBuilder::new(id.into())
    }

    /// Returns a prompt, which becomes a turn when it is started or awaited.
    pub fn send(&self, prompt: impl Into<String>) -> Prompt {
        Prompt::new(self.clone(), prompt.into())
    }

    /// Returns the id of the session. It changes when a plan is handed over to a new session.
    pub fn id(&self) -> SessionId {
        self.handle.state.borrow().id.clone()
    }

    /// Returns the client of the protocol, with one method for each method of the agent.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// for skill in session.client().list_skills().await?.skills {
    ///     println!("{}", skill.name);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn client(&self) -> &Client {
        &self.handle.client
    }

    /// Returns the current state of the session.
    pub fn state(&self) -> SessionState {
        self.handle.state.borrow().clone()
    }

    /// Returns a receiver of state changes, which ends with the session.
    pub fn watch_state(&self) -> watch::Receiver<SessionState> {
        self.handle.state.clone()
    }

    /// Returns the process id of the agent, if it is a program that the SDK has started.
    pub fn process_id(&self) -> Option<u32> {
        self.handle.child.as_ref().map(Child::id)
    }

    /// Subscribes to all notifications from now on. A subscriber that is too slow misses some; [`Notifications::missed`] returns how many.
    ///
    /// [`SessionBuilder::open_watched`] has those from before the session was open.
    pub fn notifications(&self) -> Notifications {
        Notifications::new(&self.handle.raw)
    }

    /// Subscribes to the agent's requests that no turn takes, in place of the handlers. A new subscription ends the last one.
    ///
    /// Requests come here while no turn runs, such as those of subagents in the background, and in turns that do not
    /// [ask on their stream](Prompt::ask_on_stream). When the subscription is dropped, the handlers get them again.
    ///
    /// ```no_run
    /// # async fn example(session: musher::Session) -> musher::Result<()> {
    /// use musher::PendingRequest;
    ///
    /// let mut requests = session.requests();
    /// tokio::spawn(async move {
    ///     while let Some(request) = requests.next().await {
    ///         if let PendingRequest::Permission(pending) = request {
    ///             println!("denied: {:?}", pending.request().tool_uses);
    ///             pending.deny();
    ///         }
    ///     }
    /// });
    /// # Ok(()) }
    /// ```
    pub fn requests(&self) -> Requests {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        self.handle.requests.send_replace(Some(sender));
        Requests::new(receiver)
    }

    /// Changes settings, and returns the state with the settings in effect: agents ignore values that they do not know.
    pub async fn update_settings(&self, settings: UpdateSessionSettingsParams) -> Result<SessionState> {
        self.client().update_session_settings(settings).await?;
        // the settings were announced before the answer; let the session's task get there
        self.catch_up().await;
        Ok(self.state())
    }

    /// Leaves spec mode, and returns the state.
    pub async fn leave_spec_mode(&self) -> Result<SessionState> {
        self.update_settings(UpdateSessionSettingsParams {
            interaction_mode: Some(InteractionMode::Auto),
            ..UpdateSessionSettingsParams::default()
        })
        .await
    }

    /// Interrupts the running turn, even if another task follows it. Does nothing if no turn runs.
    pub async fn interrupt(&self) -> Result<()> {
        // so that the turn knows who interrupted it; a session that is over has no turn
        self.handle.commands.send(Command::Interrupting).await.ok();
        let interrupted = self.client().interrupt().await;
        self.handle.commands.send(Command::Interrupted).await.ok();
        interrupted
    }

    /// Sets the title of the session.
    pub async fn rename(&self, title: impl Into<String>) -> Result<()> {
        self.client().rename_session(RenameSessionParams::new(title)).await?;
        self.catch_up().await;
        Ok(())
    }

    /// Opens another session with the same kind of agent and the same handlers.
    async fn open_sibling(&self, id: String) -> Result<Self> {
        ResumeBuilder::with_setup(id, self.handle.setup.clone()).open().await
    }

    /// Ends the agent, and waits until it and all its child processes have ended. Later calls fail. Idempotent.
    pub async fn close(&self) -> Result<()> {
        // so that a turn knows who interrupted it; a turn that is over, or a second close, needs nothing
        self.handle.commands.send(Command::Interrupting).await.ok();
        self.end_agent().await;
        #[cfg(feature = "mcp")]
        for serving in &self.handle.serving {
            serving.stop().await;
        }
        Ok(())
    }

    async fn end_agent(&self) {
        if let Some(child) = &self.handle.child {
            child.close().await;
            return;
        }
        let peer = self.handle.client.peer();
        // an agent that does not know the call, or is gone already, is closed all the same
        peer.control().request(CloseSession::NAME, Json::empty_object(), CLOSE_TIMEOUT).await.ok();
        peer.finish(CLOSE_TIMEOUT).await;
        // it hangs up when all its child processes have ended
        tokio::time::timeout(CLOSE_TIMEOUT, peer.closed()).await.ok();
    }

    /// Leaves a session of a daemon: the daemon keeps it, and a running turn continues there. Later calls on this side fail.
    ///
    /// An agent that is a child process ends, as with the last handle.
    pub async fn detach(self) {
        let peer = self.handle.client.peer();
        peer.finish(CLOSE_TIMEOUT).await;
        tokio::time::timeout(CLOSE_TIMEOUT, self.handle.commands.closed()).await.ok();
    }

    /// Waits until the session's task has handled all messages that came before an answer.
    async fn catch_up(&self) {
        let (done, caught_up) = oneshot::channel();
        // a session that is over has nothing to catch up with
        if self.handle.commands.send(Command::CatchUp(done)).await.is_ok() {
            caught_up.await.ok();
        }
    }

    /// Starts the task of a session that the agent has already opened.
    fn start(
        peer: Peer,
        inbox: musher_rpc::Inbox,
        child: Option<Child>,
        state: SessionState,
        setup: Setup,
        serving: Vec<Serving>,
    ) -> (Self, Notifications) {
        let client = Client::new(peer);
        let (commands, received) = mpsc::channel(64);
        let (state_sender, state) = watch::channel(state);
        let (raw, from_the_start) = broadcast::channel(RAW_CAPACITY);
        let (requests, wanted) = watch::channel(None);
        let actor = Actor {
            client: client.clone(),
            inbox,
            commands: received,
            answers: commands.downgrade(),
            handlers: setup.handlers.clone(),
            state: state_sender,
            raw,
            dialect: Dialect::default(),
            turn: None,
            open: HashMap::new(),
            parked: Vec::new(),
            requests: wanted,
            editor_requests: EditorRequests::default(),
            cancel: setup.cancel.clone(),
            closed: None,
            scratch: Vec::new(),
            log: TurnLog::new(setup.agent.is_logged()),
        };
        let raw = actor.raw.downgrade();
        // ids, times and counts; content stays out of traces
        let span = tracing::info_span!("session", id = %state.borrow().id);
        tokio::spawn(actor.run().instrument(span));
        let turns = Arc::new(Semaphore::new(1));
        let handle =
            Arc::new(Shared { client, commands, state, raw, requests, turns, setup, child, serving });
        (Self { handle }, Notifications::of(from_the_start))
    }
}

/// Checks that a directory exists, before an agent is started in it.
pub(crate) fn check_directory(agent: &Agent, cwd: &Path) -> Result<()> {
    if !agent.is_local_program() || cwd.is_dir() {
        return Ok(());
    }
    Err(Error::invalid_input(format!("`{}` is not a directory", cwd.display())))
}
