//! What a call does, as its tool declares it. Everything the decision looks at is here; it never looks at a tool's name.

use std::path::PathBuf;

use crate::Risk;

/// A call that a model wants to make.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The name of the tool, for the texts of requests and refusals.
    pub tool: &'a str,
    /// What it does.
    pub action: Action<'a>,
}

impl<'a> Call<'a> {
    /// A call of a tool.
    pub fn new(tool: &'a str, action: Action<'a>) -> Self {
        Self { tool, action }
    }
}

/// What a call does.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Action<'a> {
    /// Runs a command line in bash, in the root of the workspace.
    Command {
        /// The command line.
        line: &'a str,
        /// Why the model wants it, which the user is shown. It changes nothing about the decision.
        reason: Option<&'a str>,
    },
    /// Writes a whole file.
    Create {
        /// The file.
        path: &'a str,
        /// Its new content.
        content: &'a str,
    },
    /// Changes a part of a file.
    Edit {
        /// The file.
        path: &'a str,
    },
    /// Applies a patch.
    Patch {
        /// The patch, as the user is shown it.
        patch: &'a str,
        /// All files it touches.
        paths: Vec<PathBuf>,
    },
    /// Reads the content of files.
    Read {
        /// A file, or a folder.
        path: &'a str,
        /// Whether everything below the folder is read.
        is_recursive: bool,
    },
    /// Lists the names of files.
    List {
        /// The folder.
        path: &'a str,
    },
    /// Sends a request to a server, and changes nothing there.
    Network {
        /// The address or the query.
        target: Option<&'a str>,
    },
    /// Calls a tool of an MCP server.
    Mcp {
        /// The server.
        server: &'a str,
        /// The server's own name of the tool.
        tool: &'a str,
        /// Whether the server says that it changes nothing.
        is_read_only: bool,
    },
    /// Proposes a plan, to leave spec mode with it.
    ProposePlan {
        /// The plan.
        plan: &'a str,
        /// Its title.
        title: Option<&'a str>,
        /// The names of alternatives.
        option_names: Vec<&'a str>,
    },
    /// Does something else with this risk.
    Other {
        /// What is at stake. [`Risk::None`] runs in spec mode, too.
        risk: Risk,
    },
}

impl<'a> Action<'a> {
    /// A command line, without a reason given by the model.
    pub fn command(line: &'a str) -> Self {
        Self::Command { line, reason: None }
    }

    /// An action that touches nothing but the session itself.
    pub fn session() -> Self {
        Self::Other { risk: Risk::None }
    }

    /// The files and folders it names. Relative ones begin at the workspace.
    pub fn paths(&self) -> Vec<PathBuf> {
        match self {
            Self::Create { path, .. }
            | Self::Edit { path }
            | Self::Read { path, .. }
            | Self::List { path } => {
                vec![PathBuf::from(path)]
            }
            Self::Patch { paths, .. } => paths.clone(),
            Self::Command { .. }
            | Self::Network { .. }
            | Self::Mcp { .. }
            | Self::ProposePlan { .. }
            | Self::Other { .. } => Vec::new(),
        }
    }
}
