//! An MCP server of this process, served to the agent on loopback as long as its session lives.
//!
//! It is stateless HTTP with a random token for each session, so that no other program of the machine can call the tools.

mod serving;
mod tools;

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

pub(crate) use serving::Serving;
pub use tools::{IntoToolResult, McpTools};

use crate::error::Kind;
use crate::{Error, Result};

/// An MCP server in this process, for the agent of a session.
///
/// It starts before the session opens, and stops when the session is closed or its last handle is dropped. Forks get one
/// of their own, with the same handler. Agents ask before they call its tools.
///
/// ```no_run
/// # async fn example() -> musher::Result<()> {
/// use musher::{Decision, McpServer, McpTools, Session};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Person { name: String }
///
/// let tools = McpTools::new().tool("lookup", "Looks a person up", |person: Person| async move {
///     format!("{} is user 42", person.name)
/// });
/// let session = Session::builder()
///     .serve_mcp(McpServer::new("people", tools))
///     .on_permission_sync(|_| Decision::allow_once())
///     .open()
///     .await?;
/// println!("{}", session.send("Who is Alice?").await?.text);
/// session.close().await
/// # }
/// ```
#[derive(Clone)]
pub struct McpServer {
    name: String,
    service: Arc<dyn Fn(CancellationToken) -> Arc<dyn Answer> + Send + Sync>,
    listen: Arc<dyn Fn() -> io::Result<TcpListener> + Send + Sync>,
}

/// The handler of the agent's requests.
pub(crate) trait Answer: Send + Sync {
    fn answer(&self, request: Request<Incoming>) -> BoxFuture<'_, Response<Body>>;
}

pub(crate) type Body = http_body_util::combinators::BoxBody<hyper::body::Bytes, std::convert::Infallible>;
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl McpServer {
    /// Creates a server that the model knows by this name: its tools are called `name___tool`.
    ///
    /// The handler is any server of [`rmcp`], or [`McpTools`] made of functions.
    pub fn new(name: impl Into<String>, handler: impl ServerHandler) -> Self {
        let handler = Arc::new(handler);
        let service = move |stop: CancellationToken| -> Arc<dyn Answer> {
            let handler = Arc::clone(&handler);
            let config = StreamableHttpServerConfig::default()
                .with_legacy_session_mode(false)
                .with_json_response(true)
                .enforce_origin_validation()
                .with_cancellation_token(stop);
            let manager = Arc::new(NeverSessionManager::default());
            Arc::new(StreamableHttpService::new(move || Ok(Arc::clone(&handler)), manager, config))
        };
        let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        Self { name: name.into(), service: Arc::new(service), listen: Arc::new(listen) }
    }

    /// Sets the listener, for an agent in another network namespace; a free port of `127.0.0.1` by default. Called once for
    /// each session; only loopback addresses are accepted.
    #[must_use]
    pub fn listen_with(
        mut self,
        listen: impl Fn() -> io::Result<TcpListener> + Send + Sync + 'static,
    ) -> Self {
        self.listen = Arc::new(listen);
        self
    }

    /// Starts the server.
    pub(crate) fn serve(&self) -> Result<Serving> {
        if self.name.is_empty() {
            return Err(Error::invalid_input("an MCP server needs a name"));
        }
        let listener = (self.listen)().map_err(|error| cannot_serve(&error))?;
        Serving::start(&self.name, listener, &*self.service)
    }
}

fn cannot_serve(error: &io::Error) -> Error {
    Error::because(Kind::Session, format!("its tools cannot be served: {error}"))
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<H: ServerHandler> Answer for StreamableHttpService<H, NeverSessionManager> {
    fn answer(&self, request: Request<Incoming>) -> BoxFuture<'_, Response<Body>> {
        Box::pin(self.handle(request))
    }
}
