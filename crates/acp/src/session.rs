//! One session of the editor: the agent's process behind it, and the prompts that wait for it.
//!
//! The editor's session outlives the process: when that dies, the prompt it was busy with fails, and the next one starts a
//! new process with the history. All updates are sent under one lock, so that their order is the order in which things
//! happened, whoever tells them.

mod ask;
mod buffers;
mod orders;
mod process;
mod prompt;
mod requests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AvailableCommandsUpdate, ConfigOptionUpdate, CurrentModeUpdate, SessionConfigOption, SessionId,
    SessionInfoUpdate, SessionModeState, SessionNotification, SessionUpdate,
};
use agent_client_protocol::{Client, Error};
use musher::wire::{ForkSessionParams, McpServerConfig, ModelInfo, SessionSettings};
use musher::{CancellationToken, SessionState};
use tokio::sync::Semaphore;

use crate::convert::update::{Abilities, Scribe};
use crate::convert::usage::Gauge;
use crate::desk::{Desk, no_session};
use crate::{commands, modes};

/// How long the agent may take for what is only nice to have.
const NICE_TO_HAVE: Duration = Duration::from_secs(5);

/// Where a session comes from.
#[derive(Debug)]
pub(crate) enum Origin {
    /// It is a new one.
    New { cwd: PathBuf },
    /// It is on disk.
    Stored { id: SessionId, cwd: PathBuf },
    /// It is to become the copy of one on disk.
    Copy { id: SessionId, cwd: PathBuf },
}

/// What the editor gives to a session.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) servers: Vec<McpServerConfig>,
    /// Further folders of the workspace; `None` for those it had.
    pub(crate) directories: Option<Vec<PathBuf>>,
}

/// A session of the editor.
#[derive(Debug)]
pub(crate) struct Session {
    /// For the agent's handlers, which must not keep it alive.
    this: Weak<Self>,
    desk: Arc<Desk>,
    cx: ConnectionTo<Client>,
    id: OnceLock<SessionId>,
    given: Given,
    /// The model it began with, which the agent need not have in its list.
    first_model: OnceLock<String>,
    process: Mutex<Process>,
    /// Cancelled when the running turn is.
    running: Mutex<CancellationToken>,
    scribe: Mutex<Scribe>,
    told: Mutex<Told>,
    gauge: Mutex<Gauge>,
    /// The prompts that are not answered yet.
    prompts: Mutex<Vec<CancellationToken>>,
    /// One prompt at a time.
    line: Semaphore,
}

/// The agent's process behind a session.
#[derive(Debug, Default)]
enum Process {
    /// It never was there, or is not wanted any more.
    #[default]
    None,
    /// As far as we know, it is there.
    Running(musher::Session),
    /// It died; this is the last we knew.
    Gone(Box<SessionState>),
}

/// What the editor was last told of the session's settings.
#[derive(Debug, Default, PartialEq)]
struct Told {
    mode: Option<&'static str>,
    options: Vec<SessionConfigOption>,
    title: Option<String>,
}

/// A prompt in line. While it lives, a cancel reaches it.
#[derive(Debug)]
pub(crate) struct Ticket {
    session: Arc<Session>,
    token: CancellationToken,
}

impl Ticket {
    pub(crate) fn token(&self) -> CancellationToken {
        self.token.clone()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // over or cancelled: in both cases there is nothing left to cancel
        self.token.cancel();
        lock(&self.session.prompts).retain(|token| !token.is_cancelled());
    }
}

impl Session {
    /// Starts an agent and opens the session in it.
    pub(crate) async fn open(
        desk: Arc<Desk>,
        cx: ConnectionTo<Client>,
        origin: Origin,
        mut given: Given,
    ) -> Result<Arc<Self>, Error> {
        if !desk.config.additional_directories {
            given.directories = None;
        }
        let client = desk.client();
        let flag = |key: &str| client.meta.as_ref().and_then(|meta| meta.get(key)) == Some(&true.into());
        let can = Abilities {
            notices: client.session.as_ref().is_some_and(|session| session.notices.is_some()),
            compaction: client.session.as_ref().is_some_and(|session| session.compaction.is_some()),
            // a terminal of the editor's own is better than one that we feed
            terminal_output: flag("terminal_output") && !(client.terminal && desk.agents().use_editor),
        };
        let (Origin::New { cwd } | Origin::Stored { cwd, .. } | Origin::Copy { cwd, .. }) = &origin;
        let session = Arc::new_cyclic(|this| Self {
            this: this.clone(),
            cx,
            id: OnceLock::new(),
            given,
            first_model: OnceLock::new(),
            process: Mutex::default(),
            running: Mutex::default(),
            scribe: Mutex::new(Scribe::new(cwd.clone(), can)),
            told: Mutex::default(),
            gauge: Mutex::default(),
            prompts: Mutex::default(),
            line: Semaphore::new(1),
            desk,
        });
        match origin {
            Origin::New { cwd } => {
                let process = session.start(cwd).await?;
                session.id.set(SessionId::new(process.id())).ok();
                session.follow(process);
            }
            Origin::Stored { id, .. } | Origin::Copy { id, .. } => {
                session.id.set(id.clone()).ok();
                let process =
                    session.reopen(id.0.to_string()).await.map_err(|error| opening_error(&error))?;
                session.follow(process);
            }
        }
        Ok(session)
    }

    /// The id the editor knows it by.
    pub(crate) fn id(&self) -> &SessionId {
        static UNKNOWN: OnceLock<SessionId> = OnceLock::new();
        self.id.get().unwrap_or_else(|| UNKNOWN.get_or_init(|| SessionId::new("")))
    }

    /// Modes and options as they are now.
    pub(crate) fn choices(&self) -> (SessionModeState, Vec<SessionConfigOption>) {
        let state = match &*lock(&self.process) {
            Process::Running(process) => process.state(),
            Process::Gone(state) => (**state).clone(),
            Process::None => return (modes::modes(&SessionSettings::default()), Vec::new()),
        };
        (modes::modes(&state.settings), self.options(&state))
    }

    /// Tells the editor the whole conversation so far.
    pub(crate) fn replay(&self) {
        let Some(process) = self.running_process() else { return };
        let history = process.state().history;
        self.tell(|scribe| scribe.history(history.iter().map(|message| &**message)));
    }

    /// Tells the editor what it did not have to wait for: the slash commands, the title, and how full the context is.
    pub(crate) fn introduce(self: &Arc<Self>) {
        let session = Arc::downgrade(self);
        tokio::spawn(async move {
            let Some(process) = session.upgrade().and_then(|session| session.running_process()) else {
                return;
            };
            let lists = async { (process.list_commands().await, process.list_skills().await) };
            // an agent that has none, or does not know the question, still has ours
            let (commands, skills) = match tokio::time::timeout(NICE_TO_HAVE, lists).await {
                Ok((commands, skills)) => (
                    commands.map(|list| list.commands).unwrap_or_default(),
                    skills.map(|list| list.skills).unwrap_or_default(),
                ),
                Err(_elapsed) => Default::default(),
            };
            if let Some(session) = session.upgrade() {
                let commands = AvailableCommandsUpdate::new(commands::available(commands, skills));
                session.send(SessionUpdate::AvailableCommandsUpdate(commands));
                session.tell_state(&process.state());
                session.count().await;
            }
        });
    }

    /// Changes an option. What the editor is told comes from the agent.
    pub(crate) async fn choose(&self, option: &str, value: &str) -> Result<(), Error> {
        let process = self.process().await.map_err(|error| opening_error(&error))?;
        let state = process.state();
        let change = modes::choose(option, value, &state.settings, &self.models(&state))?;
        let now = process.update_settings(change).await.map_err(|error| internal(&error))?;
        self.tell_state(&now);
        Ok(())
    }

    /// Copies the session on disk, and tells the id of the copy.
    pub(crate) async fn copy(&self) -> Result<SessionId, Error> {
        let process = self.process().await.map_err(|error| opening_error(&error))?;
        let copied =
            process.fork_session(ForkSessionParams::default()).await.map_err(|error| internal(&error))?;
        Ok(SessionId::new(copied.new_session_id))
    }

    /// Gives the session a title.
    pub(crate) async fn retitle(&self, title: &str) -> Result<(), Error> {
        let process = self.process().await.map_err(|error| opening_error(&error))?;
        process.rename(title).await.map_err(|error| internal(&error))?;
        self.tell_state(&process.state());
        Ok(())
    }

    /// The id the agent knows it by, which is another one after it was summed up.
    pub(crate) fn inner_id(&self) -> Option<String> {
        match &*lock(&self.process) {
            Process::Running(process) => Some(process.id()),
            Process::Gone(state) => Some(state.id.clone()),
            Process::None => None,
        }
    }

    /// Enters a prompt.
    pub(crate) fn enter(self: &Arc<Self>) -> Ticket {
        let token = CancellationToken::new();
        lock(&self.prompts).push(token.clone());
        Ticket { session: Arc::clone(self), token }
    }

    /// Cancels every prompt that was entered so far, and none that comes later.
    pub(crate) fn cancel(&self) {
        for token in lock(&self.prompts).drain(..) {
            token.cancel();
        }
    }

    /// Cancels all prompts and ends the agent.
    pub(crate) async fn close(&self) {
        self.cancel();
        let process = std::mem::take(&mut *lock(&self.process));
        if let Process::Running(process) = process {
            process.close().await.ok();
        }
    }

    /// Sends what happened, in the order in which it happened.
    fn tell(&self, happened: impl FnOnce(&mut Scribe) -> Vec<SessionUpdate>) {
        let mut scribe = lock(&self.scribe);
        self.send_all(happened(&mut scribe));
    }

    /// Tells what is new about settings and title, and nothing that the editor knows already.
    fn tell_state(&self, state: &SessionState) {
        let mut told = lock(&self.told);
        let mode = modes::current(&state.settings);
        if told.mode.replace(mode) != Some(mode) {
            self.send(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(mode)));
        }
        let options = self.options(state);
        if told.options != options {
            told.options.clone_from(&options);
            self.send(SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options)));
        }
        if let Some(title) = &state.title
            && told.title.as_ref() != Some(title)
        {
            told.title = Some(title.clone());
            self.send(SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title.clone())));
        }
    }

    fn options(&self, state: &SessionState) -> Vec<SessionConfigOption> {
        modes::options(&state.settings, &self.models(state))
    }

    /// The models to choose from: also the one it began with, so that there is a way back.
    fn models(&self, state: &SessionState) -> Vec<ModelInfo> {
        let first =
            self.first_model.get().filter(|first| state.models.iter().all(|model| model.id != **first));
        first
            .map(|first| ModelInfo::new(first.clone()))
            .into_iter()
            .chain(state.models.iter().cloned())
            .collect()
    }

    fn send_all(&self, updates: impl IntoIterator<Item = SessionUpdate>) {
        for update in updates {
            self.send(update);
        }
    }

    fn send(&self, update: SessionUpdate) {
        // an editor that is gone misses nothing
        if self.cx.send_notification(SessionNotification::new(self.id().clone(), update)).is_ok() {
            self.desk.link.add_update();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a session cannot be opened, in the protocol's words.
fn opening_error(error: &musher::Error) -> Error {
    if let musher::ErrorKind::SessionNotFound { session_id } = error.kind() {
        return no_session(session_id);
    }
    if error.is_invalid_input() {
        return Error::invalid_params().data(error.to_string());
    }
    let text = failure_text(error);
    let lower = text.to_lowercase();
    if ["api key", "api_key", "not logged in", "log in", "authentication"]
        .iter()
        .any(|sign| lower.contains(sign))
    {
        return Error::auth_required().data(text);
    }
    internal(error)
}

/// Any other failure, with what the agent said last.
fn internal(error: &musher::Error) -> Error {
    let text = failure_text(error);
    Error::new(-32603, text)
}

fn failure_text(error: &musher::Error) -> String {
    match error.kind() {
        musher::ErrorKind::ProcessExit { stderr, .. } if !stderr.trim().is_empty() => {
            let text = error.to_string();
            // some errors have the last words in their text already
            if text.contains(stderr.trim()) { text } else { format!("{text}: {}", stderr.trim()) }
        }
        _ => error.to_string(),
    }
}
