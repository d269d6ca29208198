//! The loopback server: accepts connections, checks the token, passes requests on, and stops on request or when dropped.

use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use musher_wire::{HttpHeader, Json, McpServerConfig};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::{Answer, Body, cannot_serve};
use crate::{Error, Result};

/// The path of the server; everything else is not found.
const PATH: &str = "/mcp";
/// The maximum number of open connections; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 64;
/// How long calls in flight may take when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// The delay before the next attempt when the system has no sockets left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A server that runs. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Serving {
    config: McpServerConfig,
    tasks: TaskTracker,
    stop: CancellationToken,
    _stop_on_drop: DropGuard,
}

impl Serving {
    /// Serves on this listener, with a token of its own.
    pub(super) fn start(
        name: &str,
        listener: TcpListener,
        service: &(dyn Fn(CancellationToken) -> Arc<dyn Answer> + Send + Sync),
    ) -> Result<Self> {
        let address = listener.local_addr().map_err(|error| cannot_serve(&error))?;
        if !address.ip().is_loopback() {
            return Err(Error::invalid_input(format!("tools are served on loopback only, not on {address}")));
        }
        listener.set_nonblocking(true).map_err(|error| cannot_serve(&error))?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(|error| cannot_serve(&error))?;
        // twice 122 random bits
        let token = format!("Bearer {}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let mut config = McpServerConfig::http(
            name,
            format!("http://{address}{PATH}"),
            vec![HttpHeader::new("Authorization", token.clone())],
        );
        config.oauth = Some(Json::from(serde_json::Value::Bool(false)));
        let stop = CancellationToken::new();
        let auth = AuthService { token, service: service(stop.clone()) };
        let tasks = TaskTracker::new();
        tasks.spawn(accept(listener, Arc::new(auth), stop.clone(), tasks.clone()));
        Ok(Self { config, tasks, _stop_on_drop: stop.clone().drop_guard(), stop })
    }

    /// Returns the configuration with which the agent connects.
    pub(crate) fn config(&self) -> &McpServerConfig {
        &self.config
    }

    /// Stops the server, and waits until all connections are closed.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Rejects requests without the token.
struct AuthService {
    token: String,
    service: Arc<dyn Answer>,
}

impl AuthService {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if !self.has_token(&request) {
            let mut refused = plain(StatusCode::UNAUTHORIZED);
            refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return refused;
        }
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND);
        }
        self.service.answer(request).await
    }

    fn has_token(&self, request: &Request<Incoming>) -> bool {
        let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        let wanted = self.token.as_bytes();
        // constant time, so that the duration does not reveal how much of a guess is right
        let difference = given.iter().zip(wanted).fold(0, |sum, (given, wanted)| sum | (given ^ wanted));
        given.len() == wanted.len() && difference == 0
    }
}

fn plain(status: StatusCode) -> Response<Body> {
    let text = status.canonical_reason().unwrap_or_default();
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

async fn accept(
    listener: tokio::net::TcpListener,
    auth: Arc<AuthService>,
    stop: CancellationToken,
    tasks: TaskTracker,
) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let accepted = async {
            let slot = Arc::clone(&slots).acquire_owned().await.map_err(std::io::Error::other)?;
            listener.accept().await.map(|(stream, _)| (stream, slot))
        };
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, slot)) => {
                let (auth, stop) = (Arc::clone(&auth), stop.clone());
                tasks.spawn(async move {
                    let _slot = slot;
                    serve(stream, auth, stop).await;
                });
            }
            Err(_no_sockets_left) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, auth: Arc<AuthService>, stop: CancellationToken) {
    let service = service_fn(move |request| {
        let auth = Arc::clone(&auth);
        async move { Ok::<_, std::convert::Infallible>(auth.answer(request).await) }
    });
    let connection =
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // an error means that the agent has disconnected
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            tokio::time::timeout(STOP_TIMEOUT, connection).await.ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use crate::{McpServer, McpTools};

    async fn ask(path: &str, authorization: &str) -> String {
        let server =
            McpServer::new("people", McpTools::new().plain_tool("count", "Counts", || async { "two" }));
        let serving = server.serve().unwrap();
        let config = serving.config().clone();
        let authority = config.url.as_deref().unwrap().strip_prefix("http://").unwrap();
        let authority = authority.strip_suffix("/mcp").unwrap();
        let token = config.headers.as_ref().unwrap()[0].value.clone();
        let body =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","arguments":{}}}"#;
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nAuthorization: {}\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            authorization.replace("TOKEN", &token),
            body.len(),
        );
        let mut stream = tokio::net::TcpStream::connect(authority).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        serving.stop().await;
        assert!(tokio::net::TcpStream::connect(authority).await.is_err(), "it has stopped");
        answer
    }

    #[tokio::test]
    async fn only_who_knows_the_token_is_let_in() {
        let answer = ask("/mcp", "TOKEN").await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("two"), "{answer}");
        assert!(answer.to_lowercase().contains("content-type: application/json"), "{answer}");
        for wrong in ["Bearer wrong", "", "TOKENx"] {
            let answer = ask("/mcp", wrong).await.to_lowercase();
            assert!(answer.starts_with("http/1.1 401"), "{answer}");
            assert!(answer.contains("www-authenticate: bearer"), "{answer}");
        }
        assert!(ask("/other", "TOKEN").await.starts_with("HTTP/1.1 404"));
    }

    #[tokio::test]
    async fn only_loopback_is_taken() {
        let server = McpServer::new("people", McpTools::new())
            .listen_with(|| std::net::TcpListener::bind((std::net::Ipv4Addr::UNSPECIFIED, 0)));
        assert!(server.serve().unwrap_err().is_invalid_input());
        assert!(McpServer::new("", McpTools::new()).serve().unwrap_err().is_invalid_input());
    }
}
