//! Messages and their text as it is written.

use crate::object::object;
use crate::{Count, Message};

object! {
    /// A message is complete: the user's echo, the assistant's answer, or a note of the system.
    pub struct CreateMessage {
        message: Message = "message",
    } optional {
        /// On the user's echo: the id of the `add_user_message` call.
        request_id: String = "requestId",
        parent_id: String = "parentId",
    }
}

object! {
    /// A piece of the answer.
    pub struct AssistantTextDelta {
        message_id: String = "messageId",
        block_index: Count = "blockIndex",
        text_delta: String = "textDelta",
    }
}

object! {
    /// A text block is complete. Not in 0.99 and older.
    pub struct AssistantTextComplete {
        message_id: String = "messageId",
    } optional {
        block_index: Count = "blockIndex",
    }
}

object! {
    /// A piece of thought.
    pub struct ThinkingTextDelta {
        message_id: String = "messageId",
        block_index: Count = "blockIndex",
        text_delta: String = "textDelta",
    }
}

object! {
    /// A thought is complete. Not in 0.99 and older.
    pub struct ThinkingTextComplete {
        message_id: String = "messageId",
    } optional {
        block_index: Count = "blockIndex",
        duration_ms: Count = "durationMs",
    }
}

object! {
    /// Everything seen so far of this message is void: the model is asked again.
    pub struct AssistantMessageRetracted {
        message_id: String = "messageId",
    }
}
