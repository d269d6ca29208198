//! User messages.

use crate::object::object;
use crate::{Json, MessageRole, SessionOrigin, Source, Visibility};

object! {
    /// Parameters of `add_user_message`, which starts a turn, or queues one if a turn is running.
    pub struct AddUserMessageParams {
        /// The prompt; may be empty. A leading `/name` invokes a custom slash command.
        text: String = "text",
    } optional {
        /// Id to use for the message and for the turn; generated if absent. 0.99 and older ignore it.
        message_id: String = "messageId",
        /// Images (JPEG, PNG, GIF or WebP), base64.
        images: Vec<Source> = "images",
        /// Documents: PDF as base64, or plain text.
        files: Vec<Source> = "files",
        /// Form that the final answer must have. Applies to this turn only.
        output_format: OutputFormat = "outputFormat",
        /// Where the message comes from; repeated in the stored message.
        user_message_source: SessionOrigin = "userMessageSource",
        /// When to process the message if a turn is running; a daemon adds `end_of_turn` if absent.
        queue_placement: String = "queuePlacement",
        /// Whether to wait while another process runs a turn of the session, instead of refusing the message. Musher's engine only.
        wait_for_session: bool = "waitForSession",
        /// Whether to add the message without starting a turn; declared for daemons. Default: false.
        skip_agent_loop: bool = "skipAgentLoop",
        /// Role of the message; declared for daemons. Default: `user`.
        role: MessageRole = "role",
        /// Audience of the message; declared for daemons.
        visibility: Visibility = "visibility",
    }
}

object! {
    /// The form that the final answer of a turn must have.
    pub struct OutputFormat {
        /// Always `json_schema`.
        kind: String = "type",
        /// The JSON Schema that the answer must satisfy.
        schema: Json = "schema",
    }
}

impl OutputFormat {
    /// Requires answers that satisfy the JSON Schema `schema`.
    pub fn json_schema(schema: impl Into<Json>) -> Self {
        Self::new("json_schema", schema)
    }
}

object! {
    /// A message that waits for the running turn to end.
    pub struct QueuedMessage {
        /// The prompt.
        text: String = "text",
        /// Id of the `add_user_message` request.
        request_id: String = "requestId",
    } optional {
        /// Id that the message will have.
        message_id: String = "messageId",
        /// When the message is processed, such as `end_of_turn`.
        queue_placement: String = "queuePlacement",
        /// Attached images.
        images: Vec<Source> = "images",
        /// Attached documents.
        files: Vec<Source> = "files",
    }
}
