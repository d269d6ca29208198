//! The configuration of the bridge.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Where `agent: "engine"` runs: the engine of musher.
#[derive(Clone)]
pub enum Engine {
    /// In a program with the interface of `droid exec`: a path, or a name to look up in `PATH`.
    Program(PathBuf),
    /// In this process. Called for each session with this agent; the error says why there is none.
    Embedded(Arc<dyn Fn() -> Result<EmbeddedEngine, String> + Send + Sync>),
}

/// The engine in this process.
#[derive(Clone)]
pub struct EmbeddedEngine {
    /// Its agent.
    pub agent: musher::Agent,
    /// Which models its sessions can use.
    pub has_model: HasModel,
}

/// Whether a session with this working directory can use a model of this name.
pub type HasModel = Arc<dyn Fn(&Path, &str) -> bool + Send + Sync>;

/// The configuration of the bridge.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// The Claude Code CLI: a path, or a name to look up in `PATH`.
    pub claude: PathBuf,
    /// Droid: a path, or a name to look up in `PATH`.
    pub droid: PathBuf,
    /// The engine of musher.
    pub engine: Engine,
    /// The sandbox of sessions of the engine that name none, as in the engine's settings.
    pub sandbox: Option<serde_json::Value>,
    /// How long a front end may take to answer a callback.
    pub callback_timeout: Duration,
    /// How long an agent may take to start, and to respond to a call.
    pub agent_timeout: Duration,
    /// Receives log lines for users; stdout carries the protocol.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            claude: "claude".into(),
            droid: "droid".into(),
            engine: Engine::Program("musher".into()),
            sandbox: None,
            callback_timeout: Duration::from_mins(5),
            agent_timeout: Duration::from_mins(1),
            log: Arc::new(|_line| {}),
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(program) => f.debug_tuple("Program").field(program).finish(),
            Self::Embedded(_) => f.write_str("Embedded"),
        }
    }
}

impl fmt::Debug for EmbeddedEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedEngine").field("agent", &self.agent).finish_non_exhaustive()
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("claude", &self.claude)
            .field("droid", &self.droid)
            .field("engine", &self.engine)
            .field("callback_timeout", &self.callback_timeout)
            .finish_non_exhaustive()
    }
}
