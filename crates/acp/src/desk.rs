//! What all sessions of an editor share: what the editor can do, which sessions are open, and how one is opened, copied, renamed
//! and deleted.
//!
//! It answers; who asks, and how, is `agent`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, AuthenticateRequest, AuthenticateResponse,
    ClientCapabilities, DeleteSessionRequest, DeleteSessionResponse, Implementation, InitializeRequest,
    InitializeResponse, McpCapabilities, PromptCapabilities, SessionAdditionalDirectoriesCapabilities,
    SessionCapabilities, SessionCloseCapabilities, SessionDeleteCapabilities, SessionForkCapabilities,
    SessionId, SessionListCapabilities, SessionResumeCapabilities, SessionTitleCapabilities,
    SetSessionTitleRequest, SetSessionTitleResponse,
};
use agent_client_protocol::{Client, Error};

use crate::config::{Agents, Config, Login, Way};
use crate::deleting;
use crate::link::Link;
use crate::session::{Given, Origin, Session};

/// What all sessions share.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) config: Config,
    pub(crate) link: Link,
    client: OnceLock<ClientCapabilities>,
    /// The agent and the model that were chosen instead of those of the configuration.
    instead: Mutex<Option<(Agents, String)>>,
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
}

impl Desk {
    pub(crate) fn new(config: Config) -> Self {
        let (link, client) = (Link::default(), OnceLock::new());
        Self { config, link, client, instead: Mutex::default(), sessions: Mutex::default() }
    }

    /// The agent of new processes.
    pub(crate) fn agents(&self) -> Agents {
        lock(&self.instead).as_ref().map_or_else(|| self.config.agent.clone(), |(agent, _)| agent.clone())
    }

    /// The model of new sessions, if the agent is not to choose itself.
    pub(crate) fn model(&self) -> Option<String> {
        lock(&self.instead).as_ref().map(|(_, model)| model.clone()).or_else(|| self.config.model.clone())
    }

    /// What the editor said it can do.
    pub(crate) fn client(&self) -> ClientCapabilities {
        self.client.get().cloned().unwrap_or_default()
    }

    pub(crate) fn initialize(&self, hello: InitializeRequest) -> InitializeResponse {
        // an editor that says hello twice is held to its first word
        self.client.set(hello.client_capabilities).ok();
        let directories = self.config.additional_directories;
        let sessions = SessionCapabilities::new()
            .additional_directories(directories.then(SessionAdditionalDirectoriesCapabilities::new))
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new())
            .delete(SessionDeleteCapabilities::new())
            .title(SessionTitleCapabilities::new())
            .fork(SessionForkCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
            .mcp_capabilities(McpCapabilities::new().http(true).sse(true))
            .session_capabilities(sessions);
        let login = |login: &Login| {
            let method = AuthMethodAgent::new(login.id.clone(), login.name.clone());
            AuthMethod::Agent(method.description(login.description.clone()))
        };
        let logins: Vec<_> = self.config.logins.iter().map(login).collect();
        let about = Implementation::new("musher", env!("CARGO_PKG_VERSION")).title("musher");
        // the version we speak, whatever was asked for
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .auth_methods(logins)
            .agent_info(about)
    }

    /// Does what a login means. What has to be done outside is only looked after.
    pub(crate) async fn authenticate(
        &self,
        asked: AuthenticateRequest,
    ) -> Result<AuthenticateResponse, Error> {
        let id = &*asked.method_id.0;
        let login = self.config.logins.iter().find(|login| login.id == id);
        let login = login.ok_or_else(|| {
            Error::invalid_params().data(format!("there is no way to log in called `{id}`"))
        })?;
        match &login.way {
            Way::Check(is_ready) => {
                let is_ready = Arc::clone(is_ready);
                // it may have to read files
                let checked = tokio::task::spawn_blocking(move || is_ready()).await;
                checked.map_err(|_gone| Error::internal_error())?.map_err(missing)?;
                *lock(&self.instead) = None;
            }
            Way::Instead(instead) => *lock(&self.instead) = Some((**instead).clone()),
        }
        Ok(AuthenticateResponse::new())
    }

    /// What is to be done if there is no model.
    pub(crate) fn no_model(&self) -> Error {
        let ways = self.config.logins.iter().map(|login| login.description.as_str());
        missing(format!("no model is set up. {}", ways.collect::<Vec<_>>().join(". ")))
    }

    /// Opens a session and keeps it. One that is open under this id already is closed first.
    pub(crate) async fn open(
        self: &Arc<Self>,
        origin: Origin,
        given: Given,
        cx: ConnectionTo<Client>,
    ) -> Result<Arc<Session>, Error> {
        let relative = given.directories.iter().flatten().find(|folder| !folder.is_absolute());
        if let Some(folder) = relative {
            return Err(not_absolute(folder));
        }
        let origin = match origin {
            Origin::Copy { id, cwd } => {
                let copied = self.with(&id, &cwd, &cx, async |session| session.copy().await).await?;
                Origin::Stored { id: copied, cwd }
            }
            origin => origin,
        };
        if let Origin::Stored { id, .. } = &origin
            && let Some(open) = self.take(id)
        {
            open.close().await;
        }
        let session = Session::open(Arc::clone(self), cx, origin, given).await?;
        self.lock().insert(session.id().clone(), Arc::clone(&session));
        Ok(session)
    }

    /// Gives a session a title, whether it is open or only on disk.
    pub(crate) async fn retitle(
        self: &Arc<Self>,
        asked: &SetSessionTitleRequest,
        cx: &ConnectionTo<Client>,
    ) -> Result<SetSessionTitleResponse, Error> {
        // one line, as titles are shown
        let title = asked.title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return Err(Error::invalid_params().data("a title has to have letters"));
        }
        let work = async |session: &Session| session.retitle(&title).await;
        self.with(&asked.session_id, Path::new("/"), cx, work).await?;
        Ok(SetSessionTitleResponse::new(title))
    }

    /// Ends a session, if it is open, and removes it from the disk. One that does not exist is deleted, too.
    pub(crate) async fn delete(&self, asked: &DeleteSessionRequest) -> Result<DeleteSessionResponse, Error> {
        let mut ids = vec![asked.session_id.0.to_string()];
        if let Some(session) = self.take(&asked.session_id) {
            // one that was summed up has gone on under another id
            ids.extend(session.inner_id().filter(|inner| *inner != ids[0]));
            session.close().await;
        }
        for id in ids {
            deleting::delete(id, &self.config).await?;
        }
        Ok(DeleteSessionResponse::new())
    }

    /// Works with a session. One that is not open is opened for that, and closed again.
    async fn with<T>(
        self: &Arc<Self>,
        id: &SessionId,
        cwd: &Path,
        cx: &ConnectionTo<Client>,
        work: impl AsyncFnOnce(&Session) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if let Ok(open) = self.find(id) {
            return work(&open).await;
        }
        let origin = Origin::Stored { id: id.clone(), cwd: cwd.to_owned() };
        let session = Session::open(Arc::clone(self), cx.clone(), origin, Given::default()).await?;
        let done = work(&session).await;
        session.close().await;
        done
    }

    pub(crate) fn find(&self, id: &SessionId) -> Result<Arc<Session>, Error> {
        self.lock().get(id).cloned().ok_or_else(|| no_session(&id.0))
    }

    pub(crate) fn take(&self, id: &SessionId) -> Option<Arc<Session>> {
        self.lock().remove(id)
    }

    /// Closes all sessions, all at once: an agent may take a moment to say goodbye.
    pub(crate) async fn close_all(&self) {
        let sessions: Vec<_> = self.lock().drain().map(|(_, session)| session).collect();
        let mut closing = tokio::task::JoinSet::new();
        for session in sessions {
            closing.spawn(async move { session.close().await });
        }
        closing.join_all().await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Session>>> {
        lock(&self.sessions)
    }
}

/// A path has to mean the same for everybody.
pub(crate) fn not_absolute(path: &Path) -> Error {
    Error::invalid_params().data(format!("`{}` is not an absolute path", path.display()))
}

/// There is no such session, or it is not open.
pub(crate) fn no_session(id: &str) -> Error {
    Error::new(-32002, format!("there is no open session `{id}`"))
        .data(serde_json::json!({ "sessionId": id }))
}

/// What the agent needs before it can answer is not there.
pub(crate) fn missing(what: impl Into<String>) -> Error {
    Error::auth_required().data(what.into())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
