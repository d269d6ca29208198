//! The risk of a call.

/// The risk of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Nothing changes, and nothing leaves the machine.
    None,
    /// Files of the workspace may change.
    Low,
    /// Data may leave the machine, or more than files may change.
    Medium,
    /// Anything may happen.
    High,
}

impl Risk {
    /// Returns the name that clients and models use. They have none for no risk.
    pub fn name(self) -> &'static str {
        match self {
            Self::None | Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}
