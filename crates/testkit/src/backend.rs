//! A stand-in for the vendor's own service, which an agent calls on start, whatever model it uses.
//!
//! It answers every path with 200 and an empty object, unless a test sets another answer, and records the requests. It is not a model; that
//! is `musher-rehearse`.
//!
//! Successful answers matter: droid 0.225.2 ends within a tenth of a second if its last calls to the service succeed, and waits five
//! seconds if they fail or nothing listens. A test that needs the slow end uses [`Backend::refusing`].

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::Sandbox;

/// The maximum lifetime of a connection; longer than any test.
const CONNECTION_TIMEOUT: Duration = Duration::from_mins(10);

const OK: &str = "200 OK";

/// The stand-in; stops when dropped.
#[derive(Debug)]
pub struct Backend {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    unknown: &'static str,
    answers: Mutex<HashMap<String, Value>>,
    asked: Mutex<Vec<String>>,
}

impl Backend {
    /// Starts a stand-in on the sandbox's loopback that answers every path with 200; needs a tokio runtime.
    pub fn start(sandbox: &Sandbox) -> Result<Self> {
        Self::answering(sandbox, OK)
    }

    /// Starts a stand-in that answers 404 to every path without an answer of the test.
    pub fn refusing(sandbox: &Sandbox) -> Result<Self> {
        Self::answering(sandbox, "404 Not Found")
    }

    fn answering(sandbox: &Sandbox, unknown: &'static str) -> Result<Self> {
        let listener = TcpListener::from_std(sandbox.listen()?)?;
        let address = listener.local_addr()?;
        let state = Arc::new(State { unknown, answers: Mutex::default(), asked: Mutex::default() });
        let task = tokio::spawn(serve(listener, Arc::clone(&state)));
        Ok(Self { address, state, task })
    }

    /// Returns the base URL, for `FACTORY_API_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the answer to a path: 200 with this body.
    pub fn answer(&self, path: &str, body: Value) {
        self.state.answers.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), body);
    }

    /// Returns the requests so far, as `METHOD /path`.
    pub fn asked(&self) -> Vec<String> {
        self.state.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, state: Arc<State>) {
    // dropped with this future, which also closes the open connections
    let mut connections = JoinSet::new();
    while let Ok((stream, _peer)) = listener.accept().await {
        connections.spawn(timeout(CONNECTION_TIMEOUT, answer_all(stream, Arc::clone(&state))));
        while connections.try_join_next().is_some() {}
    }
}

/// Answers the requests of one connection, until the client closes it.
///
/// The connection is kept open, because droid 0.99.0 often crashes if it is closed after each answer.
async fn answer_all(stream: TcpStream, state: Arc<State>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream).await? {
        state
            .asked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(format!("{} {}", request.method, request.path));
        let known = state
            .answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&request.path)
            .map(ToString::to_string);
        let status = if known.is_some() { OK } else { state.unknown };
        let body = known.unwrap_or_else(|| "{}".to_owned());
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

struct Request {
    method: String,
    path: String,
}

/// Reads the head and discards a body of the announced length; `None` if there is no further request.
async fn read_request(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace();
    let method = words.next().unwrap_or_default().to_owned();
    let path = words.next().unwrap_or_default().split('?').next().unwrap_or_default().to_owned();

    let mut length = 0;
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    tokio::io::copy(&mut stream.take(length), &mut tokio::io::sink()).await?;
    Ok(Some(Request { method, path }))
}
