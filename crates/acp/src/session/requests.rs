//! What is asked of the editor for the agent: text of files, and terminals.
//!
//! Letting go of an answer withdraws the request; who asks sets the deadline.

use std::path::PathBuf;

use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, EnvVariable, KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest,
    TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agent_client_protocol::{Error, JsonRpcRequest};

use super::{Session, lock};

impl Session {
    pub(crate) async fn read_text(&self, path: PathBuf) -> Result<String, String> {
        Ok(self.request(ReadTextFileRequest::new(self.id().clone(), path)).await?.content)
    }

    pub(crate) async fn write_text(&self, path: PathBuf, text: String) -> Result<(), String> {
        self.request(WriteTextFileRequest::new(self.id().clone(), path, text)).await.map(drop)
    }

    pub(crate) async fn open_terminal(
        &self,
        program: String,
        arguments: Vec<String>,
        variables: Vec<(String, String)>,
        cwd: PathBuf,
        kept: u64,
    ) -> Result<String, String> {
        let variables = variables.into_iter().map(|(name, value)| EnvVariable::new(name, value));
        let request = CreateTerminalRequest::new(self.id().clone(), program)
            .args(arguments)
            .env(variables.collect::<Vec<_>>())
            .cwd(cwd)
            .output_byte_limit(kept);
        let id = self.request(request).await?.terminal_id.0.to_string();
        lock(&self.scribe).opened_terminal(id.clone());
        Ok(id)
    }

    pub(crate) async fn terminal_exit(&self, id: String) -> Result<(Option<u32>, Option<String>), String> {
        let exit = self.request(WaitForTerminalExitRequest::new(self.id().clone(), id)).await?.exit_status;
        Ok((exit.exit_code, exit.signal))
    }

    pub(crate) async fn terminal_output(&self, id: String) -> Result<(String, bool), String> {
        let shown = self.request(TerminalOutputRequest::new(self.id().clone(), id)).await?;
        Ok((shown.output, shown.truncated))
    }

    pub(crate) async fn kill_terminal(&self, id: String) -> Result<(), String> {
        self.request(KillTerminalRequest::new(self.id().clone(), id)).await.map(drop)
    }

    pub(crate) async fn release_terminal(&self, id: String) -> Result<(), String> {
        self.request(ReleaseTerminalRequest::new(self.id().clone(), id)).await.map(drop)
    }

    async fn request<R: JsonRpcRequest>(&self, request: R) -> Result<R::Response, String> {
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
