//! The client's editor for the agent: files with unsaved changes, and terminals.
//!
//! An extension of musher to the protocol. Agents that do not know it, such as droid, use the disk and processes of their own.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use musher_rpc::Peer;
use musher_wire::{
    CANCEL_REQUEST, CancelRequestParams, ClientCapabilities, CreateTerminal, CreateTerminalParams,
    CreateTerminalResult, EditorCapabilities, Empty, Id, Json, KillTerminal, Method, Notification,
    ReadTextFile, ReadTextFileParams, ReadTextFileResult, ReleaseTerminal, Request, RpcError, TerminalOutput,
    TerminalOutputResult, TerminalParams, WaitForTerminalExit, WaitForTerminalExitResult, WriteTextFile,
    WriteTextFileParams,
};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The answer of an [`EditorHandler`]: a result, or the reason for a refusal.
pub type EditorAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// An editor whose files and terminals an agent may use.
///
/// Each request runs in a task of its own. The future is dropped when the agent no longer needs the answer.
/// A request without an implementation is refused.
pub trait EditorHandler: fmt::Debug + Send + Sync + 'static {
    /// Returns the supported requests. The agent sends no others.
    fn capabilities(&self) -> EditorCapabilities;

    /// Reads a text file with its unsaved changes.
    fn read_text_file(&self, _params: ReadTextFileParams) -> EditorAnswer<'_, ReadTextFileResult> {
        unsupported()
    }

    /// Writes a text file and saves it.
    fn write_text_file(&self, _params: WriteTextFileParams) -> EditorAnswer<'_, Empty> {
        unsupported()
    }

    /// Runs a program in a new terminal.
    fn create_terminal(&self, _params: CreateTerminalParams) -> EditorAnswer<'_, CreateTerminalResult> {
        unsupported()
    }

    /// Returns the output of a terminal so far.
    fn terminal_output(&self, _params: TerminalParams) -> EditorAnswer<'_, TerminalOutputResult> {
        unsupported()
    }

    /// Waits until the program of a terminal has ended.
    fn wait_for_terminal_exit(&self, _params: TerminalParams) -> EditorAnswer<'_, WaitForTerminalExitResult> {
        unsupported()
    }

    /// Ends the program of a terminal.
    fn kill_terminal(&self, _params: TerminalParams) -> EditorAnswer<'_, Empty> {
        unsupported()
    }

    /// Releases a terminal that is no longer used.
    fn release_terminal(&self, _params: TerminalParams) -> EditorAnswer<'_, Empty> {
        unsupported()
    }
}

fn unsupported<'a, T: Send + 'a>() -> EditorAnswer<'a, T> {
    Box::pin(std::future::ready(Err("the editor does not support this request".to_owned())))
}

/// The editor of a session, if it has one.
pub(crate) type Editor = Option<Arc<dyn EditorHandler>>;

/// Returns the editor capabilities that are announced to the agent.
pub(crate) fn announcement(editor: &Editor) -> Option<ClientCapabilities> {
    let editor = editor.as_ref()?.capabilities();
    Some(ClientCapabilities { editor: Some(editor), ..ClientCapabilities::default() })
}

/// The requests of the agent to the editor that are being answered. Dropping it drops their futures.
#[derive(Debug, Default)]
pub(crate) struct EditorRequests(HashMap<Id, (CancellationToken, DropGuard)>);

impl EditorRequests {
    /// Starts to answer a request. Returns it if it is not for this editor.
    pub(crate) fn start(&mut self, editor: &Editor, peer: Peer, request: Request) -> Result<(), Request> {
        let Some(editor) = editor.clone().filter(|_| is_editor_method(&request.method)) else {
            return Err(request);
        };
        self.0.retain(|_, (token, _)| !token.is_cancelled());
        let token = CancellationToken::new();
        self.0.insert(request.id.clone(), (token.clone(), token.clone().drop_guard()));
        tokio::spawn(async move {
            let answer = AssertUnwindSafe(answer(&*editor, &request)).catch_unwind();
            let answer = tokio::select! {
                biased;
                () = token.cancelled() => return,
                answer = answer => answer,
            };
            let panicked = |_| Err(RpcError::new(RpcError::INTERNAL, "the editor handler panicked"));
            // a connection that is gone is noticed by the session itself
            peer.respond(request.id, answer.unwrap_or_else(panicked)).await.ok();
            token.cancel();
        });
        Ok(())
    }

    /// Drops the future of a request if this notification says so. Returns whether it was for an editor.
    pub(crate) fn cancel(&mut self, notification: &Notification) -> bool {
        if &*notification.method != CANCEL_REQUEST {
            return false;
        }
        let params = notification.params.as_ref().map(Json::to::<CancelRequestParams>);
        if let Some(Ok(params)) = params {
            // its guard cancels it
            self.0.remove(&Id::from(params.request_id));
        }
        true
    }
}

fn is_editor_method(method: &str) -> bool {
    let methods = [
        ReadTextFile::NAME,
        WriteTextFile::NAME,
        CreateTerminal::NAME,
        TerminalOutput::NAME,
        WaitForTerminalExit::NAME,
        KillTerminal::NAME,
        ReleaseTerminal::NAME,
    ];
    methods.contains(&method)
}

async fn answer(editor: &dyn EditorHandler, request: &Request) -> Result<Json, RpcError> {
    macro_rules! call {
        ($Method:ty, $handler:ident) => {{
            let params = request.read::<$Method>();
            let params =
                params.map_err(|error| RpcError::new(RpcError::INVALID_PARAMS, error.to_string()))?;
            print(editor.$handler(params).await)
        }};
    }
    match &*request.method {
        ReadTextFile::NAME => call!(ReadTextFile, read_text_file),
        WriteTextFile::NAME => call!(WriteTextFile, write_text_file),
        CreateTerminal::NAME => call!(CreateTerminal, create_terminal),
        TerminalOutput::NAME => call!(TerminalOutput, terminal_output),
        WaitForTerminalExit::NAME => call!(WaitForTerminalExit, wait_for_terminal_exit),
        KillTerminal::NAME => call!(KillTerminal, kill_terminal),
        _ => call!(ReleaseTerminal, release_terminal),
    }
}

fn print<T: serde::Serialize>(answer: Result<T, String>) -> Result<Json, RpcError> {
    let internal = |reason: String| RpcError::new(RpcError::INTERNAL, reason);
    Json::new(&answer.map_err(internal)?).map_err(|error| internal(error.to_string()))
}
