//! How much may happen unasked, for every command that lets an agent work.

/// How much may happen unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Level {
    /// Changes of files in the working directory
    Low,
    /// Builds, packages and local version control as well
    Medium,
    /// Nearly everything
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
