//! The registry of an editor's sessions: which are open, how one is opened, forked, renamed and deleted, and what all of them share.
//!
//! It knows no requests of the protocol; those are in `agent`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

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
use musher::Agent;
use musher::wire::EditorCapabilities;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::config::{Config, Login, LoginAction};
use crate::convert::translate::EditorFeatures;
use crate::deleting;
use crate::link::Link;
use crate::session::{OpenedSession, Origin, SessionHandle, SessionSetup};

/// The registry of an editor's sessions.
#[derive(Debug)]
pub(crate) struct Registry {
    pub(crate) config: Config,
    pub(crate) link: Link,
    client: OnceLock<ClientCapabilities>,
    /// The agent and the model that a login chose instead of those of the configuration.
    chosen: watch::Sender<Option<(Agent, String)>>,
    sessions: watch::Sender<HashMap<SessionId, SessionHandle>>,
}

impl Registry {
    pub(crate) fn new(config: Config) -> Self {
        let (link, client) = (Link::default(), OnceLock::new());
        Self { config, link, client, chosen: watch::Sender::default(), sessions: watch::Sender::default() }
    }

    /// Returns the agent of new processes.
    pub(crate) fn agent(&self) -> Agent {
        self.chosen.borrow().as_ref().map_or_else(|| self.config.agent.clone(), |(agent, _)| agent.clone())
    }

    /// Returns the model of new sessions in a directory, unless the agent chooses it.
    pub(crate) async fn model(&self, cwd: &Path) -> Option<String> {
        let chosen = self.chosen.borrow().as_ref().map(|(_, model)| model.clone());
        if chosen.is_some() {
            return chosen;
        }
        let requested = self.config.model.clone()?;
        let found = self.config.model_names.find(cwd.to_owned(), requested.clone()).await;
        Some(found.unwrap_or(requested))
    }

    /// Returns the capabilities that the editor announced.
    pub(crate) fn client(&self) -> ClientCapabilities {
        self.client.get().cloned().unwrap_or_default()
    }

    /// Returns the optional features of the editor that change what it is sent.
    ///
    /// `agent_uses` are the files and terminals of the editor that the agent uses.
    pub(crate) fn editor_features(&self, agent_uses: Option<&EditorCapabilities>) -> EditorFeatures {
        let client = self.client();
        let flag = |key: &str| client.meta.as_ref().and_then(|meta| meta.get(key)) == Some(&true.into());
        EditorFeatures {
            notices: client.session.as_ref().is_some_and(|session| session.notices.is_some()),
            compaction: client.session.as_ref().is_some_and(|session| session.compaction.is_some()),
            // a terminal of the editor's own is better than one whose output we send
            terminal_output: flag("terminal_output")
                && agent_uses.is_none_or(|editor| editor.terminal != Some(true)),
        }
    }

    pub(crate) fn initialize(&self, hello: InitializeRequest) -> InitializeResponse {
        // the first announcement counts
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
        // the version we speak, whatever was requested
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .auth_methods(logins)
            .agent_info(about)
    }

    /// Carries out a login. One that the user has to do elsewhere is only checked.
    pub(crate) async fn authenticate(
        &self,
        request: AuthenticateRequest,
    ) -> Result<AuthenticateResponse, Error> {
        let id = &*request.method_id.0;
        let login = self.config.logins.iter().find(|login| login.id == id);
        let login = login.ok_or_else(|| {
            explained(&Error::invalid_params(), format!("there is no way to log in called `{id}`"))
        })?;
        match &login.action {
            LoginAction::Check(is_ready) => {
                let is_ready = Arc::clone(is_ready);
                // it may have to read files
                let checked = tokio::task::spawn_blocking(move || is_ready()).await;
                checked.map_err(|_gone| Error::internal_error())?.map_err(missing)?;
                self.chosen.send_replace(None);
            }
            LoginAction::Switch(choice) => drop(self.chosen.send_replace(Some((**choice).clone()))),
        }
        Ok(AuthenticateResponse::new())
    }

    /// Returns the error of a session without a model, with what to do about it.
    pub(crate) fn no_model(&self) -> Error {
        let ways = self.config.logins.iter().map(|login| login.description.as_str());
        missing(format!("no model is set up. {}", ways.collect::<Vec<_>>().join(". ")))
    }

    /// Opens a session. One that is open under this id is closed first.
    pub(crate) async fn open(
        self: &Arc<Self>,
        origin: Origin,
        setup: SessionSetup,
        replay: bool,
        connection: ConnectionTo<Client>,
    ) -> Result<OpenedSession, Error> {
        let relative = setup.directories.iter().flatten().find(|directory| !directory.is_absolute());
        if let Some(directory) = relative {
            return Err(not_absolute(directory));
        }
        let origin = match origin {
            Origin::Fork { id, cwd } => {
                let fork = async |session: SessionHandle| session.fork().await;
                Origin::Stored { id: self.with(&id, &cwd, &connection, fork).await?, cwd }
            }
            origin => origin,
        };
        if let Origin::Stored { id, .. } = &origin
            && let Some(open) = self.take(id)
        {
            open.close().await;
        }
        let opened = SessionHandle::open(Arc::clone(self), connection, origin, setup, replay).await?;
        let session = opened.session.clone();
        self.sessions.send_modify(|sessions| drop(sessions.insert(session.id().clone(), session)));
        Ok(opened)
    }

    /// Sets the title of a session, open or stored.
    pub(crate) async fn set_title(
        self: &Arc<Self>,
        request: &SetSessionTitleRequest,
        connection: &ConnectionTo<Client>,
    ) -> Result<SetSessionTitleResponse, Error> {
        // titles are shown in one line
        let title = request.title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return Err(explained(&Error::invalid_params(), "a title has to have letters"));
        }
        let work = async |session: SessionHandle| session.set_title(title.clone()).await;
        self.with(&request.session_id, Path::new("/"), connection, work).await?;
        Ok(SetSessionTitleResponse::new(title))
    }

    /// Closes a session, if it is open, and removes it from the disk. Deleting a session that does not exist succeeds.
    pub(crate) async fn delete(
        &self,
        request: &DeleteSessionRequest,
    ) -> Result<DeleteSessionResponse, Error> {
        let mut ids = vec![request.session_id.0.to_string()];
        if let Some(session) = self.take(&request.session_id) {
            // after a compaction the agent has it under another id
            ids.extend(session.agent_session_id().await.filter(|id| *id != ids[0]));
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
        connection: &ConnectionTo<Client>,
        work: impl AsyncFnOnce(SessionHandle) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if let Ok(open) = self.find(id) {
            return work(open).await;
        }
        let origin = Origin::Stored { id: id.clone(), cwd: cwd.to_owned() };
        let (registry, setup) = (Arc::clone(self), SessionSetup::default());
        let opened = SessionHandle::open(registry, connection.clone(), origin, setup, false).await?;
        let done = work(opened.session.clone()).await;
        opened.session.close().await;
        done
    }

    /// Returns an open session.
    pub(crate) fn find(&self, id: &SessionId) -> Result<SessionHandle, Error> {
        let found = self.sessions.borrow().get(id).cloned();
        found.filter(|session| !session.is_ended()).ok_or_else(|| no_session(&id.0, "it is not open"))
    }

    /// Removes a session from those that are open.
    pub(crate) fn take(&self, id: &SessionId) -> Option<SessionHandle> {
        let mut taken = None;
        self.sessions.send_modify(|sessions| taken = sessions.remove(id));
        taken
    }

    /// Closes all sessions, all at once: an agent may take a moment to end.
    pub(crate) async fn close_all(&self) {
        let mut closing = JoinSet::new();
        for session in self.sessions.send_replace(HashMap::new()).into_values() {
            closing.spawn(async move { session.close().await });
        }
        while closing.join_next().await.is_some() {}
    }
}

/// Returns the error of a path that depends on a directory.
pub(crate) fn not_absolute(path: &Path) -> Error {
    explained(&Error::invalid_params(), format!("`{}` is not an absolute path", path.display()))
}

/// Returns the error of a session that is not open, or does not exist.
pub(crate) fn no_session(id: &str, why: &str) -> Error {
    let text = format!("unknown session `{id}`: {why}");
    Error::new(-32002, text.clone()).data(serde_json::json!({ "sessionId": id, "details": text }))
}

/// Returns the error of an agent that cannot answer before something is set up.
pub(crate) fn missing(what: impl Into<String>) -> Error {
    explained(&Error::auth_required(), what)
}

/// Returns an error with this code, whose reason is where clients look for it: in the message, and in the details of the data.
pub(crate) fn explained(kind: &Error, reason: impl Into<String>) -> Error {
    let reason = reason.into();
    Error::new(i32::from(kind.code), reason.clone()).data(serde_json::json!({ "details": reason }))
}
