//! Messages of the conversation.

use crate::object::object;
use crate::{
    ContentBlock, Count, HookEventName, HookStatus, InteractionMode, Json, MessageRole, ReasoningEffort,
    SessionOrigin, Visibility,
};

object! {
    /// A message of the conversation, as in notifications and in results of `load_session`.
    ///
    /// Messages that are `llm_only`, or whose id starts with `context-` or `__internal__`, are hidden from users.
    pub struct Message {
        /// Id of the message.
        id: String = "id",
        /// Author of the message.
        role: MessageRole = "role",
        /// Content blocks, in order.
        content: Vec<ContentBlock> = "content",
    } optional {
        /// Creation time, in milliseconds since 1970.
        created_at: Count = "createdAt",
        /// Time of the last change, in milliseconds since 1970.
        updated_at: Count = "updatedAt",
        /// Id of the preceding message; `root` for the first one.
        parent_id: String = "parentId",
        /// Audience of the message. Default: `both`.
        visibility: Visibility = "visibility",
        /// Model that wrote the message.
        model_id: String = "modelId",
        /// Reasoning effort that the message was written with.
        reasoning_effort: ReasoningEffort = "reasoningEffort",
        /// Interaction mode that a user message was sent in.
        interaction_mode: InteractionMode = "interactionMode",
        /// Where a user message comes from.
        user_message_source: SessionOrigin = "userMessageSource",
        /// Whether the message reports an error.
        is_error: bool = "isError",
        /// Older form of `visibility`: false for `llm_only`.
        is_user_visible: bool = "isUserVisible",
        /// Meaning not documented; declared in the Python SDK.
        router_id: String = "routerId",
        /// Id of the message at the `OpenAI` API; needed when it is sent back.
        openai_message_id: String = "openaiMessageId",
        /// Phase of the message at the `OpenAI` API; needed when it is sent back.
        openai_phase: String = "openaiPhase",
        /// Encrypted reasoning of the `OpenAI` API; needed when it is sent back.
        openai_encrypted_content: String = "openaiEncryptedContent",
        /// Id of the reasoning item at the `OpenAI` API.
        openai_reasoning_id: String = "openaiReasoningId",
        /// Summary of the reasoning from the `OpenAI` API.
        openai_reasoning_summary: Json = "openaiReasoningSummary",
        /// Thought signature of the Gemini API; needed when the message is sent back.
        gemini_thought_signature: String = "geminiThoughtSignature",
        /// Name of the field that held the reasoning, such as `reasoning_content`.
        chat_completion_reasoning_field: String = "chatCompletionReasoningField",
        /// Reasoning that a chat completions API returned.
        chat_completion_reasoning_content: String = "chatCompletionReasoningContent",
        /// On messages that record a hook run: id of the run.
        hook_id: String = "hookId",
        /// On messages that record a hook run: the event that triggered it.
        hook_event_name: HookEventName = "hookEventName",
        /// On messages that record a hook run: the tool name, or how the session began.
        hook_matcher: String = "hookMatcher",
        /// On messages that record a hook run: its commands.
        hook_commands: Json = "hookCommands",
        /// On messages that record a hook run: the results of its commands.
        hook_results: Json = "hookResults",
        /// On messages that record a hook run: how it ended.
        hook_status: HookStatus = "hookStatus",
        /// On messages that record a hook run: id of the tool call it belongs to.
        hook_tool_call_id: String = "hookToolCallId",
        /// On messages that record a hook run: id of the message that the hooks belong to.
        hook_parent_id: String = "hookParentId",
        /// On messages that record a hook run: sort key among hook runs.
        hook_order: Count = "hookOrder",
    }
}

impl Message {
    /// Returns the concatenation of all text blocks.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(block) => Some(block.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns whether the message is meant for the user.
    pub fn is_for_people(&self) -> bool {
        self.visibility != Some(Visibility::LlmOnly)
            && self.is_user_visible != Some(false)
            && !self.id.starts_with("context-")
            && !self.id.starts_with("__internal__")
    }
}

object! {
    /// The conversation of a session, in results of `initialize_session` and `load_session`.
    pub struct SessionData {
        /// The messages, oldest first.
        messages: Vec<Message> = "messages",
    } optional {
        /// Title of the session.
        title: String = "title",
    }
}
