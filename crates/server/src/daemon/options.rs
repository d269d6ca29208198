//! What a daemon is started with.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use musher_engine::Environment;
use musher_engine::store::Store;
use musher_engine::store::shared::{Events, Inbox, Ledger, PromptQueue};

use super::access::{Origins, Token};

/// Where the agents of sessions come from.
#[derive(Debug, Clone)]
pub enum AgentSource {
    /// The engine in this process.
    Engine(Arc<Environment>),
    /// A program that speaks the Droid protocol, one process per session.
    Program {
        /// The program, started with `exec --input-format stream-jsonrpc --output-format stream-jsonrpc`.
        path: PathBuf,
    },
}

/// State that the processes of a fleet share.
pub trait SharedState: Events + PromptQueue + Inbox + Ledger {}

impl<T: Events + PromptQueue + Inbox + Ledger> SharedState for T {}

/// A limit on spending; `None` for none.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpendingLimit {
    /// Tokens of all kinds, cached ones included.
    pub tokens: Option<u64>,
    /// Money in billionths of a US dollar.
    pub nanos: Option<u64>,
}

/// What sessions may spend.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpendingLimits {
    /// Each session.
    pub session: SpendingLimit,
    /// All sessions on one day, in UTC.
    pub day: SpendingLimit,
}

impl SpendingLimits {
    /// Returns whether there is no limit.
    pub fn is_unlimited(&self) -> bool {
        let limits = [self.session, self.day];
        limits.iter().all(|limit| limit.tokens.is_none() && limit.nanos.is_none())
    }
}

/// The options of a daemon.
#[derive(Debug, Clone)]
pub struct DaemonOptions {
    /// Where the agents come from.
    pub agents: AgentSource,
    /// The sessions on disk, for lists.
    pub store: Store,
    /// Events, prompts and open requests.
    pub shared: Arc<dyn SharedState>,
    /// The id of this machine.
    pub host_id: String,
    /// The user's home directory, which clients show.
    pub user_home: Option<PathBuf>,
    /// The credential of clients.
    pub token: Token,
    /// The web pages that may connect.
    pub origins: Origins,
    /// Maximum number of sessions with an agent.
    pub max_sessions: usize,
    /// Maximum number of turns that run at once; further ones wait in order of arrival.
    pub max_turns: usize,
    /// How long a session may do nothing before its agent ends. The next message revives it.
    pub idle_timeout: Duration,
    /// What sessions may spend.
    pub budget: SpendingLimits,
    /// Whether turns that a former daemon was killed in continue by themselves.
    pub continues_turns: bool,
    /// The directory for worktrees of sessions; `None` if sessions get none.
    pub worktrees: Option<PathBuf>,
}

impl DaemonOptions {
    /// Returns options with the default limits.
    pub fn new(
        agents: AgentSource,
        store: Store,
        shared: Arc<dyn SharedState>,
        host_id: String,
        token: Token,
    ) -> Self {
        Self {
            agents,
            store,
            shared,
            host_id,
            user_home: None,
            token,
            origins: Origins::default(),
            max_sessions: 1000,
            max_turns: 64,
            idle_timeout: Duration::from_mins(30),
            budget: SpendingLimits::default(),
            continues_turns: false,
            worktrees: None,
        }
    }
}
