//! What the adapter is set to: the agent, where its sessions are, and how one gets a model or an account.
//!
//! Reads no environment variable and no file itself, except for what [`Login::factory_key`] is about.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use musher::Agent;

use crate::editor::Editor;

/// What the adapter is set to.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The agent behind it; each session gets one of its own.
    pub agent: Agents,
    /// Whether the agent knows further folders of a workspace.
    pub additional_directories: bool,
    /// Where the agent keeps its sessions; `~/.factory/sessions` if not set.
    pub sessions_dir: Option<PathBuf>,
    /// Where sessions of others are, which the agent takes over when they are loaded. They are listed and never deleted.
    pub foreign_sessions_dir: Option<PathBuf>,
    /// The model of new sessions; the agent's own choice if not set.
    pub model: Option<String>,
    /// The ways to get what the agent needs before it can answer. The first says what to do when it is missing.
    pub logins: Vec<Login>,
}

impl Config {
    /// An adapter for this agent, which is droid or wants the same key.
    pub fn new(agent: impl Into<Agents>) -> Self {
        Self {
            agent: agent.into(),
            additional_directories: false,
            sessions_dir: None,
            foreign_sessions_dir: None,
            model: None,
            logins: vec![Login::factory_key()],
        }
    }
}

/// Which agent a session gets.
#[derive(Clone)]
pub struct Agents {
    of: Arc<dyn Fn(Editor) -> Agent + Send + Sync>,
    /// Whether they ask the editor for files and terminals.
    pub(crate) use_editor: bool,
}

impl Agents {
    /// Agents that use the editor's files and terminals, each those of its session.
    pub fn with_editor(of: impl Fn(Editor) -> Agent + Send + Sync + 'static) -> Self {
        Self { of: Arc::new(of), use_editor: true }
    }

    /// The agent of a session.
    pub(crate) fn of(&self, editor: Editor) -> Agent {
        (self.of)(editor)
    }
}

impl From<Agent> for Agents {
    /// The same for all sessions.
    fn from(agent: Agent) -> Self {
        Self { of: Arc::new(move |_editor| agent.clone()), use_editor: false }
    }
}

impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agents").field("use_editor", &self.use_editor).finish_non_exhaustive()
    }
}

/// A way to get what the agent needs before it can answer, as the editor offers it.
#[derive(Debug, Clone)]
pub struct Login {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) way: Way,
}

/// What choosing a login does.
#[derive(Clone)]
pub(crate) enum Way {
    /// It only says whether all is there, and otherwise why not: the person has to act outside.
    Check(Arc<dyn Fn() -> Result<(), String> + Send + Sync>),
    /// From then on new sessions get this agent and this model.
    Instead(Box<(Agents, String)>),
}

impl fmt::Debug for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(_) => f.write_str("Check"),
            Self::Instead(instead) => f.debug_tuple("Instead").field(&instead.1).finish(),
        }
    }
}

impl Login {
    /// The account of droid: its key can only come from the environment, where the agent reads it itself.
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

    /// One that only says whether all is there: `is_ready` gives what is missing.
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
            way: Way::Check(Arc::new(is_ready)),
        }
    }

    /// One after which new sessions get another agent and this model of it.
    pub fn instead(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
        agent: impl Into<Agents>,
        model: impl Into<String>,
    ) -> Self {
        let way = Way::Instead(Box::new((agent.into(), model.into())));
        Self { id: id.into(), name: name.into(), description: description.into(), way }
    }
}
