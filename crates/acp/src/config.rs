//! The configuration of the adapter: the agent, where its sessions are, and the logins.
//!
//! Reads no file and no environment variable except the one of [`Login::factory_key`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use musher::Agent;

/// The configuration of the adapter.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The agent; each session has a process or connection of its own.
    pub agent: Agent,
    /// Whether the agent supports additional directories of a workspace.
    pub additional_directories: bool,
    /// Where the agent keeps its sessions; `~/.factory/sessions` if not set.
    pub sessions_dir: Option<PathBuf>,
    /// Where another agent keeps sessions, which this agent imports when they are loaded. They are listed and never deleted.
    pub foreign_sessions_dir: Option<PathBuf>,
    /// The model of new sessions; the agent's own choice if not set.
    pub model: Option<String>,
    /// The names of models that the agent has besides the ids that it lists.
    pub model_names: ModelNames,
    /// The command that logs in to the MCP server named behind it, if the agent leaves that to a command.
    pub mcp_login: Option<String>,
    /// The logins the editor offers. Their descriptions say what to do when no model is set up.
    pub logins: Vec<Login>,
}

impl Config {
    /// Creates an adapter for this agent, which is droid or wants the same key.
    pub fn new(agent: Agent) -> Self {
        Self {
            agent,
            additional_directories: false,
            sessions_dir: None,
            foreign_sessions_dir: None,
            model: None,
            model_names: ModelNames::default(),
            mcp_login: None,
            logins: vec![Login::factory_key()],
        }
    }
}

/// Finds a model by a name that the agent does not list, such as `vendor/model`. By default there are no such names.
#[derive(Clone, Default)]
pub struct ModelNames(Option<Arc<FindModel>>);

/// Returns the id of the model with this name in a session with this working directory.
type FindModel = dyn Fn(&Path, &str) -> Option<String> + Send + Sync;

impl ModelNames {
    /// Finds models with a function, which may read files.
    pub fn new(find: impl Fn(&Path, &str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(find)))
    }

    /// Returns the id of the model with this name.
    pub(crate) async fn find(&self, cwd: PathBuf, name: String) -> Option<String> {
        let find = Arc::clone(self.0.as_ref()?);
        tokio::task::spawn_blocking(move || find(&cwd, &name)).await.ok()?
    }
}

impl fmt::Debug for ModelNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ModelNames").field(&self.0.is_some()).finish()
    }
}

/// A login: a way to set up what the agent needs, as the editor offers it.
#[derive(Debug, Clone)]
pub struct Login {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) action: LoginAction,
}

/// What a login does.
#[derive(Clone)]
pub(crate) enum LoginAction {
    /// Checks whether everything is set up, and reports what is missing, which the user has to fix elsewhere.
    Check(Arc<dyn Fn() -> Result<(), String> + Send + Sync>),
    /// New sessions get this agent and this model from then on.
    Switch(Box<(Agent, String)>),
}

impl fmt::Debug for LoginAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(_) => f.write_str("Check"),
            Self::Switch(choice) => f.debug_tuple("Switch").field(&choice.1).finish(),
        }
    }
}

impl Login {
    /// Returns the login with droid's account. Its key can only come from the environment, where the agent reads it itself.
    pub fn factory_key() -> Self {
        let about =
            "Set FACTORY_API_KEY for the editor's agent, or run `droid` once in a terminal and log in";
        Self::check("factory-api-key", "Factory API key", about, || {
            if std::env::var_os("FACTORY_API_KEY").is_some_and(|key| !key.is_empty()) {
                return Ok(());
            }
            Err("FACTORY_API_KEY is not set where the editor starts agents".to_owned())
        })
    }

    /// A login that only checks whether everything is set up: `is_ready` returns what is missing.
    pub fn check(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
        is_ready: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: description.into(),
            action: LoginAction::Check(Arc::new(is_ready)),
        }
    }

    /// Creates a login that switches new sessions to another agent and this model of it.
    pub fn switch_agent(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
        agent: Agent,
        model: impl Into<String>,
    ) -> Self {
        let action = LoginAction::Switch(Box::new((agent, model.into())));
        Self { id: id.into(), name: name.into(), description: description.into(), action }
    }
}
