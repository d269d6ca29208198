//! The client's editor as the engine sees it: requests to the client, and the responses to them.
//!
//! Only what the client announced is requested. Dropping an answer withdraws the request. The requests end with the connection,
//! even if the engine still holds the editor.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use musher_engine::{Editor, EditorAnswer, EditorOffers, TerminalExit, TerminalOrder};
use musher_rpc::FrameSender;
use musher_wire as wire;
use musher_wire::{
    CANCEL_REQUEST, CancelRequestParams, EditorCapabilities, Empty, Frame, Json, Method, Notification,
    Request, Response, RpcError,
};
use tokio::sync::oneshot;

/// The requests to the client's editor that wait for their response.
#[derive(Debug)]
pub(crate) struct EditorRequests {
    outgoing: FrameSender,
    next_id: AtomicU64,
    waiting: Mutex<HashMap<String, oneshot::Sender<Result<Json, RpcError>>>>,
}

impl EditorRequests {
    pub(crate) fn new(outgoing: FrameSender) -> Arc<Self> {
        Arc::new(Self { outgoing, next_id: AtomicU64::new(1), waiting: Mutex::default() })
    }

    /// Returns the editor of a client that announced these capabilities.
    pub(crate) fn editor(self: &Arc<Self>, capabilities: &EditorCapabilities) -> Arc<dyn Editor> {
        let offers = EditorOffers {
            reads: capabilities.read_text_file == Some(true),
            writes: capabilities.write_text_file == Some(true),
            terminals: capabilities.terminal == Some(true),
        };
        Arc::new(ClientEditor { requests: Arc::downgrade(self), offers })
    }

    /// Takes a response to one of the requests. Returns whether it was one.
    pub(crate) fn answered(&self, response: &Response) -> bool {
        let outcome = response.outcome.clone();
        response.id.as_str().is_some_and(|id| self.settle(id, outcome))
    }

    /// Ends the wait for a response that could not be read. Returns whether the id was one of these requests.
    pub(crate) fn broken(&self, id: &str, reason: &str) -> bool {
        self.settle(id, Err(RpcError::new(RpcError::INTERNAL, reason)))
    }

    fn settle(&self, id: &str, outcome: Result<Json, RpcError>) -> bool {
        let Some(waiting) = self.waiting().remove(id) else { return false };
        // a request that was withdrawn needs no response
        waiting.send(outcome).ok();
        true
    }

    async fn call<M: Method>(self: Arc<Self>, params: M::Params) -> Result<M::Result, String> {
        let id = format!("editor-{}", self.next_id.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = oneshot::channel();
        self.waiting().insert(id.clone(), sender);
        let pending = Pending { requests: Arc::downgrade(&self), id: Some(id.clone()) };
        let params = Json::new(&params).map_err(|error| error.to_string())?;
        let request = Frame::Request(Request::new(id, M::NAME, params));
        // not behind text that waits for a slow client
        self.outgoing
            .send_now(request)
            .await
            .map_err(|closed| musher_rpc::with_causes(&closed).to_string())?;
        // the connection must be able to end while this waits
        drop(self);
        let outcome = receiver.await.map_err(|_gone| gone())?;
        pending.done();
        let result = outcome.map_err(|error| error.message)?;
        result.to::<M::Result>().map_err(|error| error.to_string())
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Result<Json, RpcError>>>> {
        // a map is whole after each of its methods, so a panic elsewhere does not spoil it
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that waits for its response. Dropped before that, it is withdrawn.
#[derive(Debug)]
struct Pending {
    requests: Weak<EditorRequests>,
    id: Option<String>,
}

impl Pending {
    fn done(mut self) {
        self.id = None;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let (Some(id), Some(requests)) = (self.id.take(), self.requests.upgrade()) else { return };
        requests.waiting().remove(&id);
        if let Ok(params) = Json::new(&CancelRequestParams::new(id)) {
            // a client that reads nothing learns it from the end of the turn
            requests.outgoing.try_send(Frame::Notification(Notification::new(CANCEL_REQUEST, params))).ok();
        }
    }
}

/// The editor of the client.
#[derive(Debug)]
struct ClientEditor {
    requests: Weak<EditorRequests>,
    offers: EditorOffers,
}

impl ClientEditor {
    fn call<M: Method>(&self, params: M::Params) -> EditorAnswer<'_, M::Result> {
        let requests = self.requests.upgrade();
        Box::pin(async move { requests.ok_or_else(gone)?.call::<M>(params).await })
    }

    /// Sends a request whose answer says nothing.
    fn tell<M: Method<Result = Empty>>(&self, params: M::Params) -> EditorAnswer<'_, ()> {
        let call = self.call::<M>(params);
        Box::pin(async move { call.await.map(drop) })
    }
}

impl Editor for ClientEditor {
    fn offers(&self) -> EditorOffers {
        self.offers
    }

    fn read_text(&self, path: PathBuf) -> EditorAnswer<'_, String> {
        Box::pin(async move {
            let params = wire::ReadTextFileParams::new(text(&path)?);
            Ok(self.call::<wire::ReadTextFile>(params).await?.text)
        })
    }

    fn write_text(&self, path: PathBuf, content: String) -> EditorAnswer<'_, ()> {
        Box::pin(async move {
            self.tell::<wire::WriteTextFile>(wire::WriteTextFileParams::new(text(&path)?, content)).await
        })
    }

    fn open_terminal(&self, order: TerminalOrder) -> EditorAnswer<'_, String> {
        Box::pin(async move {
            let variables = order.variables.into_iter();
            let variables = variables.map(|(name, value)| wire::TerminalVariable::new(name, value));
            let mut params = wire::CreateTerminalParams::new(order.program, text(&order.cwd)?);
            params.args = Some(order.arguments);
            params.env = Some(variables.collect());
            params.output_byte_limit = Some(order.kept.into());
            Ok(self.call::<wire::CreateTerminal>(params).await?.terminal_id)
        })
    }

    fn terminal_exit(&self, id: String) -> EditorAnswer<'_, TerminalExit> {
        Box::pin(async move {
            let exit = self.call::<wire::WaitForTerminalExit>(wire::TerminalParams::new(id)).await?;
            let code = exit.exit_code.and_then(|code| u32::try_from(code.get()).ok());
            Ok(TerminalExit { code, signal: exit.signal })
        })
    }

    fn terminal_output(&self, id: String) -> EditorAnswer<'_, musher_engine::TerminalOutput> {
        Box::pin(async move {
            let output = self.call::<wire::TerminalOutput>(wire::TerminalParams::new(id)).await?;
            Ok(musher_engine::TerminalOutput { text: output.output, is_cut: output.truncated })
        })
    }

    fn kill_terminal(&self, id: String) -> EditorAnswer<'_, ()> {
        self.tell::<wire::KillTerminal>(wire::TerminalParams::new(id))
    }

    fn release_terminal(&self, id: String) -> EditorAnswer<'_, ()> {
        self.tell::<wire::ReleaseTerminal>(wire::TerminalParams::new(id))
    }
}

/// Returns a path as it goes over the wire.
fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("`{}` is not UTF-8", path.display()))
}

fn gone() -> String {
    "the client is gone".to_owned()
}

#[cfg(test)]
mod tests;
