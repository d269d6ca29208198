//! The agent as the editor sees it: one handler for each message of the protocol, and the sessions they are about.
//!
//! Handlers run in the connection's reading loop, so none of them waits: whatever takes time is a task of its own. That
//! `session/cancel` finds its prompt is due to the order: a prompt is entered before the next message is read.

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

use crate::config::Config;
use crate::convert::mcp;
use crate::desk::Desk;
use crate::listing;
use crate::modes::MODEL;
use crate::session::{Given, Origin, Session};

/// Serves the editor at the other end of `editor` until it is gone or `stop` comes; then all agents are ended.
pub async fn serve(
    config: Config,
    editor: LineConnection,
    stop: impl Future<Output = ()>,
) -> Result<(), Error> {
    let desk = Arc::new(Desk::new(config));
    let (editor, farewell) = desk.link.over(editor);
    let served = tokio::select! {
        served = connect(Arc::clone(&desk), editor) => served,
        () = stop => Ok(()),
    };
    desk.link.end();
    tokio::join!(desk.close_all(), farewell.say());
    served
}

/// An old way to choose the model, which some editors still use without asking.
#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "session/set_model", response = SetModelResponse)]
#[serde(rename_all = "camelCase")]
struct SetModelRequest {
    session_id: SessionId,
    model_id: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcResponse)]
struct SetModelResponse {}

/// A handler that answers in a task of its own.
macro_rules! answers {
    ($desk:ident, |$me:ident, $request:ident: $Request:ty, $cx:ident| $answer:expr) => {{
        let desk = Arc::clone(&$desk);
        async move |$request: $Request, responder: Responder<_>, $cx: ConnectionTo<Client>| {
            let $me = Arc::clone(&desk);
            $cx.clone().spawn(async move {
                // an editor that is gone misses nothing
                responder.respond_with_result($answer.await).ok();
                Ok(())
            })
        }
    }};
}

async fn connect(desk: Arc<Desk>, editor: impl ConnectTo<agent_client_protocol::Agent>) -> Result<(), Error> {
    let (for_prompts, for_cancels, for_new) = (Arc::clone(&desk), Arc::clone(&desk), Arc::clone(&desk));
    let (for_hello, for_load, for_resume) = (Arc::clone(&desk), Arc::clone(&desk), Arc::clone(&desk));
    let for_fork = Arc::clone(&desk);
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
            answers!(desk, |me, asked: AuthenticateRequest, _cx| async move { me.authenticate(asked).await }),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: NewSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::New { cwd: asked.cwd };
                let opening = Opening::new(origin, asked.mcp_servers, asked.additional_directories, cx);
                opening.begin(&for_new, responder, |session| {
                    let (modes, options) = session.choices();
                    NewSessionResponse::new(session.id().clone()).modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: LoadSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::Stored { id: asked.session_id, cwd: asked.cwd };
                let opening = Opening::new(origin, asked.mcp_servers, asked.additional_directories, cx);
                opening.begin(&for_load, responder, |session| {
                    session.replay();
                    let (modes, options) = session.choices();
                    LoadSessionResponse::new().modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: ResumeSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::Stored { id: asked.session_id, cwd: asked.cwd };
                let opening = Opening::new(origin, asked.mcp_servers, asked.additional_directories, cx);
                opening.begin(&for_resume, responder, |session| {
                    let (modes, options) = session.choices();
                    ResumeSessionResponse::new().modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: ForkSessionRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let origin = Origin::Copy { id: asked.session_id, cwd: asked.cwd };
                let opening = Opening::new(origin, asked.mcp_servers, asked.additional_directories, cx);
                opening.begin(&for_fork, responder, |session| {
                    let (modes, options) = session.choices();
                    ForkSessionResponse::new(session.id().clone()).modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: ListSessionsRequest, _cx| async move {
                listing::list(&asked, &me.config).await
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: CloseSessionRequest, _cx| async move {
                me.find(&asked.session_id)?;
                if let Some(session) = me.take(&asked.session_id) {
                    session.close().await;
                }
                Ok(CloseSessionResponse::new())
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: DeleteSessionRequest, _cx| async move { me.delete(&asked).await }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: SetSessionTitleRequest, cx| async move {
                me.retitle(&asked, &cx).await
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: SetSessionModeRequest, _cx| async move {
                me.find(&asked.session_id)?.choose(crate::modes::MODE, &asked.mode_id.0).await?;
                Ok(SetSessionModeResponse::new())
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: SetSessionConfigOptionRequest, _cx| async move {
                let session = me.find(&asked.session_id)?;
                let value = asked.value.as_value_id();
                let value = value.ok_or_else(|| Error::invalid_params().data("no option of ours is yes or no"))?;
                session.choose(&asked.config_id.0, &value.0).await?;
                Ok(SetSessionConfigOptionResponse::new(session.choices().1))
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            answers!(desk, |me, asked: SetModelRequest, _cx| async move {
                me.find(&asked.session_id)?.choose(MODEL, &asked.model_id).await?;
                Ok(SetModelResponse {})
            }),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |asked: PromptRequest, responder: Responder<_>, cx: ConnectionTo<Client>| {
                let session = match for_prompts.find(&asked.session_id) {
                    Ok(session) => session,
                    Err(error) => return responder.respond_with_error(error),
                };
                // entered before the next message is read, so that a cancel which follows finds it
                let ticket = session.enter();
                let withdrawn = responder.cancellation();
                cx.spawn(async move {
                    let token = ticket.token();
                    let answered = tokio::select! {
                        answered = session.prompt(&asked.prompt, &token) => answered,
                        () = async { withdrawn.cancelled().await; token.cancel(); std::future::pending().await } => return Ok(()),
                    };
                    drop(ticket);
                    responder.respond_with_result(answered).ok();
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

/// A session that is to be opened.
struct Opening {
    origin: Origin,
    given: Given,
    cx: ConnectionTo<Client>,
}

impl Opening {
    fn new(
        origin: Origin,
        servers: Vec<McpServer>,
        directories: Vec<PathBuf>,
        cx: ConnectionTo<Client>,
    ) -> Self {
        // no directories means none, also for a session that had some
        let given = Given { servers: mcp::servers(servers), directories: Some(directories) };
        Self { origin, given, cx }
    }

    /// Opens it in a task of its own, and says nothing about the session before it has answered: some editors hang if an
    /// update comes for an id they do not know yet.
    fn begin<R: JsonRpcResponse>(
        self,
        desk: &Arc<Desk>,
        responder: Responder<R>,
        answer: impl FnOnce(&Session) -> R + Send + 'static,
    ) -> Result<(), Error> {
        let desk = Arc::clone(desk);
        let withdrawn = responder.cancellation();
        self.cx.clone().spawn(async move {
            let opened = tokio::select! {
                opened = desk.open(self.origin, self.given, self.cx) => opened,
                // an agent that is only half started ends with the wish for it
                () = withdrawn.cancelled() => Err(Error::request_cancelled()),
            };
            match opened {
                Ok(session) => {
                    responder.respond(answer(&session)).ok();
                    session.introduce();
                }
                Err(error) => drop(responder.respond_with_error(error)),
            }
            Ok(())
        })
    }
}
