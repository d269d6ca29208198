//! Which tools a session has. Names of built-in tools and of tools of MCP servers alike.

use serde::{Deserialize, Serialize};

/// Which tools a session has, by their ids or names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSelection {
    /// Enabled.
    pub enabled: Vec<String>,
    /// Disabled.
    pub disabled: Vec<String>,
    /// Offered in addition to the default tools.
    pub additional: Vec<String>,
    /// If not empty: only these.
    pub restricted: Vec<String>,
}
