//! The context of a call besides its arguments: the workspace, the progress observer, and what the session has seen and started.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use musher_permission::SecretFiles;
use musher_process::Sandbox;

use crate::process::TempFolder;
use crate::session_port::no_session;
use crate::{Access, Editor, Processes, SeenFiles, SessionPort, SessionRequest, ToolOutput, Workspace};

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
    /// What commands may change and connect to; `None` if everything. Set per call, see [`confined`](Self::confined).
    pub sandbox: Option<Sandbox>,
    /// The program that starts a sandboxed command in the editor's terminal; see [`Sandbox::launch`]. Without it, such commands run
    /// without a terminal.
    pub launcher: Option<PathBuf>,
    /// The directory of the sandbox's temporary files.
    temp: Arc<TempFolder>,
    /// The processes that this session has started and not ended yet.
    pub processes: Arc<Processes>,
    /// The versions of files that the model has seen.
    pub seen: Arc<SeenFiles>,
    /// The files that recursive reads leave out.
    pub secrets: SecretFiles,
    /// Whether the model reads documents such as PDFs. If not, tools return their text.
    pub accepts_documents: bool,
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
            sandbox: None,
            launcher: None,
            temp: Arc::default(),
            processes: Arc::default(),
            seen: Arc::default(),
            secrets: SecretFiles::default(),
            accepts_documents: false,
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

    /// Sets the files that recursive reads leave out.
    #[must_use]
    pub fn with_secrets(self, secrets: SecretFiles) -> Self {
        Self { secrets, ..self }
    }

    /// Sets the program that starts a sandboxed command in the editor's terminal.
    #[must_use]
    pub fn with_launcher(self, launcher: Option<PathBuf>) -> Self {
        Self { launcher, ..self }
    }

    /// Sets what commands may change and connect to. The sandbox should come from [`with_temp`](Self::with_temp).
    #[must_use]
    pub fn confined(self, sandbox: Option<Sandbox>) -> Self {
        Self { sandbox, ..self }
    }

    /// Adds the session's directory for temporary files to a sandbox, and creates it when it is first needed. Blocks.
    ///
    /// The directory is private, and removed with the last clone of this context.
    pub fn with_temp(&self, sandbox: Sandbox) -> std::io::Result<Sandbox> {
        let base =
            self.environment.iter().find(|(name, _)| name == "TMPDIR").map(|(_, value)| Path::new(value));
        let base = base.filter(|base| base.is_absolute() && base.is_dir());
        Ok(sandbox.temp(self.temp.path(base.unwrap_or(Path::new("/tmp")))?))
    }

    /// Sets the editor that has the workspace open.
    #[must_use]
    pub fn with_editor(self, editor: Option<Arc<dyn Editor>>) -> Self {
        Self { editor, ..self }
    }

    /// Sets whether the model reads documents such as PDFs.
    #[must_use]
    pub fn with_documents(self, accepts_documents: bool) -> Self {
        Self { accepts_documents, ..self }
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
