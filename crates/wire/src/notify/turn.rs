//! The turn: working states, end, token usage, errors, retries.

use crate::object::object;
use crate::{
    AgentTurnCompletionReason, Count, DroidErrorType, DroidWorkingState, Json, LastCallTokenUsage,
    LlmRetryReason, TokenUsage,
};

object! {
    /// The working state changed. The same state may be sent twice.
    pub struct DroidWorkingStateChanged {
        /// The new state.
        new_state: DroidWorkingState = "newState",
    }
}

object! {
    /// A turn ended. Sent once per accepted message; 0.99 and older send only the state `idle`.
    pub struct AgentTurnCompleted {
        /// Why the turn ended.
        reason: AgentTurnCompletionReason = "reason",
    } optional {
        /// Id of the turn: the `messageId` of the message that started it.
        turn_id: String = "turnId",
        /// Tokens used by this turn, without subagents.
        token_usage: TokenUsage = "tokenUsage",
        /// Tokens used by the session so far, without subagents.
        cumulative_token_usage: TokenUsage = "cumulativeTokenUsage",
        /// Tokens used by subagents in this turn.
        child_token_usage: TokenUsage = "childTokenUsage",
        /// Tokens used by subagents in the session so far.
        cumulative_child_token_usage: TokenUsage = "cumulativeChildTokenUsage",
        /// Duration of the turn in milliseconds.
        duration_ms: Count = "durationMs",
        /// Cost of this turn with its subagents in US dollars, a number. musher only, and only if a price is known.
        cost_usd: Json = "musher.costUsd",
        /// Tokens of this turn that the cost does not include, because their price is unknown. musher only.
        unpriced_tokens: Count = "musher.unpricedTokens",
    }
}

object! {
    /// The token usage of the session changed. May be sent after the end of the turn.
    pub struct SessionTokenUsageChanged {
        /// Tokens used by the session itself.
        token_usage: TokenUsage = "tokenUsage",
    } optional {
        /// The session's id.
        session_id: String = "sessionId",
        /// Tokens used by the session and its subagents.
        inclusive_token_usage: TokenUsage = "inclusiveTokenUsage",
        /// Tokens of the latest model call.
        last_call_token_usage: LastCallTokenUsage = "lastCallTokenUsage",
        /// Cost of `tokenUsage` in US dollars, a number. musher only, and only if a price is known.
        cost_usd: Json = "musher.costUsd",
    }
}

object! {
    /// The final answer in the requested output format.
    pub struct StructuredOutput {
        /// The answer as a JSON object; null if it did not satisfy the schema.
        structured_output: Json = "structuredOutput",
    } optional {
        /// Id of the assistant message that holds the answer.
        message_id: String = "messageId",
    }
}

object! {
    /// An error, usually one that ends the turn.
    pub struct ErrorNotification {
        /// Text for display.
        message: String = "message",
    } optional {
        /// Class of the error; mostly `Error`.
        error_type: DroidErrorType = "errorType",
        /// Time of the error (ISO 8601).
        timestamp: String = "timestamp",
        /// The underlying error; more specific than `errorType`.
        error: ErrorCause = "error",
    }
}

object! {
    /// The underlying error.
    pub struct ErrorCause {} optional {
        /// Name of the error, such as `StructuredOutputError`.
        name: String = "name",
        /// Text of the error.
        message: String = "message",
    }
}

object! {
    /// A failed model call is retried.
    pub struct LlmRetry {
        /// Why the model call is repeated.
        reason: LlmRetryReason = "reason",
    } optional {
        /// Number of the retry, counted from 1.
        attempt: Count = "attempt",
        /// Time until the retry, in milliseconds. Only musher sends it.
        delay_ms: Count = "delayMs",
        /// Error of the failed attempt. Only musher sends it.
        message: String = "message",
    }
}

object! {
    /// Queued messages were discarded, because the turn was interrupted or a hook rejected them.
    pub struct QueuedMessagesDiscarded {} optional {
        /// Text of the discarded messages.
        text: String = "text",
        /// Id of the `add_user_message` request.
        request_id: String = "requestId",
    }
}
