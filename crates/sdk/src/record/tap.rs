//! Records a connection, as a proxy between its two ends.
//!
//! It changes and delays nothing: a slow end slows down the other one, as in a direct connection. A recording
//! that cannot be written ends the connection, because one with holes would be worse than none.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use fs_err::File;
use musher_rpc::{Connection, FrameReceiver, FrameSender, memory};

use super::line::{Direction, Line};
use crate::error::Kind;
use crate::{Error, Result};

/// The recorder of an agent's connections. Clones share one counter.
#[derive(Debug, Clone)]
pub(crate) struct Tap {
    path: PathBuf,
    made: Arc<AtomicUsize>,
}

impl Tap {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), made: Arc::default() }
    }

    /// Inserts itself into a connection.
    pub(crate) fn through(&self, connection: Connection) -> Result<Connection> {
        let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
        let file = File::create(nth_path(&self.path, number))
            .map_err(|source| Error::because(Kind::InvalidInput, source))?;
        let pen = Pen(Arc::new(Mutex::new(file)), Instant::now());
        let (ours, theirs) = memory();
        tokio::spawn(pass_on(theirs.incoming, connection.outgoing, Direction::Client, pen.clone()));
        tokio::spawn(pass_on(connection.incoming, theirs.outgoing, Direction::Agent, pen));
        Ok(ours)
    }
}

/// Returns the file of the n-th connection: `a.jsonl`, `a.2.jsonl`, `a.3.jsonl`.
pub(super) fn nth_path(path: &Path, number: usize) -> PathBuf {
    if number <= 1 {
        return path.to_owned();
    }
    let extension = path.extension().map_or_else(|| "jsonl".into(), |it| it.to_string_lossy().into_owned());
    path.with_extension(format!("{number}.{extension}"))
}

async fn pass_on(mut from: FrameReceiver, to: FrameSender, direction: Direction, pen: Pen) {
    loop {
        let received = from.recv().await;
        let line = match &received {
            Ok(frame) => Line::frame(direction, pen.elapsed(), frame),
            Err(why) => Line::end(pen.elapsed(), why.to_string()),
        };
        let is_worth_a_line = received.is_ok() || direction == Direction::Agent;
        if is_worth_a_line && let Err(error) = pen.write(&line) {
            tracing::error!(%error, "the recording cannot be written: the connection ends");
            return;
        }
        let frame = match received {
            Ok(frame) => frame,
            Err(why) => return to.close_because(why),
        };
        if to.send(frame).await.is_err() {
            return;
        }
    }
}

/// Both directions write with it.
#[derive(Debug, Clone)]
struct Pen(Arc<Mutex<File>>, Instant);

impl Pen {
    fn elapsed(&self) -> f64 {
        // milliseconds are enough, and make short lines
        (self.1.elapsed().as_secs_f64() * 1000.0).round() / 1000.0
    }

    fn write(&self, line: &Line) -> io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        // a line is written in one go, so nothing is half done if the other direction panicked
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_all(&text)
    }
}
