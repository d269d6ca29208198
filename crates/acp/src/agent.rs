//! The agent as the editor sees it: one handler for each message of the protocol, and the sessions they are about.
//!
//! Handlers run in the connection's reading loop, so none of them waits: whatever takes time is a task of its own. That
//! `session/cancel` finds its prompt is due to the order: a prompt is entered before the next message is read.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, AuthenticateRequest, AuthenticateResponse,
    CancelNotification, ClientCapabilities, CloseSessionRequest, CloseSessionResponse, ForkSessionRequest,
    ForkSessionResponse, Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest,
    LoadSessionRequest, LoadSessionResponse, McpCapabilities, McpServer, NewSessionRequest,
    NewSessionResponse, PromptCapabilities, PromptRequest, ResumeSessionRequest, ResumeSessionResponse,
    SessionCapabilities, SessionCloseCapabilities, SessionForkCapabilities, SessionId,
    SessionListCapabilities, SessionResumeCapabilities, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Client, ConnectTo, Error, JsonRpcRequest, JsonRpcResponse, on_receive_notification, on_receive_request,
};
use serde::{Deserialize, Serialize};

use crate::convert::mcp;
use crate::listing;
use crate::modes::MODEL;
use crate::session::{Origin, Session};

/// The name of the one way to log in.
const API_KEY: &str = "factory-api-key";

/// What the adapter is set to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The agent behind it; each session gets one of its own.
    pub agent: musher::Agent,
    /// Where the agent keeps its sessions; its own place if not set.
    pub sessions_dir: Option<PathBuf>,
    /// The model of new sessions; the agent's own choice if not set.
    pub model: Option<String>,
}

impl Config {
    /// An adapter for this agent.
    pub fn new(agent: musher::Agent) -> Self {
        Self { agent, sessions_dir: None, model: None }
    }
}

/// Serves one editor until it is gone or `stop` comes; then all agents are ended.
pub async fn serve(
    config: Config,
    editor: impl ConnectTo<agent_client_protocol::Agent>,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let desk = Arc::new(Desk { config, client: OnceLock::new(), sessions: Mutex::default() });
    let served = tokio::select! {
        served = connect(Arc::clone(&desk), editor) => served,
        () = stop => Ok(()),
    };
    let sessions: Vec<_> = desk.lock().drain().map(|(_, session)| session).collect();
    // all at once: an agent may take a moment to say goodbye
    let mut closing = tokio::task::JoinSet::new();
    for session in sessions {
        closing.spawn(async move { session.close().await });
    }
    closing.join_all().await;
    served
}

/// What all sessions share.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) config: Config,
    client: OnceLock<ClientCapabilities>,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
}

/// An old way to choose the model, which some editors still use without asking.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "session/set_model", response = SetModelResponse)]
#[serde(rename_all = "camelCase")]
struct SetModelRequest {
    session_id: SessionId,
    model_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct SetModelResponse {}

/// A handler that answers in a task of its own.
macro_rules! answers {
    ($desk:ident, |$me:ident, $request:ident: $Request:ty, $cx:ident| $answer:expr) => {{
        let desk = Arc::clone(&$desk);
        async move |$request: $Request, responder: Responder<_>, $cx: ConnectionTo<Client>| {
            let $me = Arc::clone(&desk);
            $cx.clone().spawn(async move {
                // an editor that is gone misses nothing
                responder.respond_with_result($answer.await).ok();
                Ok(())
            })
        }
    }};
}

async fn connect(desk: Arc<Desk>, editor: impl ConnectTo<agent_client_protocol::Agent>) -> Result<(), Error> {
    let (for_prompts, for_cancels, for_new) = (Arc::clone(&desk), Arc::clone(&desk), Arc::clone(&desk));
    let (for_hello, for_load, for_resume) = (Arc::clone(&desk), Arc::clone(&desk), Arc::clone(&desk));
    let for_fork = Arc::clone(&desk);
    agent_client_protocol::Agent
        .v1()
        .name("musher")
        .on_receive_request(
            async move |hello: InitializeRequest, responder: Responder<_>, _cx: ConnectionTo<Client>| {
                responder.respond(for_hello.initialize(hello))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: AuthenticateRequest, responder: Responder<_>, _cx: ConnectionTo<Client>| {
                responder.respond_with_result(authenticate(&asked))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: NewSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let opening = Opening { origin: Origin::New { cwd: asked.cwd }, servers: asked.mcp_servers, cx };
                opening.begin(&for_new, responder, |session| {
                    let (modes, options) = session.choices();
                    NewSessionResponse::new(session.id().clone()).modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: LoadSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::Stored { id: asked.session_id, cwd: asked.cwd };
                let opening = Opening { origin, servers: asked.mcp_servers, cx };
                opening.begin(&for_load, responder, |session| {
                    session.replay();
                    let (modes, options) = session.choices();
                    LoadSessionResponse::new().modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: ResumeSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::Stored { id: asked.session_id, cwd: asked.cwd };
                let opening = Opening { origin, servers: asked.mcp_servers, cx };
                opening.begin(&for_resume, responder, |session| {
                    let (modes, options) = session.choices();
                    ResumeSessionResponse::new().modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: ForkSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::Copy { id: asked.session_id, cwd: asked.cwd };
                let opening = Opening { origin, servers: asked.mcp_servers, cx };
                opening.begin(&for_fork, responder, |session| {
                    let (modes, options) = session.choices();
                    ForkSessionResponse::new(session.id().clone()).modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: ListSessionsRequest, _cx| async move {
                listing::list(&asked, me.config.sessions_dir.as_deref()).await
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: CloseSessionRequest, _cx| async move {
                me.find(&asked.session_id)?;
                if let Some(session) = me.take(&asked.session_id) {
                    session.close().await;
                }
                Ok(CloseSessionResponse::new())
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: SetSessionModeRequest, _cx| async move {
                me.find(&asked.session_id)?.choose(crate::modes::MODE, &asked.mode_id.0).await?;
                Ok(SetSessionModeResponse::new())
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: SetSessionConfigOptionRequest, _cx| async move {
                let session = me.find(&asked.session_id)?;
                let value = asked.value.as_value_id();
                let value = value.ok_or_else(|| Error::invalid_params().data("no option of ours is yes or no"))?;
                session.choose(&asked.config_id.0, &value.0).await?;
                Ok(SetSessionConfigOptionResponse::new(session.choices().1))
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: SetModelRequest, _cx| async move {
                me.find(&asked.session_id)?.choose(MODEL, &asked.model_id).await?;
                Ok(SetModelResponse {})
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: PromptRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let session = match for_prompts.find(&asked.session_id) {
                    Ok(session) => session,
                    Err(error) => return responder.respond_with_error(error),
                };
                // entered before the next message is read, so that a cancel which follows finds it
                let ticket = session.enter();
                let withdrawn = responder.cancellation();
                cx.spawn(async move {
                    let token = ticket.token();
                    let answered = tokio::select! {
                        answered = session.prompt(&asked.prompt, &token) => answered,
                        () = async { withdrawn.cancelled().await; token.cancel(); std::future::pending().await } => return Ok(()),
                    };
                    drop(ticket);
                    responder.respond_with_result(answered).ok();
                    Ok(())
                })
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancelled: CancelNotification, _cx: ConnectionTo<Client>| {
                if let Ok(session) = for_cancels.find(&cancelled.session_id) {
                    session.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(editor)
        .await
}

impl Desk {
    /// What the editor said it can do.
    pub(crate) fn client(&self) -> ClientCapabilities {
        self.client.get().cloned().unwrap_or_default()
    }

    fn initialize(&self, hello: InitializeRequest) -> InitializeResponse {
        // an editor that says hello twice is held to its first word
        self.client.set(hello.client_capabilities).ok();
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new())
            .fork(SessionForkCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
            .mcp_capabilities(McpCapabilities::new().http(true).sse(true))
            .session_capabilities(sessions);
        let login = AuthMethodAgent::new(API_KEY, "Factory API key").description(
            "Set FACTORY_API_KEY for the editor's agent, or run `droid` once in a terminal and log in",
        );
        let about = Implementation::new("musher", env!("CARGO_PKG_VERSION")).title("musher");
        // the version we speak, whatever was asked for
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .auth_methods(vec![AuthMethod::Agent(login)])
            .agent_info(about)
    }

    /// Opens a session and keeps it. One that is open under this id already is closed first.
    async fn open(self: &Arc<Self>, opening: Opening) -> Result<Arc<Session>, Error> {
        let Opening { origin, servers, cx } = opening;
        let servers = mcp::servers(servers);
        let origin = match origin {
            Origin::Copy { id, cwd } => Origin::Stored { id: self.copy(id, &cwd, &cx).await?, cwd },
            origin => origin,
        };
        if let Origin::Stored { id, .. } = &origin
            && let Some(open) = self.take(id)
        {
            open.close().await;
        }
        let session = Session::open(Arc::clone(self), cx, origin, servers).await?;
        self.lock().insert(session.id().clone(), Arc::clone(&session));
        Ok(session)
    }

    /// Copies a session on disk, and tells the id of the copy. One that is not open has to be opened for that.
    async fn copy(
        self: &Arc<Self>,
        id: SessionId,
        cwd: &Path,
        cx: &ConnectionTo<Client>,
    ) -> Result<SessionId, Error> {
        if let Ok(open) = self.find(&id) {
            return open.copy().await;
        }
        let origin = Origin::Stored { id, cwd: cwd.to_owned() };
        let session = Session::open(Arc::clone(self), cx.clone(), origin, Vec::new()).await?;
        let copied = session.copy().await;
        session.close().await;
        copied
    }

    fn find(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        self.lock().get(id).cloned().ok_or_else(|| no_session(&id.0))
    }

    fn take(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.lock().remove(id)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// There is no such session, or it is not open.
pub(crate) fn no_session(id: &str) -> Error {
    Error::new(-32002, format!("there is no open session `{id}`"))
        .data(serde_json::json!({ "sessionId": id }))
}

/// A session that is to be opened.
struct Opening {
    origin: Origin,
    servers: Vec<McpServer>,
    cx: ConnectionTo<Client>,
}

impl Opening {
    /// Opens it in a task of its own, and says nothing about the session before it has answered: some editors hang if an
    /// update comes for an id they do not know yet.
    fn begin<R: JsonRpcResponse>(
        self,
        desk: &Arc<Desk>,
        responder: Responder<R>,
        answer: impl FnOnce(&Session) -> R + Send + 'static,
    ) -> Result<(), Error> {
        let desk = Arc::clone(desk);
        self.cx.clone().spawn(async move {
            match desk.open(self).await {
                Ok(session) => {
                    responder.respond(answer(&session)).ok();
                    session.introduce();
                }
                Err(error) => drop(responder.respond_with_error(error)),
            }
            Ok(())
        })
    }
}

/// The key can only come from the environment: the agent reads it itself.
fn authenticate(asked: &AuthenticateRequest) -> Result<AuthenticateResponse, Error> {
    if &*asked.method_id.0 != API_KEY {
        return Err(
            Error::invalid_params().data(format!("there is no way to log in called `{}`", asked.method_id.0))
        );
    }
    if std::env::var_os("FACTORY_API_KEY").is_some_and(|key| !key.is_empty()) {
        return Ok(AuthenticateResponse::new());
    }
    Err(Error::auth_required().data("FACTORY_API_KEY is not set where the editor starts agents"))
}
