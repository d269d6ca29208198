//! A message of the conversation.

use crate::object::object;
use crate::{
    ContentBlock, Count, HookEventName, HookStatus, InteractionMode, Json, MessageRole, ReasoningEffort,
    SessionOrigin, Visibility,
};

object! {
    /// A message of the conversation, as stored and as announced.
    ///
    /// Messages whose id starts with `context-` or `__internal__`, or which are `llm_only`, are not for people.
    pub struct Message {
        id: String = "id",
        role: MessageRole = "role",
        content: Vec<ContentBlock> = "content",
    } optional {
        /// Milliseconds since 1970.
        created_at: Count = "createdAt",
        /// Milliseconds since 1970.
        updated_at: Count = "updatedAt",
        /// `root` for the first message.
        parent_id: String = "parentId",
        visibility: Visibility = "visibility",
        model_id: String = "modelId",
        reasoning_effort: ReasoningEffort = "reasoningEffort",
        interaction_mode: InteractionMode = "interactionMode",
        user_message_source: SessionOrigin = "userMessageSource",
        is_error: bool = "isError",
        /// Older form of `visibility`.
        is_user_visible: bool = "isUserVisible",
        router_id: String = "routerId",
        openai_message_id: String = "openaiMessageId",
        openai_phase: String = "openaiPhase",
        openai_encrypted_content: String = "openaiEncryptedContent",
        openai_reasoning_id: String = "openaiReasoningId",
        openai_reasoning_summary: Json = "openaiReasoningSummary",
        gemini_thought_signature: String = "geminiThoughtSignature",
        chat_completion_reasoning_field: String = "chatCompletionReasoningField",
        chat_completion_reasoning_content: String = "chatCompletionReasoningContent",
        hook_id: String = "hookId",
        hook_event_name: HookEventName = "hookEventName",
        hook_matcher: String = "hookMatcher",
        hook_commands: Json = "hookCommands",
        hook_results: Json = "hookResults",
        hook_status: HookStatus = "hookStatus",
        hook_tool_call_id: String = "hookToolCallId",
        hook_parent_id: String = "hookParentId",
        hook_order: Count = "hookOrder",
    }
}

impl Message {
    /// All its text blocks, one after the other.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(block) => Some(block.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Whether people are meant to see it.
    pub fn is_for_people(&self) -> bool {
        self.visibility != Some(Visibility::LlmOnly)
            && self.is_user_visible != Some(false)
            && !self.id.starts_with("context-")
            && !self.id.starts_with("__internal__")
    }
}

object! {
    /// The conversation of a session, in answers to `initialize_session` and `load_session`.
    pub struct SessionData {
        messages: Vec<Message> = "messages",
    } optional {
        title: String = "title",
    }
}
