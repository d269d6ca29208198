//! Tools of the host program for the agent: an MCP server on loopback that lives as long as its session.
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
pub use tools::{ToolAnswer, Tools};

use crate::error::Kind;
use crate::{Error, Result};

/// An MCP server in this process, for the agent of a session.
///
/// It is started before the session opens and stopped when the session is closed or its last handle is gone. Forks get one
/// of their own, with the same handler.
///
/// ```no_run
/// # async fn example() -> musher::Result<()> {
/// use musher::{Decision, InProcess, Permission, Session, Tools, sync};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Person { name: String }
///
/// let tools = Tools::new().tool("lookup", "Looks a person up", |person: Person| async move {
///     format!("{} is user 42", person.name)
/// });
/// let session = Session::builder()
///     .mcp_tools(InProcess::new("people", tools))
///     .on_permission(sync(|_: Permission| Decision::allow_once()))
///     .open()
///     .await?;
/// println!("{}", session.send("Who is Alice?").await?.text);
/// session.close().await
/// # }
/// ```
#[derive(Clone)]
pub struct InProcess {
    name: String,
    service: Arc<dyn Fn(CancellationToken) -> Arc<dyn Answer> + Send + Sync>,
    listen: Arc<dyn Fn() -> io::Result<TcpListener> + Send + Sync>,
}

/// What answers the requests of the agent.
pub(crate) trait Answer: Send + Sync {
    fn answer(&self, request: Request<Incoming>) -> BoxFuture<'_, Response<Body>>;
}

pub(crate) type Body = http_body_util::combinators::BoxBody<hyper::body::Bytes, std::convert::Infallible>;
type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl InProcess {
    /// A server that the model knows by this name: its tools are called `name___tool`.
    ///
    /// The handler is any server of [`rmcp`], or [`Tools`] made of functions.
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

    /// Where to listen, if not at a free port of `127.0.0.1`: for an agent in another network namespace. Called once for
    /// each session; only loopback is taken.
    #[must_use]
    pub fn listen_with(
        mut self,
        listen: impl Fn() -> io::Result<TcpListener> + Send + Sync + 'static,
    ) -> Self {
        self.listen = Arc::new(listen);
        self
    }

    /// Starts to serve.
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

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<H: ServerHandler> Answer for StreamableHttpService<H, NeverSessionManager> {
    fn answer(&self, request: Request<Incoming>) -> BoxFuture<'_, Response<Body>> {
        Box::pin(self.handle(request))
    }
}
