//! What a tool gets besides its arguments: where it works, whom it tells, and what this session has seen.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use crate::session_port::no_session;
use crate::{Access, Editor, Processes, SessionPort, SessionRequest, ToolOutput, Workspace};

/// The surroundings of a run. Cheap to clone; clones share what the session has seen and started.
#[derive(Clone)]
#[non_exhaustive]
pub struct Context {
    /// The folder commands start in and relative paths begin at.
    pub workspace: Arc<Workspace>,
    /// Whether file tools may leave it. Set per call, by who has the consent.
    pub access: Access,
    /// A private folder for long outputs; made when first needed.
    pub scratch: PathBuf,
    /// The environment of commands; see [`command_environment`](crate::command_environment).
    pub environment: Arc<[(OsString, OsString)]>,
    /// What this session has started and not ended yet.
    pub processes: Arc<Processes>,
    /// The files this session has seen the content of.
    pub seen: Arc<SeenFiles>,
    /// The editor that has the workspace open, if there is one.
    pub editor: Option<Arc<dyn Editor>>,
    /// Whether commands may run in its terminals: only if they are shown to somebody.
    pub has_terminals: bool,
    /// Whether it has left the last question unanswered.
    pub(crate) is_silent: Arc<AtomicBool>,
    /// The session the call belongs to, if there is one.
    pub session: Option<Arc<dyn SessionPort>>,
    progress: Option<Observer>,
}

type Observer = Arc<dyn Fn(Progress) + Send + Sync>;

/// News of a run that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// Which command it is of, the same for all its news.
    pub terminal: String,
    /// What it has said since the last news; empty when it has just begun.
    pub text: String,
}

impl Context {
    /// A context for a workspace, with an empty environment and nothing seen.
    pub fn new(workspace: Workspace, scratch: impl Into<PathBuf>) -> Self {
        Self {
            workspace: Arc::new(workspace),
            access: Access::Workspace,
            scratch: scratch.into(),
            environment: Arc::default(),
            processes: Arc::default(),
            seen: Arc::default(),
            editor: None,
            has_terminals: true,
            is_silent: Arc::default(),
            session: None,
            progress: None,
        }
    }

    /// With the session that the call belongs to.
    #[must_use]
    pub fn with_session(self, session: Arc<dyn SessionPort>) -> Self {
        Self { session: Some(session), ..self }
    }

    /// Asks the session for something; an error output if there is none.
    pub(crate) async fn session_request(&self, tool: &str, request: SessionRequest) -> ToolOutput {
        match &self.session {
            Some(session) => session.request(request).await,
            None => no_session(tool),
        }
    }

    /// With file tools allowed to go where they are asked to.
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// With the environment of commands.
    #[must_use]
    pub fn with_environment(self, environment: Vec<(OsString, OsString)>) -> Self {
        Self { environment: environment.into(), ..self }
    }

    /// With an editor that has the workspace open.
    #[must_use]
    pub fn with_editor(self, editor: Option<Arc<dyn Editor>>) -> Self {
        Self { editor, ..self }
    }

    /// With somebody to tell how a run goes. It must not block.
    #[must_use]
    pub fn with_progress(self, observer: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { progress: Some(Arc::new(observer)), ..self }
    }

    pub(crate) fn tell(&self, progress: impl FnOnce() -> Progress) {
        if let Some(observer) = &self.progress {
            observer(progress());
        }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("workspace", &self.workspace)
            .field("access", &self.access)
            .field("scratch", &self.scratch)
            .finish_non_exhaustive()
    }
}

/// The files whose content a session has seen, by their real paths. Only such files are edited.
#[derive(Debug, Default)]
pub struct SeenFiles {
    // held for a few instructions only, never across an await
    paths: Mutex<HashSet<PathBuf>>,
}

impl SeenFiles {
    /// Remembers a file.
    pub fn add(&self, path: impl Into<PathBuf>) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).insert(path.into());
    }

    /// Whether a file was seen.
    pub fn contains(&self, path: &Path) -> bool {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }
}
