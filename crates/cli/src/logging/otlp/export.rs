//! The thread that sends ended spans: in batches, with a timeout on every request, and at the end what is left.

use std::io;
use std::sync::mpsc as blocking;
use std::time::Duration;

use http::{Method, StatusCode};
use musher_http::Client;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout_at};

use super::config::Config;
use super::payload;
use super::span::Span;

/// How many spans may wait; more are dropped.
const MAX_WAITING: usize = 2048;
/// How many spans are sent at once.
const MAX_BATCH: usize = 512;
/// How long a span waits for others.
const BATCH_DELAY: Duration = Duration::from_secs(5);
/// Waits before a batch is sent again that the collector could not take.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];
/// How long the program waits at its end for the last export.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest answer of a collector that is read.
const MAX_ANSWER: usize = 64 << 10;

/// The running export. Spans that ended are sent until [`finish`](Self::finish).
pub(crate) struct Exporter {
    end: oneshot::Sender<()>,
    over: blocking::Receiver<()>,
}

impl Exporter {
    /// Sends what waits, and returns when it is sent or took too long.
    pub(crate) fn finish(self) {
        self.end.send(()).ok();
        // an error is the normal end: the thread drops its half
        self.over.recv_timeout(FINISH_TIMEOUT).ok();
    }
}

/// Starts the thread. It has a runtime of its own, so that it still sends when that of the program is gone.
pub(super) fn start(config: Config, client: Client) -> io::Result<(mpsc::Sender<Span>, Exporter)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (sender, spans) = mpsc::channel(MAX_WAITING);
    let (end, ending) = oneshot::channel();
    let (is_over, over) = blocking::channel::<()>();
    std::thread::Builder::new().name("otlp".to_owned()).spawn(move || {
        runtime.block_on(Export { config, client, spans, ending, is_ending: false }.run());
        drop(is_over);
    })?;
    Ok((sender, Exporter { end, over }))
}

/// What the thread works on.
struct Export {
    config: Config,
    client: Client,
    spans: mpsc::Receiver<Span>,
    ending: oneshot::Receiver<()>,
    is_ending: bool,
}

impl Export {
    async fn run(mut self) {
        loop {
            let first = tokio::select! {
                first = self.spans.recv() => first,
                _ended = &mut self.ending, if !self.is_ending => {
                    self.end();
                    continue;
                }
            };
            let Some(first) = first else { return };
            let mut batch = vec![first];
            let deadline = Instant::now() + BATCH_DELAY;
            while batch.len() < MAX_BATCH {
                tokio::select! {
                    next = timeout_at(deadline, self.spans.recv()) => match next {
                        Ok(Some(span)) => batch.push(span),
                        Ok(None) | Err(_) => break,
                    },
                    _ended = &mut self.ending, if !self.is_ending => self.end(),
                }
            }
            self.send(&batch).await;
        }
    }

    /// Takes no more spans. Those that wait are still received.
    fn end(&mut self) {
        self.is_ending = true;
        self.spans.close();
    }

    /// Sends a batch, again if the collector is busy or away. A batch that cannot be sent is dropped.
    async fn send(&mut self, batch: &[Span]) {
        let body = payload::body(&self.config.resource, batch).to_string();
        let mut delays = RETRY_DELAYS.iter();
        loop {
            let (can_retry, problem) = match self.post(body.clone()).await {
                Ok(()) => return,
                Err(problem) => problem,
            };
            let Some(delay) = delays.next().filter(|_| can_retry && !self.is_ending) else {
                tracing::warn!(spans = batch.len(), "cannot export spans: {problem}");
                return;
            };
            tokio::select! {
                () = sleep(*delay) => {}
                _ended = &mut self.ending => self.end(),
            }
        }
    }

    /// Sends a body once. Returns whether to try again, and what went wrong.
    async fn post(&self, body: String) -> Result<(), (bool, String)> {
        let headers = self.config.headers.clone();
        let sent = self.client.request(Method::POST, &self.config.url, headers, body.into_bytes()).await;
        let mut response = sent.map_err(|error| (true, error.to_string()))?;
        // read, so that the connection can be used again
        response.body.read(MAX_ANSWER).await.ok();
        match response.status {
            status if status.is_success() => Ok(()),
            status => {
                let can_retry = matches!(
                    status,
                    StatusCode::TOO_MANY_REQUESTS
                        | StatusCode::BAD_GATEWAY
                        | StatusCode::SERVICE_UNAVAILABLE
                        | StatusCode::GATEWAY_TIMEOUT
                );
                Err((can_retry, format!("the collector answered with status {status}")))
            }
        }
    }
}
