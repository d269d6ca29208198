//! A session: a conversation with an agent, and the process that holds it.

mod actor;
mod builder;
mod notifications;
mod state;

use std::collections::HashMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Child, Peer};
use musher_wire::{
    CloseSession, CompactSessionParams, ForkSessionParams, InteractionMode, Json, Method, ReasoningEffort,
    RenameSessionParams, Tag, UpdateSessionSettingsParams,
};
use tokio::sync::{Semaphore, broadcast, mpsc, oneshot, watch};
use tracing::Instrument;

pub(crate) use actor::{Command, NewTurn, TurnLimits};
pub use builder::{ResumeBuilder, SessionBuilder};
pub use notifications::Notifications;
pub use state::SessionState;

use crate::turn::Dialect;
use crate::{Agent, Client, Error, Prompt, Result};
use actor::Actor;
use builder::Setup;

#[cfg(feature = "mcp")]
use crate::mcp_server::Serving;

/// There are no tools of our own to serve.
#[cfg(not(feature = "mcp"))]
#[derive(Debug)]
enum Serving {}

/// How long an agent that is no child of ours may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(2);

/// How many raw notifications wait for a slow subscriber before it misses some.
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
/// All methods of the low-level [`Client`] can be called on it, too.
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
    /// One turn at a time.
    pub(crate) turns: Arc<Semaphore>,
    pub(crate) setup: Setup,
    child: Option<Child>,
    /// Our own tools, served to the agent.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "always empty"))]
    serving: Vec<Serving>,
}

impl Session {
    /// Begins a new session.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// Goes on with a session on disk. It works in the directory it was made in.
    pub fn resume(id: impl Into<String>) -> ResumeBuilder {
        ResumeBuilder::new(id.into())
    }

    /// A prompt, which becomes a turn when it is started or awaited.
    pub fn send(&self, prompt: impl Into<String>) -> Prompt {
        Prompt::new(self.clone(), prompt.into())
    }

    /// The id of the session.
    pub fn id(&self) -> String {
        self.handle.state.borrow().id.clone()
    }

    /// What is known about the session now.
    pub fn state(&self) -> SessionState {
        self.handle.state.borrow().clone()
    }

    /// Follows what is known about the session.
    pub fn watch_state(&self) -> watch::Receiver<SessionState> {
        self.handle.state.clone()
    }

    /// The process id of the agent, if it is a program we started.
    pub fn process_id(&self) -> Option<u32> {
        self.handle.child.as_ref().map(Child::id)
    }

    /// All notifications from now on, as they come. A subscriber that is too slow misses some and is told how many.
    ///
    /// Those that came before the session was open are had with [`SessionBuilder::open_watched`].
    pub fn notifications(&self) -> Notifications {
        Notifications::new(&self.handle.raw)
    }

    /// Changes settings. What comes back is what holds now; the agent drops values it does not know without a word.
    pub async fn update_settings(&self, settings: UpdateSessionSettingsParams) -> Result<SessionState> {
        self.update_session_settings(settings).await?;
        // the settings were announced before the answer; let the session's task get there
        self.catch_up().await;
        Ok(self.state())
    }

    /// Goes to spec mode: the agent plans and asks before it does anything.
    pub async fn enter_spec_mode(
        &self,
        model: Option<String>,
        effort: Option<ReasoningEffort>,
    ) -> Result<SessionState> {
        self.update_settings(UpdateSessionSettingsParams {
            interaction_mode: Some(InteractionMode::Spec),
            spec_mode_model_id: model,
            spec_mode_reasoning_effort: effort,
            ..UpdateSessionSettingsParams::default()
        })
        .await
    }

    /// Leaves spec mode.
    pub async fn leave_spec_mode(&self) -> Result<SessionState> {
        self.update_settings(UpdateSessionSettingsParams {
            interaction_mode: Some(InteractionMode::Auto),
            ..UpdateSessionSettingsParams::default()
        })
        .await
    }

    /// Stops the running turn, whoever follows it. Harmless when none runs.
    pub async fn interrupt(&self) -> Result<()> {
        // so that the turn knows that it was us; a session that is over has no turn
        self.handle.commands.send(Command::Interrupting).await.ok();
        self.handle.client.interrupt().await
    }

    /// Gives the session a title.
    pub async fn rename(&self, title: impl Into<String>) -> Result<()> {
        self.rename_session(RenameSessionParams::new(title)).await?;
        self.catch_up().await;
        Ok(())
    }

    /// Copies the session and opens the copy with an agent of its own. This one stays usable.
    pub async fn fork(&self) -> Result<Self> {
        self.fork_with(ForkSessionParams::default()).await
    }

    /// [`fork`](Self::fork) with a title and tags for the copy.
    pub async fn fork_titled(&self, title: impl Into<String>, tags: Vec<Tag>) -> Result<Self> {
        let tags = (!tags.is_empty()).then_some(tags);
        self.fork_with(ForkSessionParams { title: Some(title.into()), tags, ..ForkSessionParams::default() })
            .await
    }

    async fn fork_with(&self, params: ForkSessionParams) -> Result<Self> {
        let forked = self.fork_session(params).await?;
        self.open_sibling(forked.new_session_id).await
    }

    /// Sums the conversation up into a new session, opened with an agent of its own. This one stays as it is.
    pub async fn compact(&self, instructions: Option<String>) -> Result<Compacted> {
        let params =
            CompactSessionParams { custom_instructions: instructions, ..CompactSessionParams::default() };
        let compacted = self.compact_session(params).await?;
        let removed = compacted.removed_count.map_or(0, |count| count.get());
        Ok(Compacted {
            session: self.open_sibling(compacted.new_session_id).await?,
            removed_messages: removed,
        })
    }

    /// Opens another session with the same kind of agent and the same handlers.
    async fn open_sibling(&self, id: String) -> Result<Self> {
        ResumeBuilder::with_setup(id, self.handle.setup.clone()).open().await
    }

    /// Ends the agent, and waits until it and all it started are gone. Later calls fail. Idempotent.
    pub async fn close(&self) -> Result<()> {
        // so that a turn knows that it was us; one that is over, or a second close, needs nothing
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
        peer.control().request(CloseSession::NAME, Json::empty_object(), GOODBYE).await.ok();
        peer.finish(GOODBYE).await;
        // it hangs up when all that it has started has ended
        tokio::time::timeout(GOODBYE, peer.closed()).await.ok();
    }

    /// Lets the session's task look at all that came before an answer we already have.
    async fn catch_up(&self) {
        let (done, caught_up) = oneshot::channel();
        // a session that is over has nothing to catch up with
        if self.handle.commands.send(Command::CatchUp(done)).await.is_ok() {
            caught_up.await.ok();
        }
    }

    /// Starts the task of a session whose process is in it already.
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
            questions: HashMap::new(),
            cancel: setup.cancel.clone(),
            closed: None,
            scratch: Vec::new(),
        };
        let raw = actor.raw.downgrade();
        // ids, times and counts; what is said stays out of traces
        let span = tracing::info_span!("session", id = %state.borrow().id);
        tokio::spawn(actor.run().instrument(span));
        let turns = Arc::new(Semaphore::new(1));
        let handle = Arc::new(Shared { client, commands, state, raw, turns, setup, child, serving });
        (Self { handle }, Notifications::of(from_the_start))
    }
}

impl Deref for Session {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.handle.client
    }
}

/// A session that was summed up.
#[derive(Debug)]
#[non_exhaustive]
pub struct Compacted {
    /// The new session, which begins with the summary.
    pub session: Session,
    /// How many messages the summary stands for.
    pub removed_messages: u64,
}

/// Whether a directory can be used, told before an agent is started for it.
pub(crate) fn check_directory(agent: &Agent, cwd: &Path) -> Result<()> {
    if !agent.is_local_program() || cwd.is_dir() {
        return Ok(());
    }
    Err(Error::invalid_input(format!("`{}` is not a directory", cwd.display())))
}
