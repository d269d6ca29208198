//! Token counts.

use musher_wire as wire;
use musher_wire::Count;

/// The tokens that a turn or a session used.
///
/// Counts that the agent does not report are `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenUsage {
    /// Input tokens, without cache reads and cache writes.
    pub input_tokens: u64,
    /// Output tokens, including reasoning tokens.
    pub output_tokens: u64,
    /// Input tokens read from the cache.
    pub cache_read_tokens: Option<u64>,
    /// Input tokens written to the cache.
    pub cache_creation_tokens: Option<u64>,
    /// Reasoning tokens, which are part of the output tokens.
    pub thinking_tokens: Option<u64>,
    /// The vendor's credits.
    pub credits: Option<u64>,
}

impl TokenUsage {
    /// Returns all input and output tokens, cached or not.
    pub fn total(&self) -> u64 {
        let cached = [self.cache_read_tokens, self.cache_creation_tokens];
        let all = [self.input_tokens, self.output_tokens].into_iter().chain(cached.into_iter().flatten());
        all.fold(0, u64::saturating_add)
    }

    /// Returns the tokens used since `before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        let less_of = |now: Option<u64>, before: Option<u64>| {
            now.map(|now| now.saturating_sub(before.unwrap_or_default()))
        };
        Self {
            input_tokens: self.input_tokens.saturating_sub(before.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(before.output_tokens),
            cache_read_tokens: less_of(self.cache_read_tokens, before.cache_read_tokens),
            cache_creation_tokens: less_of(self.cache_creation_tokens, before.cache_creation_tokens),
            thinking_tokens: less_of(self.thinking_tokens, before.thinking_tokens),
            credits: less_of(self.credits, before.credits),
        }
    }
}

impl From<&wire::TokenUsage> for TokenUsage {
    fn from(usage: &wire::TokenUsage) -> Self {
        let number = |count: &Option<Count>| count.as_ref().map(Count::get);
        Self {
            input_tokens: usage.input_tokens.get(),
            output_tokens: usage.output_tokens.get(),
            cache_read_tokens: number(&usage.cache_read_tokens),
            cache_creation_tokens: number(&usage.cache_creation_tokens),
            thinking_tokens: number(&usage.thinking_tokens),
            credits: number(&usage.factory_credits),
        }
    }
}

/// The cost of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Cost {
    /// In US dollars.
    pub usd: f64,
    /// The tokens that the amount does not include, because their price is unknown.
    pub unpriced_tokens: u64,
}

impl Cost {
    /// Reads the cost of a turn; `None` if the agent does not report it.
    pub(crate) fn of(completed: &wire::AgentTurnCompleted) -> Option<Self> {
        let usd = completed.cost_usd.as_ref()?.to().ok()?;
        let unpriced_tokens = completed.unpriced_tokens.as_ref().map_or(0, Count::get);
        Some(Self { usd, unpriced_tokens })
    }
}

/// The token counts of a session, as they change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionUsage {
    /// The id of the session that the counts belong to, if the agent reports it: this session or a subagent's.
    pub session_id: Option<String>,
    /// All tokens of the session so far.
    pub total: TokenUsage,
    /// The tokens of the latest model call, if the agent reports them.
    pub last_call: Option<TokenUsage>,
}

impl SessionUsage {
    /// Creates counts, for tests of code that reads events.
    pub fn new(total: TokenUsage) -> Self {
        Self { session_id: None, total, last_call: None }
    }
}

impl From<wire::SessionTokenUsageChanged> for SessionUsage {
    fn from(changed: wire::SessionTokenUsageChanged) -> Self {
        let number = |count: &Option<Count>| count.as_ref().map(Count::get);
        let last_call = changed.last_call_token_usage.map(|last| TokenUsage {
            input_tokens: number(&last.input_tokens).unwrap_or_default(),
            output_tokens: number(&last.output_tokens).unwrap_or_default(),
            cache_read_tokens: number(&last.cache_read_tokens),
            ..TokenUsage::default()
        });
        Self { session_id: changed.session_id, total: (&changed.token_usage).into(), last_call }
    }
}
