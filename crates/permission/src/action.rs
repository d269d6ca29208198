//! What a call does, as declared by its tool. The verdict depends on the action and never on the tool's name.

use std::path::PathBuf;

use crate::Risk;

/// A tool call that a model requests.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The name of the tool, for the texts of permission requests and refusals.
    pub tool: &'a str,
    /// What the call does.
    pub action: Action<'a>,
}

impl<'a> Call<'a> {
    /// Creates a call of a tool.
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
        /// The model's reason, shown to the user. It has no effect on the verdict.
        reason: Option<&'a str>,
    },
    /// Writes to the input of a running command.
    CommandInput {
        /// The text.
        text: &'a str,
    },
    /// Writes a whole file.
    Create {
        /// The path of the file.
        path: &'a str,
        /// The new content.
        content: &'a str,
    },
    /// Changes part of a file.
    Edit {
        /// The path of the file.
        path: &'a str,
    },
    /// Applies a patch.
    Patch {
        /// The text of the patch, shown to the user.
        patch: &'a str,
        /// All files that the patch touches.
        paths: Vec<PathBuf>,
    },
    /// Reads the content of files.
    Read {
        /// The path of a file or directory.
        path: &'a str,
        /// Whether everything below the directory is read, except [secrets](crate::SecretFiles), which the tool leaves out.
        is_recursive: bool,
    },
    /// Lists file names.
    List {
        /// The path of the directory.
        path: &'a str,
    },
    /// Sends a request to a server, and changes nothing there.
    Network {
        /// The URL or the query.
        target: Option<&'a str>,
    },
    /// Calls a tool of an MCP server.
    Mcp {
        /// The name of the server.
        server: &'a str,
        /// The tool's name on the server.
        tool: &'a str,
        /// Whether the server declares the tool read-only, and the user believes this server.
        is_read_only: bool,
    },
    /// Proposes a plan, to leave spec mode with it.
    ProposePlan {
        /// The plan.
        plan: &'a str,
        /// The title of the plan.
        title: Option<&'a str>,
        /// The names of alternative plans.
        option_names: Vec<&'a str>,
    },
    /// Does something else with a known risk.
    Other {
        /// The risk. [`Risk::None`] runs in spec mode too.
        risk: Risk,
    },
}

impl<'a> Action<'a> {
    /// Creates the action of a command line, without a reason.
    pub fn command(line: &'a str) -> Self {
        Self::Command { line, reason: None }
    }

    /// Creates an action that affects nothing but the session itself.
    pub fn session() -> Self {
        Self::Other { risk: Risk::None }
    }

    /// Returns the paths that the action names. Relative paths start at the workspace.
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
            | Self::CommandInput { .. }
            | Self::Network { .. }
            | Self::Mcp { .. }
            | Self::ProposePlan { .. }
            | Self::Other { .. } => Vec::new(),
        }
    }
}
