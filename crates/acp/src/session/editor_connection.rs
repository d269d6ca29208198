//! The connection to the editor, for one session: updates and requests.
//!
//! Dropping the future of a request withdraws it; the caller sets the deadline.

use std::path::PathBuf;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{ReadTextFileRequest, SessionId, SessionNotification, SessionUpdate};
use agent_client_protocol::{Client, Error, JsonRpcRequest};

use crate::link::Link;

/// The connection to the editor, for one session.
#[derive(Debug, Clone)]
pub(crate) struct EditorConnection {
    session_id: SessionId,
    connection: ConnectionTo<Client>,
    link: Link,
}

impl EditorConnection {
    pub(super) fn new(session_id: SessionId, connection: ConnectionTo<Client>, link: Link) -> Self {
        Self { session_id, connection, link }
    }

    /// Returns the id under which the editor knows the session.
    pub(crate) fn session_id(&self) -> SessionId {
        self.session_id.clone()
    }

    /// Waits until the editor has read enough for more updates, or is gone.
    pub(super) async fn room(&self) {
        self.link.room().await;
    }

    /// Sends an update.
    pub(super) fn update(&self, update: SessionUpdate) {
        // an editor that is gone misses nothing
        if self.connection.send_notification(SessionNotification::new(self.session_id(), update)).is_ok() {
            self.link.add_update();
        }
    }

    /// Reads a text file as the editor has it.
    pub(crate) async fn read_text_file(&self, path: PathBuf) -> Result<String, String> {
        Ok(self.request(ReadTextFileRequest::new(self.session_id(), path)).await?.content)
    }

    /// Sends a request and waits for the response.
    pub(crate) async fn request<R: JsonRpcRequest>(&self, request: R) -> Result<R::Response, String> {
        self.connection.send_request(request).block_task().await.map_err(|error| error_text(&error))
    }
}

fn error_text(error: &Error) -> String {
    match &error.data {
        Some(serde_json::Value::String(more)) => format!("{}: {more}", error.message),
        _ => error.message.clone(),
    }
}
