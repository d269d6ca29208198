//! The options of a session, new or resumed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::Peer;
use musher_wire::{
    AutonomyLevel, InitializeSession, InitializeSessionParams, InitializeSessionResult, InteractionMode,
    Json, LoadSession, LoadSessionParams, LoadSessionResult, McpServerConfig, ReasoningEffort, RpcError,
    SessionOrigin, Tag,
};

use tokio_util::sync::CancellationToken;

use super::{Notifications, Serving, Session, SessionState, check_directory};
use crate::error::Kind;
use crate::handlers::{Handlers, PermissionHandler, QuestionHandler};
use crate::{Agent, Budget, Client, Error, Result};

/// What a session keeps of its options: enough to open a fork of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setup {
    pub(crate) agent: Agent,
    pub(crate) handlers: Handlers,
    pub(crate) mcp_servers: Vec<McpServerConfig>,
    #[cfg(feature = "mcp")]
    pub(crate) mcp_tools: Vec<crate::InProcess>,
    pub(crate) turn_timeout: Option<Duration>,
    pub(crate) stall_timeout: Option<Duration>,
    pub(crate) budget: Budget,
    pub(crate) rejects_while_busy: bool,
    pub(crate) cancel: CancellationToken,
}

impl Setup {
    /// Starts the servers of our own tools, and lists all servers of the session.
    fn serve(&self) -> Result<(Vec<McpServerConfig>, Vec<Serving>)> {
        #[cfg(feature = "mcp")]
        let serving = self.mcp_tools.iter().map(crate::InProcess::serve).collect::<Result<Vec<_>>>()?;
        #[cfg(not(feature = "mcp"))]
        let serving = Vec::new();
        let servers = self.mcp_servers.iter().cloned();
        #[cfg(feature = "mcp")]
        let servers = servers.chain(serving.iter().map(|serving| serving.config().clone()));
        Ok((servers.collect(), serving))
    }
}

/// Options that new and resumed sessions share.
macro_rules! shared_options {
    () => {
        /// The agent to use; `droid` in `PATH` if not set.
        pub fn agent(mut self, agent: Agent) -> Self {
            self.setup.agent = agent;
            self
        }

        /// The program of the agent, which must speak the protocol when it is called like `droid exec`.
        pub fn executable(self, program: impl AsRef<Path>) -> Self {
            self.agent(Agent::program(program))
        }

        /// The key for the vendor's service. Without one the agent uses its stored login.
        pub fn api_key(mut self, key: impl Into<String>) -> Self {
            self.setup.agent = self.setup.agent.api_key(key);
            self
        }

        /// An environment variable of the agent.
        pub fn env(mut self, key: impl AsRef<std::ffi::OsStr>, value: impl AsRef<std::ffi::OsStr>) -> Self {
            self.setup.agent = self.setup.agent.env(key, value);
            self
        }

        /// Decides about tools. Without a handler every request is refused.
        pub fn on_permission(mut self, handler: impl PermissionHandler) -> Self {
            self.setup.handlers.permission = Some(Arc::new(handler));
            self
        }

        /// Answers the agent's questions. Without a handler they are declined.
        pub fn on_question(mut self, handler: impl QuestionHandler) -> Self {
            self.setup.handlers.questions = Some(Arc::new(handler));
            self
        }

        /// How long a handler may take before it counts as a no. There is no limit if this is not set: people think.
        pub fn handler_timeout(mut self, after: Duration) -> Self {
            self.setup.handlers.deadline = Some(after);
            self
        }

        /// Adds an MCP server for this session.
        pub fn mcp_server(mut self, server: McpServerConfig) -> Self {
            self.setup.mcp_servers.push(server);
            self
        }

        /// Adds tools of this process. They are served to the agent as long as the session lives.
        #[cfg(feature = "mcp")]
        pub fn mcp_tools(mut self, server: crate::InProcess) -> Self {
            self.setup.mcp_tools.push(server);
            self
        }

        /// How long each turn may take; then it is interrupted.
        pub fn turn_timeout(mut self, after: Duration) -> Self {
            self.setup.turn_timeout = Some(after);
            self
        }

        /// How long a turn may show no progress; then it is interrupted. Retries and heartbeats are no progress, and the
        /// time a handler takes does not count.
        pub fn stall_timeout(mut self, after: Duration) -> Self {
            self.setup.stall_timeout = Some(after);
            self
        }

        /// How much each turn may use; then it is interrupted.
        pub fn budget(mut self, budget: Budget) -> Self {
            self.setup.budget = budget;
            self
        }

        /// When this is cancelled, the session is not opened any more, a running turn is interrupted, and later prompts are
        /// refused. Forks share it.
        pub fn cancel_token(mut self, token: CancellationToken) -> Self {
            self.setup.cancel = token;
            self
        }

        /// A prompt that comes while a turn runs is refused. If this is not set, it waits in line.
        pub fn reject_while_busy(mut self) -> Self {
            self.setup.rejects_while_busy = true;
            self
        }
    };
}

/// The options of a new session. See [`Session::builder`].
#[derive(Debug, Clone)]
#[must_use = "a session begins when it is opened"]
pub struct SessionBuilder {
    setup: Setup,
    cwd: PathBuf,
    params: InitializeSessionParams,
}

impl Default for SessionBuilder {
    fn default() -> Self {
        let params = InitializeSessionParams::new("default", "");
        Self { setup: Setup::default(), cwd: PathBuf::from("."), params }
    }
}

impl SessionBuilder {
    shared_options!();

    /// The directory to work in; the one we are in if not set.
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        cwd.as_ref().clone_into(&mut self.cwd);
        self
    }

    /// What the agent is told about this machine; `default` if not set.
    pub fn machine_id(mut self, id: impl Into<String>) -> Self {
        self.params.machine_id = id.into();
        self
    }

    /// The id of the session. The agent makes one if this is not set.
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.params.session_id = Some(id.into());
        self
    }

    /// The model.
    pub fn model(mut self, id: impl Into<String>) -> Self {
        self.params.model_id = Some(id.into());
        self
    }

    /// How long the model may think.
    pub fn reasoning_effort(mut self, effort: ReasoningEffort) -> Self {
        self.params.reasoning_effort = Some(effort);
        self
    }

    /// How much runs without asking.
    pub fn autonomy(mut self, level: AutonomyLevel) -> Self {
        self.params.autonomy_level = Some(level);
        self
    }

    /// How the session works: doing or planning.
    pub fn interaction_mode(mut self, mode: InteractionMode) -> Self {
        self.params.interaction_mode = Some(mode);
        self
    }

    /// Begins in spec mode: the agent plans and asks before it does anything.
    pub fn spec_mode(self) -> Self {
        self.interaction_mode(InteractionMode::Spec)
    }

    /// The model for planning.
    pub fn spec_mode_model(mut self, id: impl Into<String>) -> Self {
        self.params.spec_mode_model_id = Some(id.into());
        self
    }

    /// How long the model may think when it plans.
    pub fn spec_mode_reasoning_effort(mut self, effort: ReasoningEffort) -> Self {
        self.params.spec_mode_reasoning_effort = Some(effort);
        self
    }

    /// Tools to switch on that are off by default, by their ids.
    pub fn enabled_tools(mut self, ids: impl IntoIterator<Item: Into<String>>) -> Self {
        self.params.enabled_tool_ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Tools to switch off, by their ids.
    pub fn disabled_tools(mut self, ids: impl IntoIterator<Item: Into<String>>) -> Self {
        self.params.disabled_tool_ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// The only tools there are, by their ids.
    pub fn restrict_tools(mut self, ids: impl IntoIterator<Item: Into<String>>) -> Self {
        self.params.restrict_tool_ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Tools to offer besides the usual ones, by their ids.
    pub fn additional_tools(mut self, ids: impl IntoIterator<Item: Into<String>>) -> Self {
        self.params.additional_tool_ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Replaces the agent's system prompt.
    pub fn system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.params.system_prompt = Some(Json::from(serde_json::Value::from(prompt.into())));
        self
    }

    /// Adds to the agent's system prompt.
    pub fn append_system_prompt(mut self, more: impl Into<String>) -> Self {
        let preset = serde_json::json!({"type": "preset", "preset": "droid", "append": more.into()});
        self.params.system_prompt = Some(Json::from(preset));
        self
    }

    /// Puts a label on the session.
    pub fn tag(mut self, tag: Tag) -> Self {
        self.params.tags.get_or_insert_default().push(tag);
        self
    }

    /// Where the session comes from, told apart by `platform`.
    pub fn session_source(mut self, source: serde_json::Value) -> Self {
        self.params.session_source = Some(Json::from(source));
        self
    }

    /// Where the session comes from, in one word.
    pub fn origin(mut self, origin: SessionOrigin) -> Self {
        self.params.session_origin_hint = Some(origin);
        self
    }

    /// The agent refuses what it would have to ask for.
    pub fn auto_reject_permissions(mut self) -> Self {
        self.params.auto_reject_permission_requests = Some(true);
        self
    }

    /// Leaves out the skills that come with the agent.
    pub fn disable_builtin_skills(mut self) -> Self {
        self.params.disable_builtin_skills = Some(true);
        self
    }

    /// All options as they go over the wire, for what has no method here.
    pub fn params_mut(&mut self) -> &mut InitializeSessionParams {
        &mut self.params
    }

    /// Starts the agent and opens the session.
    pub async fn open(self) -> Result<Session> {
        Ok(self.open_watched().await?.0)
    }

    /// [`open`](Self::open), with all notifications from the very first one: hooks that run at the start of a session, and the
    /// state of MCP servers, are told before it is open.
    pub async fn open_watched(self) -> Result<(Session, Notifications)> {
        let cancel = self.setup.cancel.clone();
        // boxed: the way to an open session is long, and its future would be large in every caller
        unless_cancelled(&cancel, Box::pin(self.open_now())).await
    }

    async fn open_now(self) -> Result<(Session, Notifications)> {
        let Self { setup, cwd, mut params } = self;
        check_directory(&setup.agent, &cwd)?;
        // a program of ours starts in `cwd`, so what is relative for us would be wrong for it
        let cwd = if setup.agent.is_local_program() { std::path::absolute(&cwd).unwrap_or(cwd) } else { cwd };
        params.cwd = cwd.to_string_lossy().into_owned();
        params.tags.get_or_insert_default().push(our_tag());
        let (servers, serving) = setup.serve()?;
        if !servers.is_empty() {
            params.mcp_servers.get_or_insert_default().extend(servers);
        }
        let (connection, child) = setup.agent.connect(Some(&cwd)).await?;
        let (peer, inbox) = Peer::start(connection);
        let opened = Client::new(peer.clone()).initialize_session(params).await?;
        let state = opened_state(opened, cwd);
        Ok(Session::start(peer, inbox, child, state, setup, serving))
    }
}

/// The options of a session that is resumed. See [`Session::resume`].
///
/// There is no directory among them: a session works where it was made.
#[derive(Debug, Clone)]
#[must_use = "a session is resumed when it is opened"]
pub struct ResumeBuilder {
    setup: Setup,
    params: LoadSessionParams,
}

impl ResumeBuilder {
    shared_options!();

    pub(super) fn new(id: String) -> Self {
        Self::with_setup(id, Setup::default())
    }

    pub(super) fn with_setup(id: String, setup: Setup) -> Self {
        Self { setup, params: LoadSessionParams::new(id) }
    }

    /// Tools to switch on that are off by default, by their ids.
    pub fn enabled_tools(mut self, ids: impl IntoIterator<Item: Into<String>>) -> Self {
        self.params.enabled_tool_ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Tools to switch off, by their ids.
    pub fn disabled_tools(mut self, ids: impl IntoIterator<Item: Into<String>>) -> Self {
        self.params.disabled_tool_ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// All options as they go over the wire, for what has no method here.
    pub fn params_mut(&mut self) -> &mut LoadSessionParams {
        &mut self.params
    }

    /// Starts the agent and loads the session.
    pub async fn open(self) -> Result<Session> {
        Ok(self.open_watched().await?.0)
    }

    /// [`open`](Self::open), with all notifications from the very first one: hooks that run at the start of a session, and the
    /// state of MCP servers, are told before it is open.
    pub async fn open_watched(self) -> Result<(Session, Notifications)> {
        let cancel = self.setup.cancel.clone();
        // boxed: the way to an open session is long, and its future would be large in every caller
        unless_cancelled(&cancel, Box::pin(self.open_now())).await
    }

    async fn open_now(self) -> Result<(Session, Notifications)> {
        let Self { setup, mut params } = self;
        let (servers, serving) = setup.serve()?;
        if !servers.is_empty() {
            params.mcp_servers.get_or_insert_default().extend(servers);
        }
        let (connection, child) = setup.agent.connect(None).await?;
        let (peer, inbox) = Peer::start(connection);
        let loaded = load(&Client::new(peer.clone()), &params).await?;
        let state = loaded_state(loaded, params.session_id);
        Ok(Session::start(peer, inbox, child, state, setup, serving))
    }
}

/// Opens a session, unless nobody wants it any more; an agent that was started for it then ends.
async fn unless_cancelled(
    cancel: &CancellationToken,
    opening: impl Future<Output = Result<(Session, Notifications)>>,
) -> Result<(Session, Notifications)> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Error::session("it was cancelled")),
        opened = opening => opened,
    }
}

/// Loads a session. 0.57 and older want one to be initialised first.
async fn load(client: &Client, params: &LoadSessionParams) -> Result<LoadSessionResult> {
    let not_found = |error: Error| match error.kind() {
        Kind::Protocol { code: Some(RpcError::NOT_FOUND), .. } => {
            Error::because(Kind::SessionNotFound { session_id: params.session_id.clone() }, error)
        }
        _ => error,
    };
    match client.call::<LoadSession>(params).await {
        Err(error) if wants_a_session_first(&error) => {
            let any = InitializeSessionParams::new("default", ".");
            client.call::<InitializeSession>(&any).await?;
            client.call::<LoadSession>(params).await.map_err(not_found)
        }
        loaded => loaded.map_err(not_found),
    }
}

fn wants_a_session_first(error: &Error) -> bool {
    let is_refusal = matches!(
        error.kind(),
        Kind::Protocol { code: Some(RpcError::INTERNAL | RpcError::INVALID_REQUEST), .. }
    );
    is_refusal && error.to_string().contains("No active session")
}

/// Every session made by this crate says so.
fn our_tag() -> Tag {
    let metadata = [("language", "rust"), ("version", env!("CARGO_PKG_VERSION"))];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    Tag { metadata: Some(metadata), ..Tag::new("sdk") }
}

fn opened_state(opened: InitializeSessionResult, cwd: PathBuf) -> SessionState {
    let mut state = SessionState::new(opened.session_id);
    state.cwd = Some(cwd);
    state.settings = opened.settings.unwrap_or_default();
    state.models = opened.available_models.unwrap_or_default();
    state
}

fn loaded_state(loaded: LoadSessionResult, asked: String) -> SessionState {
    let mut state = SessionState::new(loaded.session_id.unwrap_or(asked));
    state.cwd = loaded.cwd.map(PathBuf::from);
    state.title = loaded.session.title;
    state.history = loaded.session.messages.into_iter().map(Arc::new).collect();
    state.settings = loaded.settings.unwrap_or_default();
    state.models = loaded.available_models.unwrap_or_default();
    state.usage = loaded.token_usage;
    state
}
