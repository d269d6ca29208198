//! The token and step limits of a turn.

/// The limits of a turn in tokens and steps. None are set by default.
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
    /// Sets the maximum number of tokens, as the agent counts them.
    #[must_use]
    pub fn tokens(mut self, limit: u64) -> Self {
        self.tokens = Some(limit);
        self
    }

    /// Sets the maximum number of answers of the model.
    #[must_use]
    pub fn steps(mut self, limit: usize) -> Self {
        self.steps = Some(limit);
        self
    }
}
