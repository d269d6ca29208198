//! Brings the events of one session to one client, from any position on, in order with what belongs between them.
//!
//! A pump waits for its client, and no session waits for the pump: it has a position in the journal and no buffer.

use std::sync::Arc;

use musher_rpc::FrameSender;
use musher_wire::Frame;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use super::rewrite;
use super::topic::Topic;

/// How many bytes are read from the journal at once.
const PIECE: usize = 64 * 1024;
/// How many responses and requests may wait for the events before them. A client with more is disconnected.
const MAX_WAITING: usize = 512;

/// What belongs after the event with a sequence.
type Placed = (u64, Item);

#[derive(Debug)]
enum Item {
    Message(Box<Frame>),
    /// Continue after the event with this sequence.
    Seek(u64),
}

/// A client that follows a session. The pump ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Pump {
    placed: mpsc::Sender<Placed>,
    outgoing: FrameSender,
    task: AbortHandle,
}

impl Pump {
    /// Starts after the event with this sequence. The task ends with the client.
    pub(crate) fn start(topic: Arc<Topic>, after: u64, outgoing: FrameSender) -> Self {
        let (placed, waiting) = mpsc::channel(MAX_WAITING);
        let to = outgoing.clone();
        // subscribed before anything is published: the topic keeps events in memory from now on
        let changes = topic.follow();
        let task = tokio::spawn(async move { run(&topic, changes, after, &to, waiting).await });
        Self { placed, outgoing, task: task.abort_handle() }
    }

    /// Sends a message after the event with this sequence.
    pub(crate) fn send(&self, after: u64, frame: Frame) {
        self.place(after, Item::Message(Box::new(frame)));
    }

    /// Goes back to a position, when all events up to `after` are sent.
    pub(crate) fn seek(&self, after: u64, to: u64) {
        self.place(after, Item::Seek(to));
    }

    fn place(&self, after: u64, item: Item) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.placed.try_send((after, item)) {
            // it does not read; when it comes back it says where it was
            tracing::warn!("disconnected a client that does not read its responses");
            self.outgoing.close();
        }
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn run(
    topic: &Topic,
    mut changes: tokio::sync::watch::Receiver<u64>,
    mut position: u64,
    outgoing: &FrameSender,
    mut waiting: mpsc::Receiver<Placed>,
) {
    let mut next: Option<Placed> = None;
    loop {
        if next.is_none() {
            next = waiting.try_recv().ok();
        }
        if let Some((after, item)) = next.take() {
            match item {
                _ if position < after => next = Some((after, item)),
                Item::Message(frame) => {
                    if outgoing.send(*frame).await.is_err() {
                        return;
                    }
                    continue;
                }
                Item::Seek(to) => {
                    position = to;
                    continue;
                }
            }
        }
        let limit = next.as_ref().map_or(u64::MAX, |(after, _)| *after);
        if *changes.borrow_and_update() > position {
            let events = match topic.read(position, PIECE) {
                Ok(events) => events,
                Err(error) => {
                    tracing::error!(error = %error.with_causes(), "cannot read the events of a session");
                    outgoing.close();
                    return;
                }
            };
            if events.is_empty() {
                // damaged places are skipped
                position = limit.min(*changes.borrow());
            }
            for event in events.iter().take_while(|event| event.sequence <= limit) {
                let frame =
                    rewrite::notification(topic.session().as_str(), &event.payload, Some(event.sequence));
                if outgoing.send(frame).await.is_err() {
                    return;
                }
                position = event.sequence;
            }
            continue;
        }
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            placed = waiting.recv(), if next.is_none() => match placed {
                Some(placed) => next = Some(placed),
                None => return,
            },
            () = outgoing.closed() => return,
        }
    }
}
