//! MCP servers to talk to: a program, and a real server on loopback.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::task::TaskTracker;

use super::*;

/// Tools to try everything with.
#[derive(Debug, Clone, Default)]
pub(super) struct Workshop {
    has_more: Arc<AtomicBool>,
}

impl ServerHandler for Workshop {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = || json!({"type": "object"}).as_object().unwrap().clone();
        let mut names = vec!["echo", "fail", "picture", "wait", "grow"];
        if self.has_more.load(Ordering::Relaxed) {
            names.push("more");
        }
        let tools = names.into_iter().map(|name| {
            let mut tool = Tool::new(name, format!("does {name}"), schema());
            tool.annotations = (name == "echo").then(|| ToolAnnotations::new().read_only(true));
            tool
        });
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let arguments = Value::Object(call.arguments.unwrap_or_default());
        let result = match call.name.as_ref() {
            "echo" => text(arguments.to_string()),
            "fail" => CallToolResult::error(vec![ContentBlock::text("it broke")]),
            "picture" => CallToolResult::success(vec![ContentBlock::image("AAAA", "image/png")]),
            "wait" => {
                context.ct.cancelled().await;
                text("cancelled".to_owned())
            }
            "huge" => text("x".repeat(20 << 20)),
            "grow" => {
                self.has_more.store(true, Ordering::Relaxed);
                context.peer.notify_tool_list_changed().await.ok();
                text("grown".to_owned())
            }
            other => return Err(ErrorData::invalid_params(format!("there is no tool `{other}`"), None)),
        };
        Ok(result.into())
    }
}

/// Returns a server as a program. It has the tools of [`Workshop`], and two that need a process: `die` and `variable`.
pub(super) fn program() -> Transport {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/helpers/mcp_server.py");
    Transport::Stdio { command: "python3".to_owned(), args: vec![script.to_owned()], env: vec![] }
}

/// A server on loopback. It ends when this is dropped.
pub(super) struct Served {
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Served {
    /// Ends it. Nothing of it is left when this returns.
    pub(super) async fn end(self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Returns a server on loopback that wants a token.
pub(super) async fn serve_http(address: Option<SocketAddr>, is_stateful: bool) -> (SocketAddr, Served) {
    let listener = TcpListener::bind(address.unwrap_or_else(|| ([127, 0, 0, 1], 0).into())).await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let workshop = Workshop::default();
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(is_stateful)
        .with_json_response(!is_stateful)
        .with_cancellation_token(stop.child_token());
    let manager = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(workshop.clone()), manager, config);
    let stopped = stop.clone();
    let tasks = TaskTracker::new();
    let connections = tasks.clone();
    tasks.spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = stopped.cancelled() => return,
            };
            let (stream, _) = accepted.unwrap();
            let service = service.clone();
            let answer = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let service = service.clone();
                async move {
                    let is_ours =
                        request.headers().get("authorization").is_some_and(|it| it == "Bearer t0ken");
                    if !is_ours {
                        let mut refusal =
                            hyper::Response::new(http_body_util::combinators::BoxBody::default());
                        *refusal.status_mut() = http::StatusCode::UNAUTHORIZED;
                        refusal.headers_mut().insert("www-authenticate", "Bearer".parse().unwrap());
                        return Ok::<_, std::convert::Infallible>(refusal);
                    }
                    Ok(service.handle(request).await)
                }
            });
            let connection =
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
            let stopped = stopped.clone();
            connections.spawn(async move {
                tokio::select! {
                    biased;
                    () = stopped.cancelled() => {}
                    _ended = connection => {}
                }
            });
        }
    });
    (address, Served { stop, tasks })
}

pub(super) fn at(address: SocketAddr, token: &str) -> Transport {
    Transport::Http {
        url: format!("http://{address}/mcp"),
        headers: vec![("Authorization".to_owned(), musher_model::Secret::new(format!("Bearer {token}")))],
    }
}
