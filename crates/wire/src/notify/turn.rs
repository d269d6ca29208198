//! The course of a turn: states, end, cost, failures.

use crate::object::object;
use crate::{
    AgentTurnCompletionReason, Count, DroidErrorType, DroidWorkingState, Json, LastCallTokenUsage,
    LlmRetryReason, TokenUsage,
};

object! {
    /// The agent does something else now. The same state may come twice.
    pub struct DroidWorkingStateChanged {
        new_state: DroidWorkingState = "newState",
    }
}

object! {
    /// A turn is over. Exactly one for each accepted message; not in 0.99 and older, where `idle` is all there is.
    pub struct AgentTurnCompleted {
        reason: AgentTurnCompletionReason = "reason",
    } optional {
        /// The `messageId` of the message that began the turn.
        turn_id: String = "turnId",
        token_usage: TokenUsage = "tokenUsage",
        cumulative_token_usage: TokenUsage = "cumulativeTokenUsage",
        child_token_usage: TokenUsage = "childTokenUsage",
        cumulative_child_token_usage: TokenUsage = "cumulativeChildTokenUsage",
        duration_ms: Count = "durationMs",
    }
}

object! {
    /// The session's token counts changed. May come after the end of the turn.
    pub struct SessionTokenUsageChanged {
        token_usage: TokenUsage = "tokenUsage",
    } optional {
        session_id: String = "sessionId",
        inclusive_token_usage: TokenUsage = "inclusiveTokenUsage",
        last_call_token_usage: LastCallTokenUsage = "lastCallTokenUsage",
    }
}

object! {
    /// The answer in the form that was asked for.
    pub struct StructuredOutput {
        /// An object, or null.
        structured_output: Json = "structuredOutput",
    } optional {
        message_id: String = "messageId",
    }
}

object! {
    /// Something went wrong.
    pub struct ErrorNotification {
        message: String = "message",
    } optional {
        error_type: DroidErrorType = "errorType",
        timestamp: String = "timestamp",
        error: ErrorCause = "error",
    }
}

object! {
    /// What went wrong, by name.
    pub struct ErrorCause {} optional {
        name: String = "name",
        message: String = "message",
    }
}

object! {
    /// The model is asked again.
    pub struct LlmRetry {
        reason: LlmRetryReason = "reason",
    } optional {
        attempt: Count = "attempt",
    }
}

object! {
    /// Messages that waited for the turn were thrown away by an interrupt.
    pub struct QueuedMessagesDiscarded {} optional {
        text: String = "text",
        request_id: String = "requestId",
    }
}
