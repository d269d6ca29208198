//! Opens the agent of a session: the engine in this process, or a worker program.

use std::path::Path;
use std::sync::Arc;

use musher_engine::SessionId;
use musher_engine::store::Store;
use musher_rpc::{Child, Connection, Launch};

use super::options::AgentSource;
use crate::connect;

/// A connection to an agent that has no session yet.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    /// The worker, if it is a program.
    pub(crate) child: Option<Child>,
}

impl AgentSource {
    /// Opens an agent, in this working directory if it is a program.
    pub(crate) async fn open(&self, cwd: Option<&str>) -> Result<Opened, String> {
        match self {
            Self::Engine(environment) => {
                Ok(Opened { connection: connect(Arc::clone(environment)), child: None })
            }
            Self::Program { path } => worker(path, cwd).await,
        }
    }
}

impl AgentSource {
    /// Returns whether an agent can continue a turn that was interrupted. A program that cannot would never ask again.
    pub(crate) fn continues_turns(&self) -> bool {
        matches!(self, Self::Engine(_))
    }

    /// Returns whether an agent may know a session that is not among ours.
    pub(crate) fn finds(&self, session: &SessionId) -> bool {
        match self {
            // sessions of droid, which the engine imports
            Self::Engine(environment) => {
                environment.factory_home().is_some_and(|home| Store::open(home).find(session).is_some())
            }
            // only the program knows
            Self::Program { .. } => true,
        }
    }
}

async fn worker(path: &Path, cwd: Option<&str>) -> Result<Opened, String> {
    let format = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
    let launch = Launch::new(path).arg("exec").args(format);
    let launch = match cwd {
        Some(cwd) => launch.cwd(cwd),
        None => launch,
    };
    match Child::spawn(launch).await {
        Ok((child, connection)) => Ok(Opened { connection, child: Some(child) }),
        Err(error) => Err(match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        }),
    }
}
