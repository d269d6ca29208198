//! An editor on the official crate, in the same process as the adapter.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    InitializeRequest, NewSessionRequest, PromptRequest, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionId, SessionNotification, StopReason,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{ByteStreams, Client, Error, on_receive_notification, on_receive_request};
use musher::Agent;
use musher_acp::{Config, serve};
use musher_rpc::{Limits, lines_over};
use serde_json::Value;
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

/// How long anything may take before a test counts as hung.
const DEADLINE: Duration = Duration::from_secs(20);

/// The updates that the editor got.
pub(crate) type SentUpdates = Arc<Mutex<Vec<Value>>>;

/// The editor's end of the connection.
pub(crate) struct Editor {
    cx: ConnectionTo<agent_client_protocol::Agent>,
    told: SentUpdates,
}

/// Runs an editor with this agent. It answers permission requests with the option `choice`.
pub(crate) async fn with_editor(agent: Agent, choice: &'static str, play: impl AsyncFnOnce(Editor)) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let lines = lines_over(reader, writer, Limits::default());
    let adapter = tokio::spawn(serve(Config::new(agent), lines, std::future::pending()));
    let (reader, writer) = tokio::io::split(ours);
    let ours = ByteStreams::new(writer.compat_write(), reader.compat());
    let told = SentUpdates::default();
    let heard = Arc::clone(&told);
    let client = Client
        .v1()
        .on_receive_notification(
            async move |told: SessionNotification, _cx: ConnectionTo<_>| {
                heard.lock().unwrap().push(serde_json::to_value(&told.update).unwrap());
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |_asked: RequestPermissionRequest, responder: Responder<_>, _cx: ConnectionTo<_>| {
                let chosen = RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(choice));
                responder.respond(RequestPermissionResponse::new(chosen))
            },
            on_receive_request!(),
        );
    let played = client.connect_with(ours, async move |cx| {
        cx.send_request(InitializeRequest::new(ProtocolVersion::V1)).block_task().await?;
        play(Editor { cx, told }).await;
        Ok(())
    });
    tokio::time::timeout(DEADLINE, played).await.expect("it hangs").unwrap();
    // the editor is gone, so the adapter ends
    tokio::time::timeout(DEADLINE, adapter).await.expect("the adapter outlives its editor").unwrap().ok();
}

impl Editor {
    pub(crate) async fn open(&self) -> SessionId {
        let opened = self.cx.send_request(NewSessionRequest::new("/workspace")).block_task().await;
        opened.unwrap().session_id
    }

    pub(crate) async fn prompt(&self, session: &SessionId, text: &str) -> Result<StopReason, Error> {
        let prompt = PromptRequest::new(session.clone(), vec![text.into()]);
        Ok(self.cx.send_request(prompt).block_task().await?.stop_reason)
    }

    /// All updates of one kind so far.
    pub(crate) fn updates(&self, kind: &str) -> Vec<Value> {
        let told = self.told.lock().unwrap();
        told.iter().filter(|update| update["sessionUpdate"] == kind).cloned().collect()
    }

    /// The whole answer so far.
    pub(crate) fn text(&self) -> String {
        let chunks = self.updates("agent_message_chunk");
        chunks.iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
    }
}
