//! Autonomy levels, for every command that runs an agent.

/// What the agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Level {
    /// Edit files in the working directory
    Low,
    /// Also build, install packages and use local version control
    Medium,
    /// Almost everything
    High,
}

impl From<Level> for musher::Autonomy {
    fn from(level: Level) -> Self {
        match level {
            Level::Low => Self::Low,
            Level::Medium => Self::Medium,
            Level::High => Self::High,
        }
    }
}
