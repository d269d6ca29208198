//! The editor's files and terminals, as the agent of a session requests them.
//!
//! Only what the editor announced is offered. Nothing here has a deadline; dropping a future withdraws the request.

use agent_client_protocol::JsonRpcRequest;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, CreateTerminalRequest, EnvVariable, KillTerminalRequest, ReleaseTerminalRequest,
    TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use musher::wire::{
    CreateTerminalParams, CreateTerminalResult, EditorCapabilities, Empty, ReadTextFileParams,
    ReadTextFileResult, TerminalOutputResult, TerminalParams, WaitForTerminalExitResult, WriteTextFileParams,
};
use musher::{EditorAnswer, EditorHandler};

use crate::session::{EditorConnection, SessionPort};

/// The editor, for the agent of one session. It does not keep the session alive.
#[derive(Debug, Clone)]
pub(crate) struct SessionEditor {
    port: SessionPort,
    capabilities: EditorCapabilities,
}

impl SessionEditor {
    /// Returns the editor, if it announced any files or terminals.
    pub(crate) fn new(port: SessionPort, client: &ClientCapabilities) -> Option<Self> {
        let (reads, writes) = (client.fs.read_text_file, client.fs.write_text_file);
        let capabilities = EditorCapabilities {
            read_text_file: Some(reads),
            write_text_file: Some(writes),
            terminal: Some(client.terminal),
            ..EditorCapabilities::default()
        };
        (reads || writes || client.terminal).then_some(Self { port, capabilities })
    }

    async fn connection(&self) -> Result<EditorConnection, String> {
        self.port.editor().await.ok_or_else(|| "the session is closed".to_owned())
    }

    async fn request<R: JsonRpcRequest>(
        &self,
        request: impl FnOnce(&EditorConnection) -> R,
    ) -> Result<R::Response, String> {
        let editor = self.connection().await?;
        editor.request(request(&editor)).await
    }

    async fn create(&self, params: CreateTerminalParams) -> Result<CreateTerminalResult, String> {
        let variables = params.env.unwrap_or_default().into_iter();
        let variables = variables.map(|variable| EnvVariable::new(variable.name, variable.value));
        let limit = params.output_byte_limit.map(|limit| limit.get());
        let request = |editor: &EditorConnection| {
            CreateTerminalRequest::new(editor.session_id(), params.command)
                .args(params.args.unwrap_or_default())
                .env(variables.collect::<Vec<_>>())
                .cwd(std::path::PathBuf::from(params.cwd))
                .output_byte_limit(limit)
        };
        let id = self.request(request).await?.terminal_id.0.to_string();
        self.port.terminal_opened(id.clone()).await;
        Ok(CreateTerminalResult::new(id))
    }
}

impl EditorHandler for SessionEditor {
    fn capabilities(&self) -> EditorCapabilities {
        self.capabilities.clone()
    }

    fn read_text_file(&self, params: ReadTextFileParams) -> EditorAnswer<'_, ReadTextFileResult> {
        Box::pin(async move {
            let text = self.connection().await?.read_text_file(params.path.into()).await?;
            Ok(ReadTextFileResult::new(text))
        })
    }

    fn write_text_file(&self, params: WriteTextFileParams) -> EditorAnswer<'_, Empty> {
        Box::pin(async move {
            self.request(|editor| WriteTextFileRequest::new(editor.session_id(), params.path, params.text))
                .await?;
            Ok(Empty::default())
        })
    }

    fn create_terminal(&self, params: CreateTerminalParams) -> EditorAnswer<'_, CreateTerminalResult> {
        Box::pin(self.create(params))
    }

    fn terminal_output(&self, params: TerminalParams) -> EditorAnswer<'_, TerminalOutputResult> {
        Box::pin(async move {
            let request = |editor: &EditorConnection| {
                TerminalOutputRequest::new(editor.session_id(), params.terminal_id)
            };
            let output = self.request(request).await?;
            Ok(TerminalOutputResult::new(output.output, output.truncated))
        })
    }

    fn wait_for_terminal_exit(&self, params: TerminalParams) -> EditorAnswer<'_, WaitForTerminalExitResult> {
        Box::pin(async move {
            let request = |editor: &EditorConnection| {
                WaitForTerminalExitRequest::new(editor.session_id(), params.terminal_id)
            };
            let exit = self.request(request).await?.exit_status;
            Ok(WaitForTerminalExitResult {
                exit_code: exit.exit_code.map(|code| u64::from(code).into()),
                signal: exit.signal,
                ..WaitForTerminalExitResult::default()
            })
        })
    }

    fn kill_terminal(&self, params: TerminalParams) -> EditorAnswer<'_, Empty> {
        Box::pin(async move {
            let request =
                |editor: &EditorConnection| KillTerminalRequest::new(editor.session_id(), params.terminal_id);
            self.request(request).await?;
            Ok(Empty::default())
        })
    }

    fn release_terminal(&self, params: TerminalParams) -> EditorAnswer<'_, Empty> {
        Box::pin(async move {
            let request = |editor: &EditorConnection| {
                ReleaseTerminalRequest::new(editor.session_id(), params.terminal_id)
            };
            self.request(request).await?;
            Ok(Empty::default())
        })
    }
}
