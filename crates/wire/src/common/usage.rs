//! Token counts.

use crate::Count;
use crate::object::object;

object! {
    /// Tokens used by a turn, a session, or a session with its subagents.
    ///
    /// `inputTokens` excludes cached tokens: a prompt of 1000 tokens, 200 of them cached, is 800 + 200.
    pub struct TokenUsage {
        /// Tokens sent to the model, without cached ones.
        input_tokens: Count = "inputTokens",
        /// Tokens written by the model.
        output_tokens: Count = "outputTokens",
    } optional {
        /// Tokens written to the provider's prompt cache.
        cache_creation_tokens: Count = "cacheCreationTokens",
        /// Tokens read from the provider's prompt cache.
        cache_read_tokens: Count = "cacheReadTokens",
        /// Tokens spent on reasoning.
        thinking_tokens: Count = "thinkingTokens",
        /// Cost in the vendor's credits.
        factory_credits: Count = "factoryCredits",
    }
}

object! {
    /// Tokens of the latest model call.
    pub struct LastCallTokenUsage {} optional {
        /// Tokens sent to the model, without cached ones.
        input_tokens: Count = "inputTokens",
        /// Tokens written by the model.
        output_tokens: Count = "outputTokens",
        /// Tokens read from the provider's prompt cache.
        cache_read_tokens: Count = "cacheReadTokens",
    }
}
