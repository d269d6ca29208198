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
use crate::editor::{self, EditorHandler};
use crate::error::Kind;
use crate::handlers::{FromFn, Handlers};
use crate::{
    Agent, Answers, Budget, Client, Decision, Error, PermissionHandler, PermissionRequest, QuestionHandler,
    QuestionRequest, Result,
};

/// The options that a session keeps: enough to open a fork of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setup {
    pub(crate) agent: Agent,
    pub(crate) handlers: Handlers,
    pub(crate) mcp_servers: Vec<McpServerConfig>,
    #[cfg(feature = "mcp")]
    pub(crate) served: Vec<crate::McpServer>,
    pub(crate) turn_timeout: Option<Duration>,
    pub(crate) stall_timeout: Option<Duration>,
    pub(crate) budget: Budget,
    pub(crate) rejects_while_busy: bool,
    pub(crate) cancel: CancellationToken,
}

impl Setup {
    /// Starts the MCP servers of this process, and lists all servers of the session.
    #[cfg_attr(
        not(feature = "mcp"),
        expect(clippy::unnecessary_wraps, reason = "servers of this process may fail to start")
    )]
    fn serve(&self) -> Result<(Vec<McpServerConfig>, Vec<Serving>)> {
        #[cfg(feature = "mcp")]
        let serving = self.served.iter().map(crate::McpServer::serve).collect::<Result<Vec<_>>>()?;
        #[cfg(not(feature = "mcp"))]
        let serving = Vec::new();
        let servers = self.mcp_servers.iter().cloned();
        #[cfg(feature = "mcp")]
        let servers = servers.chain(serving.iter().map(|serving| serving.config().clone()));
        Ok((servers.collect(), serving))
    }
}

/// The options that new and resumed sessions share. `$Params` are the parameters of the protocol.
macro_rules! shared_options {
    ($Params:ty) => {
        /// Sets the agent; `droid` in `PATH` by default.
        pub fn agent(mut self, agent: Agent) -> Self {
            self.setup.agent = agent;
            self
        }

        /// Sets the agent of a session that other clients share.
        #[cfg(feature = "daemon")]
        pub(crate) fn shared_agent(mut self, agent: Agent) -> Self {
            self.setup.handlers.is_shared = true;
            self.agent(agent)
        }

        /// Sets the program of the agent, which must speak the protocol when it is called like `droid exec`.
        pub fn executable(self, program: impl AsRef<Path>) -> Self {
            self.agent(Agent::program(program))
        }

        /// Sets the key for the vendor's service. By default the agent uses its stored login.
        pub fn api_key(mut self, key: impl Into<String>) -> Self {
            self.setup.agent = self.setup.agent.api_key(key);
            self
        }

        /// Sets an environment variable of the agent.
        pub fn env(mut self, key: impl AsRef<std::ffi::OsStr>, value: impl AsRef<std::ffi::OsStr>) -> Self {
            self.setup.agent = self.setup.agent.env(key, value);
            self
        }

        /// Decides on permission requests with an async closure. Without a handler every request is denied.
        ///
        /// The handler may take long: it runs in a task of its own. Turns that [ask on their stream](crate::Prompt::ask_on_stream) do not
        /// use it.
        ///
        /// ```
        /// use musher::{Decision, Session};
        ///
        /// let builder = Session::builder().on_permission(|request| async move {
        ///     match request.commands() {
        ///         Some(commands) if commands.iter().all(|it| it.program() == "date") => Decision::allow_once(),
        ///         _ => Decision::deny(),
        ///     }
        /// });
        /// ```
        pub fn on_permission<F, Fut>(self, decide: F) -> Self
        where
            F: Fn(PermissionRequest) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Decision> + Send + 'static,
        {
            self.permission_handler(FromFn(decide))
        }

        /// Decides on permission requests with a plain closure, which must not block.
        pub fn on_permission_sync<F>(self, decide: F) -> Self
        where
            F: Fn(PermissionRequest) -> Decision + Send + Sync + 'static,
        {
            self.on_permission(move |request| std::future::ready(decide(request)))
        }

        /// Decides on permission requests with a [`PermissionHandler`].
        pub fn permission_handler(mut self, handler: impl PermissionHandler) -> Self {
            self.setup.handlers.permission = Some(Arc::new(handler));
            self
        }

        /// Answers the agent's questions with an async closure. Without a handler they are declined.
        ///
        /// ```
        /// use musher::Session;
        ///
        /// let builder = Session::builder().on_question(|request| async move {
        ///     request.answer_all(|question| question.options.as_ref()?.first().cloned())
        /// });
        /// ```
        pub fn on_question<F, Fut>(self, answer: F) -> Self
        where
            F: Fn(QuestionRequest) -> Fut + Send + Sync + 'static,
            Fut: Future<Output = Answers> + Send + 'static,
        {
            self.question_handler(FromFn(answer))
        }

        /// Answers the agent's questions with a plain closure, which must not block.
        pub fn on_question_sync<F>(self, answer: F) -> Self
        where
            F: Fn(QuestionRequest) -> Answers + Send + Sync + 'static,
        {
            self.on_question(move |request| std::future::ready(answer(request)))
        }

        /// Answers the agent's questions with a [`QuestionHandler`].
        pub fn question_handler(mut self, handler: impl QuestionHandler) -> Self {
            self.setup.handlers.questions = Some(Arc::new(handler));
            self
        }

        /// Offers the agent the files and terminals of an editor. Agents that do not know the extension ignore it.
        pub fn editor(mut self, editor: impl EditorHandler) -> Self {
            self.setup.handlers.editor = Some(Arc::new(editor));
            self
        }

        /// Sets the time limit for an answer, from a handler or to a pending request, after which it counts as a denial. There is no limit by
        /// default, because users may take long.
        pub fn handler_timeout(mut self, after: Duration) -> Self {
            self.setup.handlers.deadline = Some(after);
            self
        }

        /// Adds an MCP server for this session.
        pub fn mcp_server(mut self, server: McpServerConfig) -> Self {
            self.setup.mcp_servers.push(server);
            self
        }

        /// Adds an MCP server of this process, which serves the agent as long as the session lives. Needs the feature `mcp`.
        #[cfg(feature = "mcp")]
        pub fn serve_mcp(mut self, server: crate::McpServer) -> Self {
            self.setup.served.push(server);
            self
        }

        /// Sets the time limit of each turn, after which it is interrupted. There is no limit by default.
        pub fn turn_timeout(mut self, after: Duration) -> Self {
            self.setup.turn_timeout = Some(after);
            self
        }

        /// Sets how long a turn may make no progress before it is interrupted. There is no limit by default.
        ///
        /// Retries and heartbeats are not progress. The time that the answer to a request takes does not count.
        pub fn stall_timeout(mut self, after: Duration) -> Self {
            self.setup.stall_timeout = Some(after);
            self
        }

        /// Sets the budget of each turn, after which it is interrupted. There is no limit by default.
        pub fn budget(mut self, budget: Budget) -> Self {
            self.setup.budget = budget;
            self
        }

        /// Sets a token that stops the session: when it is cancelled, the session is no longer opened, a running turn is interrupted, and
        /// later prompts fail. Forks share it.
        pub fn cancel_token(mut self, token: CancellationToken) -> Self {
            self.setup.cancel = token;
            self
        }

        /// Refuses a prompt that comes while a turn runs. By default it is queued.
        pub fn reject_while_busy(mut self) -> Self {
            self.setup.rejects_while_busy = true;
            self
        }

        /// Enables tools that are off by default, by their ids or names.
        pub fn enabled_tools(mut self, ids: impl IntoIterator<Item: Into<String>>) -> Self {
            self.params.enabled_tool_ids = Some(ids.into_iter().map(Into::into).collect());
            self
        }

        /// Disables tools, by their ids or names.
        pub fn disabled_tools(mut self, ids: impl IntoIterator<Item: Into<String>>) -> Self {
            self.params.disabled_tool_ids = Some(ids.into_iter().map(Into::into).collect());
            self
        }

        /// Returns all options in the wire's form, to set those that have no method here.
        pub fn params_mut(&mut self) -> &mut $Params {
            &mut self.params
        }

        /// Starts the agent and opens the session.
        ///
        /// # Errors
        ///
        /// Fails if the agent cannot be started, or refuses to open the session.
        pub async fn open(self) -> Result<Session> {
            Ok(self.open_watched().await?.0)
        }

        /// Opens the session like [`open`](Self::open), and returns all its notifications from the first one: those of hooks that run at
        /// the start of a session, and of MCP servers, come before it is open.
        pub async fn open_watched(self) -> Result<(Session, Notifications)> {
            let cancel = self.setup.cancel.clone();
            // boxed: the future is large, and would make the futures of all callers large
            unless_cancelled(&cancel, Box::pin(self.open_now())).await
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
    shared_options!(InitializeSessionParams);

    /// Sets the directory to work in; the current one by default.
    pub fn cwd(mut self, cwd: impl AsRef<Path>) -> Self {
        cwd.as_ref().clone_into(&mut self.cwd);
        self
    }

    /// Sets the id of this machine, as the agent sees it; `default` by default.
    pub fn machine_id(mut self, id: impl Into<String>) -> Self {
        self.params.machine_id = id.into();
        self
    }

    /// Sets the id of the session. The agent makes one by default.
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.params.session_id = Some(id.into());
        self
    }

    /// Sets the model. The agent chooses one by default.
    pub fn model(mut self, id: impl Into<String>) -> Self {
        self.params.model_id = Some(id.into());
        self
    }

    /// Sets the reasoning effort of the model.
    pub fn reasoning_effort(mut self, effort: ReasoningEffort) -> Self {
        self.params.reasoning_effort = Some(effort);
        self
    }

    /// Sets the autonomy level: what runs without a permission request. The agent chooses it by default.
    pub fn autonomy(mut self, level: AutonomyLevel) -> Self {
        self.params.autonomy_level = Some(level);
        self
    }

    /// Sets the interaction mode: whether the agent works or plans.
    pub fn interaction_mode(mut self, mode: InteractionMode) -> Self {
        self.params.interaction_mode = Some(mode);
        self
    }

    /// Starts in spec mode, in which the agent plans and asks before it changes anything.
    pub fn spec_mode(self) -> Self {
        self.interaction_mode(InteractionMode::Spec)
    }

    /// Sets the model for planning; the session's model by default.
    pub fn spec_mode_model(mut self, id: impl Into<String>) -> Self {
        self.params.spec_mode_model_id = Some(id.into());
        self
    }

    /// Sets the reasoning effort for planning.
    pub fn spec_mode_reasoning_effort(mut self, effort: ReasoningEffort) -> Self {
        self.params.spec_mode_reasoning_effort = Some(effort);
        self
    }

    /// Disables all tools but these, by their ids or names.
    pub fn restrict_tools(mut self, ids: impl IntoIterator<Item: Into<String>>) -> Self {
        self.params.restrict_tool_ids = Some(ids.into_iter().map(Into::into).collect());
        self
    }

    /// Adds tools to the default ones, by their ids.
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

    /// Adds a tag to the session.
    pub fn tag(mut self, tag: Tag) -> Self {
        self.params.tags.get_or_insert_default().push(tag);
        self
    }

    /// Sets the source of the session, an object with the field `platform`.
    pub fn session_source(mut self, source: serde_json::Value) -> Self {
        self.params.session_source = Some(Json::from(source));
        self
    }

    /// Sets the origin of the session.
    pub fn origin(mut self, origin: SessionOrigin) -> Self {
        self.params.session_origin_hint = Some(origin);
        self
    }

    /// Has the agent deny its permission requests itself.
    pub fn auto_reject_permissions(mut self) -> Self {
        self.params.auto_reject_permission_requests = Some(true);
        self
    }

    /// Sets the sandbox of commands: `off`, `read-only`, `workspace-write`, or an object as in the settings of musher's engine.
    ///
    /// Only the engine reads it. droid has its own setting.
    pub fn sandbox(mut self, sandbox: impl Into<serde_json::Value>) -> Self {
        self.params.sandbox = Some(Json::from(sandbox.into()));
        self
    }

    /// Disables the skills that come with the agent.
    pub fn disable_builtin_skills(mut self) -> Self {
        self.params.disable_builtin_skills = Some(true);
        self
    }

    async fn open_now(self) -> Result<(Session, Notifications)> {
        let Self { setup, cwd, mut params } = self;
        check_directory(&setup.agent, &cwd)?;
        // a local program starts in `cwd`, so a path relative to this process would be wrong for it
        // and a daemon has a directory of its own
        let is_elsewhere = setup.agent.is_local_program() || setup.handlers.is_shared;
        let cwd = if is_elsewhere { std::path::absolute(&cwd).unwrap_or(cwd) } else { cwd };
        params.cwd = cwd.to_string_lossy().into_owned();
        params.tags.get_or_insert_default().push(our_tag());
        params.client_capabilities =
            editor::announcement(&setup.handlers.editor).or(params.client_capabilities);
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

/// The options of a resumed session. See [`Session::resume`].
///
/// The directory is not among them: a session works in the directory that it was created in.
#[derive(Debug, Clone)]
#[must_use = "a session is resumed when it is opened"]
pub struct ResumeBuilder {
    setup: Setup,
    params: LoadSessionParams,
}

impl ResumeBuilder {
    shared_options!(LoadSessionParams);

    pub(super) fn new(id: String) -> Self {
        Self::with_setup(id, Setup::default())
    }

    pub(super) fn with_setup(id: String, setup: Setup) -> Self {
        Self { setup, params: LoadSessionParams::new(id) }
    }

    async fn open_now(self) -> Result<(Session, Notifications)> {
        let Self { setup, mut params } = self;
        params.client_capabilities =
            editor::announcement(&setup.handlers.editor).or(params.client_capabilities);
        let (servers, serving) = setup.serve()?;
        if !servers.is_empty() {
            params.mcp_servers.get_or_insert_default().extend(servers);
        }
        let (connection, child) = setup.agent.connect(None).await?;
        let (peer, inbox) = Peer::start(connection);
        let loaded = load(&Client::new(peer.clone()), &params).await?;
        let state = loaded_state(loaded, &params.session_id);
        Ok(Session::start(peer, inbox, child, state, setup, serving))
    }
}

/// Opens a session, unless it is cancelled meanwhile; an agent that was started for it then ends.
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

/// Loads a session. droid 0.57 and older need an initialised session first.
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
    is_refusal && error.with_causes().to_string().contains("No active session")
}

/// Returns the tag of all sessions of this crate.
fn our_tag() -> Tag {
    let metadata = [("language", "rust"), ("version", env!("CARGO_PKG_VERSION"))];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    Tag { metadata: Some(metadata), ..Tag::new("sdk") }
}

fn opened_state(opened: InitializeSessionResult, cwd: PathBuf) -> SessionState {
    let mut state = SessionState::new(&opened.session_id);
    state.cwd = Some(cwd);
    state.editor = opened.agent_capabilities.and_then(|agent| agent.editor);
    state.settings = opened.settings.unwrap_or_default();
    state.models = opened.available_models.unwrap_or_default();
    state
}

fn loaded_state(loaded: LoadSessionResult, asked: &str) -> SessionState {
    let mut state = SessionState::new(loaded.session_id.as_deref().unwrap_or(asked));
    state.cwd = loaded.cwd.map(PathBuf::from);
    state.title = loaded.session.title;
    state.editor = loaded.agent_capabilities.and_then(|agent| agent.editor);
    state.history = loaded.session.messages.into_iter().map(Arc::new).collect();
    state.settings = loaded.settings.unwrap_or_default();
    state.models = loaded.available_models.unwrap_or_default();
    state.usage = loaded.token_usage.as_ref().map(Into::into);
    // only the session of a daemon can be at work before it is loaded
    if let Some(working) = loaded.working_state {
        state.working = working;
    }
    state
}
