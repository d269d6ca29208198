//! How the editor is asked something for the agent; what there is to ask is in [`Editor`](crate::Editor).
//!
//! Letting go of an answer withdraws the request; who asks sets the deadline.

use std::path::PathBuf;

use agent_client_protocol::v1::schema::ReadTextFileRequest;
use agent_client_protocol::{Error, JsonRpcRequest};

use super::{Session, lock};

impl Session {
    pub(crate) async fn read_text(&self, path: PathBuf) -> Result<String, String> {
        Ok(self.request(ReadTextFileRequest::new(self.id().clone(), path)).await?.content)
    }

    /// Calls of tools from now on may show this terminal of the editor.
    pub(crate) fn opened_terminal(&self, id: String) {
        lock(&self.scribe).opened_terminal(id);
    }

    pub(crate) async fn request<R: JsonRpcRequest>(&self, request: R) -> Result<R::Response, String> {
        self.cx.send_request(request).block_task().await.map_err(|error| in_words(&error))
    }
}

/// What the editor says is wrong.
fn in_words(error: &Error) -> String {
    match &error.data {
        Some(serde_json::Value::String(more)) => format!("{}: {more}", error.message),
        _ => error.message.clone(),
    }
}
