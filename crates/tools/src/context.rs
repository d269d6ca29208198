//! The context of a call besides its arguments: the workspace, the progress observer, and the files that the session has seen.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use crate::session_port::no_session;
use crate::{Access, Editor, Processes, SessionPort, SessionRequest, ToolOutput, Workspace};

/// The context of a call. Cheap to clone; clones share the session's seen files and processes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Context {
    /// The workspace: commands start in its root, and relative paths start there.
    pub workspace: Arc<Workspace>,
    /// Whether file tools may leave the workspace. Set per call by the owner of the permission decision.
    pub access: Access,
    /// A private directory for long outputs, created when first needed.
    pub scratch: PathBuf,
    /// The environment of commands; see [`command_environment`](crate::command_environment).
    pub environment: Arc<[(OsString, OsString)]>,
    /// The processes that this session has started and not ended yet.
    pub processes: Arc<Processes>,
    /// The files whose content this session has seen.
    pub seen: Arc<SeenFiles>,
    /// The editor that has the workspace open, if any.
    pub editor: Option<Arc<dyn Editor>>,
    /// Whether commands may run in the editor's terminals: only if a user sees them.
    pub has_terminals: bool,
    /// Whether the editor left the last request unanswered.
    pub(crate) is_silent: Arc<AtomicBool>,
    /// The session of the call, if any.
    pub session: Option<Arc<dyn SessionPort>>,
    progress: Option<Observer>,
}

type Observer = Arc<dyn Fn(Progress) + Send + Sync>;

/// A progress report of a running call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The id of the command, the same in all its reports.
    pub terminal: String,
    /// The output since the last report; empty in the first report.
    pub text: String,
}

impl Context {
    /// Creates a context for a workspace, with an empty environment and no seen files.
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

    /// Sets the session of the call.
    #[must_use]
    pub fn with_session(self, session: Arc<dyn SessionPort>) -> Self {
        Self { session: Some(session), ..self }
    }

    /// Sends a request to the session; returns an error output if there is no session.
    pub(crate) async fn session_request(&self, tool: &str, request: SessionRequest) -> ToolOutput {
        match &self.session {
            Some(session) => session.request(request).await,
            None => no_session(tool),
        }
    }

    /// Sets where file tools may go.
    #[must_use]
    pub fn with_access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Sets the environment of commands.
    #[must_use]
    pub fn with_environment(self, environment: Vec<(OsString, OsString)>) -> Self {
        Self { environment: environment.into(), ..self }
    }

    /// Sets the editor that has the workspace open.
    #[must_use]
    pub fn with_editor(self, editor: Option<Arc<dyn Editor>>) -> Self {
        Self { editor, ..self }
    }

    /// Sets the observer of progress. It must not block.
    #[must_use]
    pub fn with_progress(self, observer: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self { progress: Some(Arc::new(observer)), ..self }
    }

    pub(crate) fn report(&self, progress: impl FnOnce() -> Progress) {
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

/// The files whose content a session has seen, by their real paths. Only these files may be edited.
#[derive(Debug, Default)]
pub struct SeenFiles {
    // held for a few instructions only, never across an await
    paths: Mutex<HashSet<PathBuf>>,
}

impl SeenFiles {
    /// Adds a file.
    pub fn add(&self, path: impl Into<PathBuf>) {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).insert(path.into());
    }

    /// Whether the session has seen a file.
    pub fn contains(&self, path: &Path) -> bool {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }
}
