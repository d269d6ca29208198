//! The agent as the editor sees it: one handler for each message of the protocol.
//!
//! Handlers run in the connection's reading loop, so none of them waits: whatever takes time is a task of its own. A prompt is
//! queued before the next message is read, so that a `session/cancel` which follows finds it.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    AuthenticateRequest, CancelNotification, CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest,
    ForkSessionRequest, ForkSessionResponse, InitializeRequest, ListSessionsRequest, LoadSessionRequest,
    LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse, PromptRequest,
    ResumeSessionRequest, ResumeSessionResponse, SessionId, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse, SetSessionTitleRequest,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Client, ConnectTo, Error, JsonRpcRequest, JsonRpcResponse, on_receive_notification, on_receive_request,
};
use musher_rpc::LineConnection;
use serde::{Deserialize, Serialize};
use tokio::task::JoinSet;

use crate::config::Config;
use crate::convert::mcp;
use crate::listing;
use crate::modes::{MODE, MODEL};
use crate::registry::{Registry, explained};
use crate::session::{Choices, OpenedSession, Origin, SessionSetup};

/// Serves the editor at the other end of `editor` until it disconnects or `stop` completes; then all agents are ended.
pub async fn serve(
    config: Config,
    editor: LineConnection,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let registry = Arc::new(Registry::new(config));
    let (editor, flush) = registry.link.over(editor);
    let served = tokio::select! {
        served = connect(Arc::clone(&registry), editor) => served,
        () = stop => Ok(()),
    };
    registry.link.end();
    tokio::join!(registry.close_all(), flush.finish());
    served
}

/// The old request to set the model, which some editors still send.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "session/set_model", response = SetModelResponse)]
#[serde(rename_all = "camelCase")]
struct SetModelRequest {
    session_id: SessionId,
    model_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct SetModelResponse {}

/// Makes a handler that answers in a task of its own.
macro_rules! answers {
    ($shared:ident, |$registry:ident, $request:ident: $Request:ty, $cx:ident| $answer:expr) => {{
        let shared = Arc::clone(&$shared);
        async move |$request: $Request, responder: Responder<_>, $cx: ConnectionTo<Client>| {
            let $registry = Arc::clone(&shared);
            $cx.clone().spawn(async move {
                // an editor that is gone needs no answer
                responder.respond_with_result($answer.await).ok();
                Ok(())
            })
        }
    }};
}

async fn connect(
    registry: Arc<Registry>,
    editor: impl ConnectTo<agent_client_protocol::Agent>,
) -> Result<(), Error> {
    let (for_prompts, for_cancels, for_new) =
        (Arc::clone(&registry), Arc::clone(&registry), Arc::clone(&registry));
    let (for_hello, for_load, for_resume) =
        (Arc::clone(&registry), Arc::clone(&registry), Arc::clone(&registry));
    let for_fork = Arc::clone(&registry);
    agent_client_protocol::Agent
        .v1()
        .name("musher")
        .on_receive_request(
            async move |hello: InitializeRequest, responder: Responder<_>, _cx: ConnectionTo<Client>| {
                responder.respond(for_hello.initialize(hello))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(registry, |registry, request: AuthenticateRequest, _cx| async move {
                registry.authenticate(request).await
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::New { cwd: request.cwd };
                let opening = Opening::new(origin, request.mcp_servers, request.additional_directories, cx);
                opening.begin(&for_new, responder, |id, (modes, options)| {
                    NewSessionResponse::new(id).modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::Stored { id: request.session_id, cwd: request.cwd };
                let opening = Opening::new(origin, request.mcp_servers, request.additional_directories, cx);
                opening.with_replay().begin(&for_load, responder, |_, (modes, options)| {
                    LoadSessionResponse::new().modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::Stored { id: request.session_id, cwd: request.cwd };
                let opening = Opening::new(origin, request.mcp_servers, request.additional_directories, cx);
                opening.begin(&for_resume, responder, |_, (modes, options)| {
                    ResumeSessionResponse::new().modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ForkSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::Fork { id: request.session_id, cwd: request.cwd };
                let opening = Opening::new(origin, request.mcp_servers, request.additional_directories, cx);
                opening.begin(&for_fork, responder, |id, (modes, options)| {
                    ForkSessionResponse::new(id).modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(registry, |registry, request: ListSessionsRequest, _cx| async move {
                listing::list(&request, &registry.config).await
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(registry, |registry, request: CloseSessionRequest, _cx| async move {
                registry.find(&request.session_id)?;
                if let Some(session) = registry.take(&request.session_id) {
                    session.close().await;
                }
                Ok(CloseSessionResponse::new())
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(registry, |registry, request: DeleteSessionRequest, _cx| async move {
                registry.delete(&request).await
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(registry, |registry, request: SetSessionTitleRequest, cx| async move {
                registry.set_title(&request, &cx).await
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(registry, |registry, request: SetSessionModeRequest, _cx| async move {
                registry.find(&request.session_id)?.set_option(MODE, &*request.mode_id.0).await?;
                Ok(SetSessionModeResponse::new())
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(registry, |registry, request: SetSessionConfigOptionRequest, _cx| async move {
                let session = registry.find(&request.session_id)?;
                let value = request.value.as_value_id();
                let value = value
                    .ok_or_else(|| explained(&Error::invalid_params(), "no option of ours is yes or no"))?;
                let options = session.set_option(&*request.config_id.0, &*value.0).await?;
                Ok(SetSessionConfigOptionResponse::new(options))
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(registry, |registry, request: SetModelRequest, _cx| async move {
                registry.find(&request.session_id)?.set_option(MODEL, request.model_id).await?;
                Ok(SetModelResponse {})
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let session = match for_prompts.find(&request.session_id) {
                    Ok(session) => session,
                    Err(error) => return responder.respond_with_error(error),
                };
                let withdrawn = responder.cancellation();
                // queued before the next message is read, so that a cancel which follows finds it
                let token = session.prompt(&request, responder);
                cx.spawn(async move {
                    tokio::select! {
                        () = async { withdrawn.cancelled().await; } => token.cancel(),
                        // it was answered
                        () = token.cancelled() => {}
                    }
                    Ok(())
                })
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancelled: CancelNotification, _cx: ConnectionTo<Client>| {
                if let Ok(session) = for_cancels.find(&cancelled.session_id) {
                    session.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(editor)
        .await
}

/// A session to open.
struct Opening {
    origin: Origin,
    setup: SessionSetup,
    /// Whether the editor is sent the stored conversation before the response.
    replays: bool,
    connection: ConnectionTo<Client>,
}

impl Opening {
    fn new(
        origin: Origin,
        servers: Vec<McpServer>,
        directories: Vec<PathBuf>,
        connection: ConnectionTo<Client>,
    ) -> Self {
        // no directories means none, even for a session that had some
        let setup = SessionSetup { servers: mcp::servers(servers), directories: Some(directories) };
        Self { origin, setup, replays: false, connection }
    }

    fn with_replay(self) -> Self {
        Self { replays: true, ..self }
    }

    /// Opens it in a task of its own, and sends no update before the response: some editors hang if an update comes for an id
    /// they do not know yet.
    fn begin<R: JsonRpcResponse>(
        self,
        registry: &Arc<Registry>,
        responder: Responder<R>,
        response: impl FnOnce(SessionId, Choices) -> R + Send + 'static,
    ) -> Result<(), Error> {
        let Self { origin, setup, replays, connection } = self;
        let registry = Arc::clone(registry);
        let withdrawn = responder.cancellation();
        connection.clone().spawn(async move {
            // a task of its own, so that a panic fails this request and nothing else; it ends when the set is dropped
            let mut task = JoinSet::new();
            task.spawn(async move { registry.open(origin, setup, replays, connection).await });
            let opened = tokio::select! {
                opened = task.join_next() => match opened {
                    Some(Ok(opened)) => opened,
                    _ => Err(explained(&Error::internal_error(), "the session could not be opened")),
                },
                // an agent that is starting ends with the request
                () = async { withdrawn.cancelled().await; } => Err(Error::request_cancelled()),
            };
            match opened {
                Ok(OpenedSession { session, choices }) => {
                    responder.respond(response(session.id().clone(), choices)).ok();
                    session.introduce().await;
                }
                Err(error) => drop(responder.respond_with_error(error)),
            }
            Ok(())
        })
    }
}
