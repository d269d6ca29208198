//! One connection to a server: opens it within a deadline, lists its tools, and waits for its end.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use musher_model::Secret;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams, Tool};
use rmcp::service::{ClientInitializeError, NotificationContext, RunningService, serve_client_with_ct};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, Peer, RoleClient};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use super::child::Child;
use super::fault::{Fault, LimitedLines};
use super::http::{Client, Error as HttpError};
use super::manager::Options;
use super::old_sse::OldSse;
use musher_config::{McpServer, Transport};

/// The maximum time until the tools of a server are known.
pub(super) const START_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of tools of a server; more do not help a model.
const MAX_TOOLS: usize = 512;
const MAX_PAGES: usize = 64;
/// Why a server is not connected that the user has to log in to.
pub(super) const LOGIN: &str = "Authentication required";
/// Why a server is not connected that refuses requests, and that the user cannot log in to with OAuth.
const REFUSED: &str =
    "Authentication required: it does not accept the headers of mcp.json, or needs a token in them";

/// The client side of a connection.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    tools_changed: Arc<Notify>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("musher", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) tools: Arc<[Tool]>,
    /// Set when the server exceeds a limit.
    pub(super) fault: Fault,
    service: RunningService<RoleClient, Handler>,
    tools_changed: Arc<Notify>,
    child: Option<Child>,
}

impl Connection {
    /// Connects and lists the tools. `stop` ends the connection, now and later.
    pub(super) async fn open(
        server: &McpServer,
        options: &Options,
        client: impl FnOnce() -> Client,
        stop: &CancellationToken,
    ) -> Result<Self, String> {
        let deadline = Instant::now() + START_TIMEOUT;
        // the service cancels its token when it ends; the child token keeps that apart from a requested stop
        let stop = stop.child_token();
        let tools_changed = Arc::new(Notify::new());
        let handler = Handler { tools_changed: Arc::clone(&tools_changed) };
        let fault = Fault::default();
        let client = || client().with_fault(fault.clone());
        let mut child = None;
        let begun = match &server.transport {
            Transport::Stdio { command, args, env } => {
                let sandbox = options.sandbox.as_ref();
                let started =
                    Child::start(command, args, env, &options.cwd, &options.environment, sandbox).await;
                let (started, output, input) =
                    started.map_err(|error| format!("cannot start `{command}`: {error}"))?;
                child = Some(started);
                let output = LimitedLines::new(output, fault.clone());
                timeout_at(deadline, serve_client_with_ct(handler, (output, input), stop)).await
            }
            Transport::Http { url, headers } => {
                let transport = streamable(client(), url, header_map(headers)?);
                timeout_at(deadline, serve_client_with_ct(handler, transport, stop)).await
            }
            Transport::Sse { url, headers } => {
                let (client, headers) = (client(), header_map(headers)?);
                let old = OldSse::open(client.clone(), url, headers.clone().into_iter().collect());
                match timeout_at(deadline, old).await {
                    Err(_elapsed) => return Err(late()),
                    Ok(Err(HttpError::AuthRequired(_))) => return Err(REFUSED.to_owned()),
                    Ok(Err(error)) => return Err(cause(&error)),
                    Ok(Ok(Some(transport))) => {
                        timeout_at(deadline, serve_client_with_ct(handler, transport, stop)).await
                    }
                    // many servers are configured as SSE and speak the newer transport
                    Ok(Ok(None)) => {
                        let transport = streamable(client, url, headers);
                        timeout_at(deadline, serve_client_with_ct(handler, transport, stop)).await
                    }
                }
            }
        };
        let failed = match begun {
            Ok(Ok(service)) => {
                let peer = service.peer().clone();
                let listed = tokio::select! {
                    biased;
                    listed = timeout_at(deadline, list(&peer)) => listed,
                    why = fault.reached() => Ok(Err(why)),
                };
                match listed {
                    Ok(Ok(tools)) => return Ok(Self { peer, tools, fault, service, tools_changed, child }),
                    Ok(Err(error)) => format!("it does not tell its tools: {error}"),
                    Err(_elapsed) => late(),
                }
            }
            Ok(Err(error)) => why(&error),
            Err(_elapsed) => late(),
        };
        let failed = fault.get().map_or(failed, str::to_owned);
        Err(match child {
            Some(child) => format!("{failed} ({})", child.end().await),
            None => failed,
        })
    }

    /// Waits until the connection ends, and cleans up. Returns the reason, or `None` after a requested stop.
    pub(super) async fn keep(
        self,
        stop: &CancellationToken,
        mut on_tools: impl FnMut(Arc<[Tool]>),
    ) -> Option<String> {
        let Self { peer, fault, service, tools_changed, child, .. } = self;
        let mut ended = Box::pin(service.waiting());
        loop {
            tokio::select! {
                _reason = &mut ended => break,
                _why = fault.reached() => break,
                () = tools_changed.notified() => {
                    // if listing fails, keep the old list
                    if let Ok(Ok(tools)) = timeout(START_TIMEOUT, list(&peer)).await {
                        on_tools(tools);
                    }
                }
            }
        }
        // closes the pipes, if it has not ended by itself
        drop(ended);
        let how = match child {
            Some(child) => child.end().await,
            None => "the connection ended".to_owned(),
        };
        let how = fault.get().map_or(how, str::to_owned);
        (!stop.is_cancelled()).then_some(how)
    }
}

async fn list(peer: &Peer<RoleClient>) -> Result<Arc<[Tool]>, String> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _page in 0..MAX_PAGES {
        let mut page = PaginatedRequestParams::default();
        page.cursor = cursor;
        let result = peer.list_tools(Some(page)).await.map_err(|error| error.to_string())?;
        tools.extend(result.tools);
        cursor = result.next_cursor;
        if cursor.is_none() || tools.len() > MAX_TOOLS {
            break;
        }
    }
    tools.truncate(MAX_TOOLS);
    Ok(tools.into())
}

fn streamable(
    client: Client,
    url: &str,
    headers: HashMap<HeaderName, HeaderValue>,
) -> StreamableHttpClientTransport<Client> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.custom_headers = headers;
    let mut retry = ExponentialBackoff::default();
    retry.max_times = Some(8);
    config.retry_config = Arc::new(retry);
    StreamableHttpClientTransport::with_client(client, config)
}

fn late() -> String {
    format!("it did not answer within {} seconds", START_TIMEOUT.as_secs())
}

fn why(error: &ClientInitializeError) -> String {
    if error.is_authorization_required() {
        return REFUSED.to_owned();
    }
    cause(error)
}

/// Returns the cause: the report of the HTTP client, or the innermost error.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    musher_http::Error::find(error).map_or_else(|| innermost(error), musher_http::Error::report)
}

fn innermost(error: &dyn std::error::Error) -> String {
    let mut at = error;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}

fn header_map(headers: &[(String, Secret)]) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let pairs = headers.iter().map(|(name, value)| musher_http::header(name, value.expose()));
    pairs.collect::<Result<_, _>>().map_err(|error| error.to_string())
}
