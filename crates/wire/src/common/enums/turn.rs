//! Turns: the working state, the end, retries and errors.

use crate::object::open_enum;

open_enum! {
    /// The working state of the agent.
    pub enum DroidWorkingState {
        /// No turn is running.
        Idle = "idle",
        /// The model is reasoning. Not sent by 0.99 and older.
        Thinking = "thinking",
        /// The model is called, or writes its answer.
        StreamingAssistantMessage = "streaming_assistant_message",
        /// A permission request or a question is pending.
        WaitingForToolConfirmation = "waiting_for_tool_confirmation",
        /// Tools are running.
        ExecutingTool = "executing_tool",
        /// The conversation is being compacted.
        CompactingConversation = "compacting_conversation",
    }
}

open_enum! {
    /// Why a turn ended.
    pub enum AgentTurnCompletionReason {
        /// The model finished, or the user denied a tool call.
        Completed = "completed",
        /// The client interrupted the turn.
        Cancelled = "cancelled",
        /// A permission request was denied automatically.
        PermissionRejected = "permission_rejected",
        /// The turn failed; an `error` notification says why.
        Error = "error",
        /// The agent's process is exiting.
        ProcessExit = "process_exit",
        /// A new session executes the plan.
        SpecHandoff = "spec_handoff",
        /// No final answer for the requested output format.
        StructuredOutputMissing = "structured_output_missing",
        /// The final answer is not JSON, or does not satisfy the schema.
        StructuredOutputInvalid = "structured_output_invalid",
        /// The requested schema is not valid.
        StructuredOutputSchemaInvalid = "structured_output_schema_invalid",
        /// The model provider's quota is used up.
        ModelUsageExhausted = "model_usage_exhausted",
        /// The model provider rejected the credential.
        ModelAuthenticationFailed = "model_authentication_failed",
        /// The model provider rejected the request.
        ModelRequestRejected = "model_request_rejected",
        /// No connection to the model provider.
        ModelProviderUnreachable = "model_provider_unreachable",
        /// The model provider did not respond after all retries.
        ModelProviderUnavailable = "model_provider_unavailable",
        /// A hook rejected the prompt.
        PromptRejected = "prompt_rejected",
        /// The end of the turn could not be stored.
        CompletionPersistenceFailed = "completion_persistence_failed",
        /// A permission request could not reach any client.
        NoApproverAvailable = "no_approver_available",
    }
}

open_enum! {
    /// Why a model call is retried.
    pub enum LlmRetryReason {
        /// The model provider is overloaded or returned a server error.
        Overloaded = "overloaded",
        /// The model provider limits the rate of requests.
        RateLimited = "rate_limited",
        /// The model provider did not respond in time.
        Timeout = "timeout",
        /// The connection failed.
        Network = "network",
        /// The model's answer was empty.
        EmptyResponse = "empty_response",
        /// No reason given.
        Unknown = "unknown",
    }
}

open_enum! {
    /// The class of an `error` notification.
    pub enum DroidErrorType {
        /// The connection to the agent failed.
        ConnectionError = "ConnectionError",
        /// A message does not follow the protocol.
        ProtocolError = "ProtocolError",
        /// The session cannot do what was requested.
        SessionError = "SessionError",
        /// An operation timed out.
        TimeoutError = "TimeoutError",
        /// The client library failed.
        DroidClientError = "DroidClientError",
        /// The agent's process exited.
        ProcessExitError = "ProcessExitError",
        /// Any other error.
        Error = "Error",
    }
}
