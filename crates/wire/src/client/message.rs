//! User messages.

use crate::object::object;
use crate::{Json, MessageRole, SessionOrigin, Source, Visibility};

object! {
    /// Arguments of `add_user_message`, which starts a turn, or queues one while another runs.
    pub struct AddUserMessageParams {
        text: String = "text",
    } optional {
        /// Becomes the id of the message and of the turn. 0.99 and older make their own.
        message_id: String = "messageId",
        images: Vec<Source> = "images",
        files: Vec<Source> = "files",
        output_format: OutputFormat = "outputFormat",
        user_message_source: SessionOrigin = "userMessageSource",
        queue_placement: String = "queuePlacement",
        skip_agent_loop: bool = "skipAgentLoop",
        role: MessageRole = "role",
        visibility: Visibility = "visibility",
    }
}

object! {
    /// The form the final answer of a turn must have.
    pub struct OutputFormat {
        /// `json_schema`
        kind: String = "type",
        schema: Json = "schema",
    }
}

impl OutputFormat {
    /// Answers must fit `schema`.
    pub fn json_schema(schema: impl Into<Json>) -> Self {
        Self::new("json_schema", schema)
    }
}

object! {
    /// A message that waits for the running turn to end.
    pub struct QueuedMessage {
        text: String = "text",
        /// The id of the `add_user_message` call.
        request_id: String = "requestId",
    } optional {
        message_id: String = "messageId",
        queue_placement: String = "queuePlacement",
        images: Vec<Source> = "images",
        files: Vec<Source> = "files",
    }
}
