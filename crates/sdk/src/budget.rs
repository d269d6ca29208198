//! How much a turn may use.

/// Limits of what a turn may use. None are set by default.
///
/// ```
/// use musher::Budget;
///
/// let budget = Budget::default().tokens(200_000).steps(40);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    pub(crate) tokens: Option<u64>,
    pub(crate) steps: Option<usize>,
}

impl Budget {
    /// At most this many tokens, counted by the agent.
    #[must_use]
    pub fn tokens(mut self, limit: u64) -> Self {
        self.tokens = Some(limit);
        self
    }

    /// At most this many answers of the model.
    #[must_use]
    pub fn steps(mut self, limit: usize) -> Self {
        self.steps = Some(limit);
        self
    }
}
