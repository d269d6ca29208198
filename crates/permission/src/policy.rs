//! What a session may do without asking, its autonomy level among it: plain data that decisions change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::Risk;
use serde::{Deserialize, Serialize};

use super::{Choice, Rule, SecretFiles};

/// The autonomy level: which risks run without asking the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Autonomy {
    /// Only what changes nothing.
    #[default]
    Off,
    /// Also changes of files in the workspace.
    Low,
    /// Also builds, packages, local version control and reads from the network.
    Medium,
    /// Everything except what always needs permission.
    High,
}

impl Autonomy {
    /// Returns the name that clients know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Parses a level name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Off, Self::Low, Self::Medium, Self::High].into_iter().find(|level| level.name() == name)
    }

    /// Returns the lowest level at which something of this risk runs without asking.
    pub fn for_risk(risk: Risk) -> Self {
        match risk {
            Risk::None => Self::Off,
            Risk::Low => Self::Low,
            Risk::Medium => Self::Medium,
            Risk::High => Self::High,
        }
    }

    /// Returns whether something of this risk runs without asking.
    pub fn allows(self, risk: Risk) -> bool {
        self >= Self::for_risk(risk)
    }
}

/// Whether the agent works or plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The agent works.
    #[default]
    Auto,
    /// The agent plans: nothing is changed, whatever the user permits.
    Spec,
}

/// What a session may do without asking.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// The autonomy level.
    pub autonomy: Autonomy,
    /// The maximum autonomy level: it limits the level and every decision.
    pub max_autonomy: Option<Autonomy>,
    /// Whether the agent works or plans.
    pub mode: Mode,
    /// Never ask: the client has disabled permission requests.
    pub skip_all: bool,
    /// Always ask, unless permission requests are disabled.
    pub ask_all: bool,
    /// Not interactive: a call that needs permission is refused.
    pub auto_reject: bool,
    /// Commands that run at any level. All commands of a line must be covered.
    pub allow: Vec<Rule>,
    /// Commands that need permission at any level. They take precedence over `allow`.
    pub deny: Vec<Rule>,
    /// Commands that never run.
    pub block: Vec<Rule>,
    /// Tools of MCP servers that the user has granted for this session.
    pub grants: Grants,
    /// The user's home directory, by its real path: credentials and start-up files are below it.
    pub home: PathBuf,
    /// Additional directories with settings and sessions of agents, by their real paths.
    pub settings_folders: Vec<PathBuf>,
    /// Files that hooks and MCP servers run, by their real paths: writing them always needs permission.
    pub protected_files: Vec<PathBuf>,
    /// Where the shell looks for programs. Programs of an entry in the workspace or with a relative path are unknown ones.
    pub search_path: Vec<PathBuf>,
}

impl Policy {
    /// Returns which files may hold secrets, for tools that read many files.
    pub fn secret_files(&self) -> SecretFiles {
        SecretFiles { home: self.home.clone(), settings_folders: self.settings_folders.clone() }
    }

    /// Returns the effective autonomy level.
    pub fn level(&self) -> Autonomy {
        self.autonomy.min(self.max_autonomy.unwrap_or(Autonomy::High))
    }

    /// Returns the choices that stay within the maximum level.
    pub(super) fn offered(&self, choices: &[Choice], risk: Risk) -> Vec<Choice> {
        let most = self.max_autonomy.unwrap_or(Autonomy::High);
        choices.iter().copied().filter(|choice| choice.granted_level(risk) <= most).collect()
    }
}

/// Granted tools of MCP servers, each with the highest risk that the grant covers, and granted hosts of network tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    tools: BTreeMap<(String, String), Risk>,
    servers: BTreeMap<String, Risk>,
    addresses: BTreeSet<(String, String)>,
}

impl Grants {
    /// Grants one tool of a server.
    pub fn add_tool(&mut self, server: &str, tool: &str, risk: Risk) {
        let most = self.tools.entry((server.to_owned(), tool.to_owned())).or_insert(risk);
        *most = risk.max(*most);
    }

    /// Grants all tools of a server.
    pub fn add_server(&mut self, server: &str, risk: Risk) {
        let most = self.servers.entry(server.to_owned()).or_insert(risk);
        *most = risk.max(*most);
    }

    /// Grants a network tool for the host of a URL, or for everything that is not a URL.
    pub fn add_address(&mut self, tool: &str, target: &str) {
        self.addresses.insert((tool.to_owned(), host(target).unwrap_or_default().to_owned()));
    }

    /// Returns whether a network tool is granted for a target.
    pub fn covers_address(&self, tool: &str, target: &str) -> bool {
        self.addresses.contains(&(tool.to_owned(), host(target).unwrap_or_default().to_owned()))
    }

    /// Returns whether a call of this risk is granted.
    pub fn covers(&self, server: &str, tool: &str, risk: Risk) -> bool {
        let by_tool = self.tools.get(&(server.to_owned(), tool.to_owned()));
        by_tool.is_some_and(|most| risk <= *most)
            || self.servers.get(server).is_some_and(|most| risk <= *most)
    }
}

/// Returns the host of a URL, with its port. What may be a URL without a scheme is its own host.
pub(crate) fn host(target: &str) -> Option<&str> {
    let Some((_, rest)) = target.split_once("://") else {
        return Some(target)
            .filter(|text| !text.contains(char::is_whitespace) && text.contains(['.', ':', '/']));
    };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    Some(&rest[..end])
}
