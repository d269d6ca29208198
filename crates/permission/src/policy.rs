//! What a session may do without asking: plain data that answers change.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::Risk;
use serde::{Deserialize, Serialize};

use super::{Choice, Rule};

/// How much may happen without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Autonomy {
    /// Only what changes nothing.
    #[default]
    Off,
    /// Files of the workspace, too.
    Low,
    /// Builds, packages, local version control and reads from the network, too.
    Medium,
    /// Everything that is not always asked for.
    High,
}

impl Autonomy {
    /// The word clients know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The level of a word, if it is one.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Off, Self::Low, Self::Medium, Self::High].into_iter().find(|level| level.name() == name)
    }

    /// The least level at which something of this risk is not asked for.
    pub fn for_risk(risk: Risk) -> Self {
        match risk {
            Risk::None => Self::Off,
            Risk::Low => Self::Low,
            Risk::Medium => Self::Medium,
            Risk::High => Self::High,
        }
    }

    /// Whether something of this risk runs without asking.
    pub fn allows(self, risk: Risk) -> bool {
        self >= Self::for_risk(risk)
    }
}

/// Whether the agent works or plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It works.
    #[default]
    Auto,
    /// It plans: nothing is changed, whatever anybody agrees to.
    Spec,
}

/// What a session may do without asking.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// How much may happen without asking.
    pub autonomy: Autonomy,
    /// More than this is never given, whatever the autonomy says and whoever agrees.
    pub max_autonomy: Option<Autonomy>,
    /// Whether the agent works or plans.
    pub mode: Mode,
    /// Nothing is asked for: somebody has switched consent off.
    pub skip_all: bool,
    /// Everything is asked for, unless consent is switched off.
    pub ask_all: bool,
    /// Nobody is there to answer: what would be asked for is refused.
    pub auto_reject: bool,
    /// Commands that run at any level. All commands of a line must be covered.
    pub allow: Vec<Rule>,
    /// Commands that are asked for at any level. They win over `allow`.
    pub deny: Vec<Rule>,
    /// Commands that never run.
    pub block: Vec<Rule>,
    /// Tools of MCP servers somebody has agreed to for this session.
    pub grants: Grants,
    /// The user's home folder, by its real path: credentials and start-up files are below it.
    pub home: PathBuf,
    /// More folders with settings and sessions of agents, by their real paths.
    pub settings_folders: Vec<PathBuf>,
    /// Where the shell looks for programs. One that lies in the workspace or is relative makes its programs unknown ones.
    pub search_path: Vec<PathBuf>,
}

impl Policy {
    /// The autonomy that counts.
    pub fn level(&self) -> Autonomy {
        self.autonomy.min(self.max_autonomy.unwrap_or(Autonomy::High))
    }

    /// The choices that give no more than may be given.
    pub(super) fn offered(&self, choices: &[Choice], risk: Risk) -> Vec<Choice> {
        let most = self.max_autonomy.unwrap_or(Autonomy::High);
        choices.iter().copied().filter(|choice| choice.given(risk) <= most).collect()
    }
}

/// Tools of MCP servers that are not asked for any more, with the most that was at stake when that was said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    tools: BTreeMap<(String, String), Risk>,
    servers: BTreeMap<String, Risk>,
}

impl Grants {
    /// Remembers one tool of a server.
    pub fn add_tool(&mut self, server: &str, tool: &str, risk: Risk) {
        let most = self.tools.entry((server.to_owned(), tool.to_owned())).or_insert(risk);
        *most = risk.max(*most);
    }

    /// Remembers all tools of a server.
    pub fn add_server(&mut self, server: &str, risk: Risk) {
        let most = self.servers.entry(server.to_owned()).or_insert(risk);
        *most = risk.max(*most);
    }

    /// Whether a call of this risk was agreed to.
    pub fn covers(&self, server: &str, tool: &str, risk: Risk) -> bool {
        let by_tool = self.tools.get(&(server.to_owned(), tool.to_owned()));
        by_tool.is_some_and(|most| risk <= *most)
            || self.servers.get(server).is_some_and(|most| risk <= *most)
    }
}
