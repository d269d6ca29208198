//! One task per connection: reads requests, plays answers, ends when the client disconnects or the server stops.
//!
//! Decides nothing about content.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{OnRequest, exchange};
use crate::Rehearsal;
use crate::recorder::Recorder;

/// The backlog of connections that are not accepted yet.
const MAX_PENDING_CONNECTIONS: usize = 1024;
/// How long answers in flight may take to end when the server stops.
const GRACE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long to wait when the system has no file descriptors left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The state that all connections share.
pub(super) struct Shared {
    pub(super) rehearsal: Rehearsal,
    pub(super) recorder: Recorder,
    pub(super) on_request: Option<OnRequest>,
    pub(super) stop: CancellationToken,
    /// Whether requests may be for another host than this machine.
    pub(super) is_remote_allowed: bool,
    pub(super) open: watch::Sender<usize>,
    slots: Arc<Semaphore>,
}

impl Shared {
    pub(super) fn new(
        rehearsal: Rehearsal,
        recorder: Recorder,
        on_request: Option<OnRequest>,
        stop: CancellationToken,
        is_remote_allowed: bool,
    ) -> Self {
        let slots = Arc::new(Semaphore::new(MAX_PENDING_CONNECTIONS));
        Self { rehearsal, recorder, on_request, stop, is_remote_allowed, open: watch::Sender::new(0), slots }
    }
}

/// Accepts connections until the server stops.
pub(super) async fn accept(listener: TcpListener, shared: Arc<Shared>, tasks: TaskTracker) {
    loop {
        let accepted = async {
            let slot = Arc::clone(&shared.slots).acquire_owned().await.map_err(io::Error::other)?;
            listener.accept().await.map(|(stream, _)| (stream, slot))
        };
        let accepted = tokio::select! {
            () = shared.stop.cancelled() => return,
            accepted = accepted => accepted,
        };
        match accepted {
            Ok((stream, slot)) => {
                let shared = Arc::clone(&shared);
                tasks.spawn(async move {
                    let _slot = slot;
                    serve(stream, shared).await;
                });
            }
            Err(_no_sockets_left) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _open = OpenConnection::new(Arc::clone(&shared));
    // Pieces of a stream are sent one by one; if this option fails, they only arrive later.
    drop(stream.set_nodelay(true));
    let reset = Arc::new(AtomicBool::new(false));
    let socket = Socket { stream, reset: Arc::clone(&reset) };
    let stop = shared.stop.clone();
    let service =
        service_fn(move |request| exchange::answer(Arc::clone(&shared), request, Arc::clone(&reset)));
    let connection =
        http1::Builder::new().timer(TokioTimer::new()).serve_connection(TokioIo::new(socket), service);
    let mut connection = pin!(connection);
    tokio::select! {
        // An error means that the client disconnected or the script cut the connection: nothing to report.
        _ = connection.as_mut() => {}
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            drop(tokio::time::timeout(GRACE_TIMEOUT, connection).await);
        }
    }
}

/// Counts a connection as open for as long as it lives.
struct OpenConnection(Arc<Shared>);

impl OpenConnection {
    fn new(shared: Arc<Shared>) -> Self {
        shared.open.send_modify(|count| *count += 1);
        Self(shared)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.send_modify(|count| *count -= 1);
    }
}

/// A TCP stream that can be marked to be reset instead of closed when it is dropped.
struct Socket {
    stream: TcpStream,
    reset: Arc<AtomicBool>,
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.reset.load(Ordering::Relaxed) {
            // If this fails, the client sees a normal close, which is a cut too.
            drop(self.stream.set_zero_linger());
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
