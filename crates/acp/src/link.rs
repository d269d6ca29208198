//! The line to the editor, bounded in both directions.
//!
//! The protocol's crate queues without a limit whatever is sent, and whatever is read. So the limit is kept here, around it: who tells
//! what an agent does waits until the editor has read enough of what it was told ([`Link::room`]), and an editor that writes
//! without ever reading is not read either. Nothing is dropped.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::{Agent, ConnectTo, Lines};
use futures_util::{sink, stream};
use musher_rpc::{Closed, LineConnection, LineReceiver, LineSender, RawLine};
use tokio::sync::watch;

/// How many updates may wait to be written before the agents have to wait.
const MOST_UPDATES: usize = 64;
/// How many lines are read from an editor that does not read.
const MOST_READ: usize = 256;
/// How much of a line that is too long is looked at.
const GLIMPSE: usize = 100;
/// How long the editor may take for the last words.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What waits on the line, for those who have to wait for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Link(Arc<watch::Sender<Load>>);

#[derive(Debug, Default)]
struct Load {
    /// Updates that were sent and not yet written.
    updates: usize,
    /// A line is being written: as long as the editor does not read, this lasts.
    is_writing: bool,
    /// Lines that were read meanwhile.
    read: usize,
    is_over: bool,
}

impl Link {
    /// Waits until the editor has read enough for more updates, or is gone.
    pub(crate) async fn room(&self) {
        self.wait(|load| load.updates < MOST_UPDATES).await;
    }

    /// Counts an update that is sent.
    pub(crate) fn add_update(&self) {
        self.0.send_if_modified(|load| {
            load.updates += 1;
            false
        });
    }

    /// Nobody reads any more: who waits for room need not.
    pub(crate) fn end(&self) {
        self.0.send_modify(|load| load.is_over = true);
    }

    /// Makes a transport of the connection with the editor.
    pub(crate) fn over(&self, connection: LineConnection) -> (impl ConnectTo<Agent> + use<>, Farewell) {
        let LineConnection { incoming, outgoing } = connection;
        let farewell = Farewell(outgoing.clone());
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
        (Lines::new(lines_out, lines_in), farewell)
    }

    async fn read(&self, incoming: &mut LineReceiver) -> Option<io::Result<String>> {
        self.wait(|load| !load.is_writing || load.read < MOST_READ).await;
        let line = match incoming.recv().await {
            Ok(line) => line,
            Err(Closed::Ended) => return None,
            Err(error) => return Some(Err(gone(error))),
        };
        self.0.send_if_modified(|load| {
            load.read += usize::from(load.is_writing);
            false
        });
        let bytes =
            if line.is_cut() { &line.bytes()[..GLIMPSE.min(line.bytes().len())] } else { line.bytes() };
        // what is no text is no JSON either, and is answered as such
        Some(Ok(String::from_utf8_lossy(bytes).into_owned()))
    }

    async fn wait(&self, is_enough: impl Fn(&Load) -> bool) {
        // it lives as long as we do
        self.0.subscribe().wait_for(|load| load.is_over || is_enough(load)).await.ok();
    }
}

/// The end of a connection.
#[derive(Debug)]
pub(crate) struct Farewell(LineSender);

impl Farewell {
    /// Waits until all that was said is written, or the editor does not want it.
    pub(crate) async fn say(self) {
        self.0.finish(LAST_WORDS).await;
    }
}

/// Whether a line is an update. The method stands at the beginning.
fn is_update(line: &str) -> bool {
    let start = &line.as_bytes()[..line.len().min(64)];
    start.windows(24).any(|window| window == br#""method":"session/update"#)
}

fn gone(error: Closed) -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, error)
}
