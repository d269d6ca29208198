//! What was spent: tokens and money by session, and of all sessions on one day.

use std::fmt;

use crate::{Result, SessionId};

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens of all kinds.
    pub tokens: u64,
    /// Money in billionths of a US dollar.
    pub nanos: u64,
}

impl Spent {
    /// Returns the sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            nanos: self.nanos.saturating_add(other.nanos),
        }
    }

    /// Returns the difference, at least zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            nanos: self.nanos.saturating_sub(other.nanos),
        }
    }
}

/// What the sessions have spent.
pub trait Ledger: fmt::Debug + Send + Sync {
    /// Counts what a session has spent on a day, such as `2026-11-19`. Days do not go back: an earlier one counts as the current one.
    fn spend(&self, session: &SessionId, day: &str, amount: Spent) -> Result<()>;

    /// Returns what the session has spent on all days, and what all sessions have spent on this day.
    fn spent(&self, session: &SessionId, day: &str) -> Result<(Spent, Spent)>;
}
