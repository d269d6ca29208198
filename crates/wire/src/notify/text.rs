//! Messages, and their text while it is being written.

use crate::object::object;
use crate::{Count, Message};

object! {
    /// A message is complete: an echo of the user's, an answer of the model, or a report of the agent.
    pub struct CreateMessage {
        /// The message.
        message: Message = "message",
    } optional {
        /// On a user message: id of the `add_user_message` request.
        request_id: String = "requestId",
        /// Id of the preceding message.
        parent_id: String = "parentId",
    }
}

object! {
    /// A fragment of the answer.
    pub struct AssistantTextDelta {
        /// Id of the assistant message being written.
        message_id: String = "messageId",
        /// Index of the content block within the message, counted from 0.
        block_index: Count = "blockIndex",
        /// Text to append to the block.
        text_delta: String = "textDelta",
    }
}

object! {
    /// A text block is complete. Not sent by 0.99 and older.
    pub struct AssistantTextComplete {
        /// Id of the message.
        message_id: String = "messageId",
    } optional {
        /// Index of the content block within the message, counted from 0.
        block_index: Count = "blockIndex",
    }
}

object! {
    /// A fragment of the model's reasoning.
    pub struct ThinkingTextDelta {
        /// Id of the assistant message being written.
        message_id: String = "messageId",
        /// Index of the content block within the message, counted from 0.
        block_index: Count = "blockIndex",
        /// Text to append to the block.
        text_delta: String = "textDelta",
    }
}

object! {
    /// A reasoning block is complete. Not sent by 0.99 and older.
    pub struct ThinkingTextComplete {
        /// Id of the message.
        message_id: String = "messageId",
    } optional {
        /// Index of the content block within the message, counted from 0.
        block_index: Count = "blockIndex",
        /// Duration of the reasoning in milliseconds.
        duration_ms: Count = "durationMs",
    }
}

object! {
    /// All fragments of this message are void, because the model call is retried.
    pub struct AssistantMessageRetracted {
        /// Id of the message to discard; the retry uses the same id.
        message_id: String = "messageId",
    }
}
