//! Messages and what serves and counts them.

use crate::object::open_enum;

open_enum! {
    /// The author of a message.
    pub enum MessageRole {
        /// Written by the user, or injected on the user's behalf.
        User = "user",
        /// Written by the model.
        Assistant = "assistant",
        /// Holds tool results; only in results of `load_session`.
        Tool = "tool",
        /// Written by the agent, such as an error report.
        System = "system",
    }
}

open_enum! {
    /// The audience of a message.
    pub enum Visibility {
        /// For the user and the model.
        Both = "both",
        /// For the model only.
        LlmOnly = "llm_only",
        /// For the user only.
        UserOnly = "user_only",
    }
}

open_enum! {
    /// The API that serves a model.
    pub enum ModelProvider {
        /// The Anthropic Messages API.
        Anthropic = "anthropic",
        /// The `OpenAI` Responses API.
        Openai = "openai",
        /// Any API compatible with `OpenAI` chat completions.
        GenericChatCompletionApi = "generic-chat-completion-api",
        /// Factory's own service.
        Factory = "factory",
        /// The Gemini API of Google.
        Google = "google",
        /// The API of xAI.
        Xai = "xai",
        /// The API of Voyage AI.
        Voyage = "voyage",
    }
}

open_enum! {
    /// The accuracy of context statistics.
    pub enum ContextStatsAccuracy {
        /// Counted by the model provider.
        Exact = "exact",
        /// Computed by the agent.
        Estimated = "estimated",
    }
}
