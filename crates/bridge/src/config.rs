//! What the bridge is told when it starts.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Where the engine of musher is, which is what `agent: "engine"` means.
#[derive(Clone)]
pub enum Engine {
    /// In a program that is called like `droid exec`: a path, or a name to look up in `PATH`.
    Program(PathBuf),
    /// In our own process. Asked for each session that wants it; says why there is none.
    Embedded(Arc<dyn Fn() -> Result<musher::Agent, String> + Send + Sync>),
}

/// How the bridge works.
#[derive(Clone)]
#[non_exhaustive]
pub struct Config {
    /// The Claude Code CLI: a path, or a name to look up in `PATH`.
    pub claude: PathBuf,
    /// Droid: a path, or a name to look up in `PATH`.
    pub droid: PathBuf,
    /// The engine of musher.
    pub engine: Engine,
    /// How long a front end may take to answer a callback.
    pub callback_timeout: Duration,
    /// How long an agent may take to be ready, and to answer a call.
    pub agent_timeout: Duration,
    /// Takes lines for people; stdout is the protocol.
    pub log: Arc<dyn Fn(&str) + Send + Sync>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            claude: "claude".into(),
            droid: "droid".into(),
            engine: Engine::Program("musher".into()),
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
