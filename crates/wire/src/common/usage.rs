//! Token counts.

use crate::Count;
use crate::object::object;

object! {
    /// Tokens used by a turn, a session, or a session with its children.
    ///
    /// `inputTokens` leaves out the cached ones: a prompt of 1000 tokens with 200 cached is 800 + 200.
    pub struct TokenUsage {
        input_tokens: Count = "inputTokens",
        output_tokens: Count = "outputTokens",
    } optional {
        cache_creation_tokens: Count = "cacheCreationTokens",
        cache_read_tokens: Count = "cacheReadTokens",
        thinking_tokens: Count = "thinkingTokens",
        factory_credits: Count = "factoryCredits",
    }
}

object! {
    /// Tokens of the latest model call.
    pub struct LastCallTokenUsage {} optional {
        input_tokens: Count = "inputTokens",
        output_tokens: Count = "outputTokens",
        cache_read_tokens: Count = "cacheReadTokens",
    }
}
