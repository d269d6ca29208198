//! The transport to the editor, bounded in both directions.
//!
//! The protocol's crate queues messages without a limit. The limits are here, around it: a session waits until the editor has read
//! enough of its updates ([`Link::room`]), and an editor that writes without ever reading is not read either. Nothing is dropped.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::{Agent, ConnectTo, Lines};
use futures_util::{sink, stream};
use musher_rpc::{Closed, LineConnection, LineReceiver, LineSender, RawLine};
use tokio::sync::watch;

/// How many updates may wait to be written before sessions read nothing more from their agents.
const MAX_PENDING_UPDATES: usize = 64;
/// How many lines are read from an editor that does not read.
const MAX_LINES_READ: usize = 256;
/// How many bytes of a line that is too long are parsed.
const EXCERPT_LENGTH: usize = 100;
/// How long the last messages may take to be written.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The load of the transport, for the sessions that must wait for room.
#[derive(Debug, Clone, Default)]
pub(crate) struct Link(Arc<watch::Sender<Load>>);

#[derive(Debug, Default)]
struct Load {
    /// Updates that were sent and are not written yet.
    updates: usize,
    /// A line is being written; this lasts as long as the editor does not read.
    is_writing: bool,
    /// Lines that were read since then.
    read: usize,
    is_over: bool,
}

impl Link {
    /// Waits until the editor has read enough for more updates, or is gone.
    pub(crate) async fn room(&self) {
        self.wait(|load| load.updates < MAX_PENDING_UPDATES).await;
    }

    /// Counts an update that is sent.
    pub(crate) fn add_update(&self) {
        self.0.send_if_modified(|load| {
            load.updates += 1;
            false
        });
    }

    /// Marks the editor as gone: nothing waits for room any more.
    pub(crate) fn end(&self) {
        self.0.send_modify(|load| load.is_over = true);
    }

    /// Makes a transport of the connection with the editor.
    pub(crate) fn over(&self, connection: LineConnection) -> (impl ConnectTo<Agent> + use<>, Flush) {
        let LineConnection { incoming, outgoing } = connection;
        let flush = Flush(outgoing.clone());
        let link = self.clone();
        let lines_out = sink::unfold(outgoing, move |outgoing: LineSender, line: String| {
            let link = link.clone();
            async move {
                let is_update = is_update(&line);
                link.0.send_if_modified(|load| {
                    load.is_writing = true;
                    false
                });
                outgoing.send(RawLine::from(line)).await.map_err(gone)?;
                link.0.send_modify(|load| {
                    load.is_writing = false;
                    load.read = 0;
                    load.updates = load.updates.saturating_sub(usize::from(is_update));
                });
                Ok(outgoing)
            }
        });
        let link = self.clone();
        let lines_in = stream::unfold((incoming, link), async |(mut incoming, link)| {
            let line = link.read(&mut incoming).await?;
            Some((line, (incoming, link)))
        });
        (Lines::new(lines_out, lines_in), flush)
    }

    async fn read(&self, incoming: &mut LineReceiver) -> Option<io::Result<String>> {
        self.wait(|load| !load.is_writing || load.read < MAX_LINES_READ).await;
        let line = match incoming.recv().await {
            Ok(line) => line,
            Err(Closed::Ended) => return None,
            Err(error) => return Some(Err(gone(error))),
        };
        self.0.send_if_modified(|load| {
            load.read += usize::from(load.is_writing);
            false
        });
        let bytes = if line.is_cut() {
            &line.bytes()[..EXCERPT_LENGTH.min(line.bytes().len())]
        } else {
            line.bytes()
        };
        // bytes that are not UTF-8 are not JSON either, and are answered as such
        Some(Ok(String::from_utf8_lossy(bytes).into_owned()))
    }

    async fn wait(&self, is_enough: impl Fn(&Load) -> bool) {
        // the sender lives as long as `self`
        self.0.subscribe().wait_for(|load| load.is_over || is_enough(load)).await.ok();
    }
}

/// Flushes a connection at its end.
#[derive(Debug)]
pub(crate) struct Flush(LineSender);

impl Flush {
    /// Waits until all messages are written, or the timeout.
    pub(crate) async fn finish(self) {
        self.0.finish(FLUSH_TIMEOUT).await;
    }
}

/// Returns whether a line is an update. The method is near its start.
fn is_update(line: &str) -> bool {
    let start = &line.as_bytes()[..line.len().min(64)];
    start.windows(24).any(|window| window == br#""method":"session/update"#)
}

fn gone(error: Closed) -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, error)
}
