//! Serves one client: one reader of frames, one ordered writer, and an agent between them.
//!
//! The halves run side by side, so that a client which stops reading can still interrupt. Neither waits for the other.

use std::time::Duration;

use musher_engine::{AgentHandle, Answer, Busy, Command, Event, Happening, Ticket, TurnEnd};
use musher_rpc::{Closed, Connection, FrameReceiver, FrameSender};
use musher_wire::{Frame, Id, Response};
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::convert::to_wire::{Outgoing, outgoing};
use crate::dispatch::{Order, dispatch};
use crate::error_code;
use crate::open::Open;

/// So many events are taken at once.
const BATCH: usize = 256;
/// How long an agent may take to end when its client is gone.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// How long a request may wait until the agent has room for it.
const BURST: Duration = Duration::from_secs(1);
/// How long the last messages may take to be written.
const FLUSH: Duration = Duration::from_secs(2);

/// Why serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client asked for it, or there was no more input and all was done.
    Done,
    /// The agent was stopped in the middle of a turn.
    CutShort,
    /// The client is gone.
    ClientGone,
}

/// Serves a client until it is done or gone, or until the agent ends.
///
/// - The input ends: the agent finishes what it does within a bounded time.
/// - The client is gone: the agent is stopped.
/// - Whoever wants an end before that stops the agent through a clone of its handle.
pub async fn serve(connection: Connection, agent: AgentHandle, events: mpsc::Receiver<Event>) -> End {
    run(connection, agent, events).await
}

/// [`serve`], and nothing is ever asked for: every session runs as if its client had switched consent off.
pub async fn serve_without_asking(
    connection: Connection,
    agent: AgentHandle,
    events: mpsc::Receiver<Event>,
) -> End {
    run(connection, WithoutAsking(agent), events).await
}

/// An agent whose sessions ask for nothing.
struct WithoutAsking(AgentHandle);

impl Desk for WithoutAsking {
    async fn room(&self) {
        self.0.room().await;
    }

    fn submit(&self, ticket: Ticket, mut command: Command) -> Result<(), Busy> {
        match &mut command {
            Command::Create(session) => session.attach.skip_permissions = true,
            Command::Load(session) => session.attach.skip_permissions = true,
            _ => {}
        }
        self.0.submit(ticket, command)
    }

    fn answer(&self, question: String, answer: Answer) -> Result<(), Busy> {
        self.0.answer(question, answer)
    }

    fn drain(&self) -> Result<(), Busy> {
        self.0.drain()
    }

    fn stop(&self) -> Result<(), Busy> {
        self.0.stop()
    }
}

/// What the reading half wants of an agent. There is one; tests have another.
pub(crate) trait Desk {
    fn room(&self) -> impl Future<Output = ()> + Send;
    fn submit(&self, ticket: Ticket, command: Command) -> Result<(), Busy>;
    fn answer(&self, question: String, answer: Answer) -> Result<(), Busy>;
    fn drain(&self) -> Result<(), Busy>;
    fn stop(&self) -> Result<(), Busy>;
}

impl Desk for AgentHandle {
    async fn room(&self) {
        self.room().await;
    }

    fn submit(&self, ticket: Ticket, command: Command) -> Result<(), Busy> {
        self.submit(ticket, command)
    }

    fn answer(&self, question: String, answer: Answer) -> Result<(), Busy> {
        self.answer(question, answer)
    }

    fn drain(&self) -> Result<(), Busy> {
        self.drain()
    }

    fn stop(&self) -> Result<(), Busy> {
        self.stop()
    }
}

pub(crate) async fn run(connection: Connection, desk: impl Desk, mut events: mpsc::Receiver<Event>) -> End {
    let Connection { incoming, outgoing } = connection;
    let open = Open::default();
    let host = uuid::Uuid::new_v4().to_string();
    let end = {
        let reading = read(incoming, &outgoing, &desk, &open);
        let writing = write(&mut events, &outgoing, &open, &host);
        tokio::pin!(reading, writing);
        let mut is_read = false;
        loop {
            tokio::select! {
                end = &mut writing => break end,
                () = &mut reading, if !is_read => is_read = true,
                // whoever waits for something to write would not notice
                () = outgoing.closed() => break End::ClientGone,
            }
        }
    };
    if end == End::ClientGone {
        let told = async {
            insist(|| desk.stop()).await;
            std::future::pending::<()>().await;
        };
        // an agent that has ended already cannot be told
        let rest = async {
            tokio::select! {
                () = told => {}
                () = async { while events.recv().await.is_some() {} } => {}
            }
        };
        if timeout(LAST_WORDS, rest).await.is_err() {
            tracing::warn!("the agent did not end in time");
        }
        return end;
    }
    let unanswered = open.table().unanswered();
    for id in unanswered {
        let response = Response::new(Id::from(&*id), Err(error_code::ended()));
        if outgoing.send(Frame::Response(response)).await.is_err() {
            return End::ClientGone;
        }
    }
    // the process may end after this, or a client in the same process go on: what the agent has started ends before
    timeout(LAST_WORDS, async { while events.recv().await.is_some() {} }).await.ok();
    // a client in the same process may keep its end for as long as it likes
    outgoing.finish(FLUSH).await;
    end
}

/// Reads until the input ends, and tells the agent how it ended.
async fn read(mut incoming: FrameReceiver, outgoing: &FrameSender, desk: &impl Desk, open: &Open) {
    loop {
        let frame = match incoming.recv().await {
            Ok(frame) => frame,
            Err(Closed::Ended | Closed::Local) => {
                insist(|| desk.drain()).await;
                return;
            }
            Err(reason) => {
                tracing::debug!(%reason, "the client is gone");
                insist(|| desk.stop()).await;
                return;
            }
        };
        let response = match dispatch(frame, open) {
            Order::Submit(ticket, command) => {
                // A burst waits for its turn. Not for long: who does not read the answers must still be able to interrupt.
                if !matches!(command, Command::Interrupt) {
                    timeout(BURST, desk.room()).await.ok();
                }
                match desk.submit(ticket.clone(), command) {
                    Ok(()) => continue,
                    Err(busy) => {
                        open.table().answered(&ticket.0);
                        Response::new(Id::from(&*ticket.0), Err(error_code::busy(&busy)))
                    }
                }
            }
            Order::Answer(question, answer) => {
                if desk.answer(question, answer).is_err() {
                    tracing::warn!("an answer was not taken");
                }
                continue;
            }
            Order::Respond(response) => response,
            Order::Ignore => continue,
        };
        // Ahead of what waits: nothing that the agent says belongs before it.
        if outgoing.send_now(Frame::Response(response)).await.is_err() {
            return;
        }
    }
}

/// Says it until it is heard: the lane may be full for a moment. Ends with whoever waits for the agent.
async fn insist(say: impl Fn() -> Result<(), Busy>) {
    while say().is_err() {
        sleep(Duration::from_millis(10)).await;
    }
}

/// Writes what happens until the agent is done.
async fn write(events: &mut mpsc::Receiver<Event>, outgoing: &FrameSender, open: &Open, host: &str) -> End {
    let mut batch = Vec::with_capacity(BATCH);
    let mut end = End::Done;
    loop {
        if events.recv_many(&mut batch, BATCH).await == 0 {
            return end;
        }
        for event in batch.drain(..) {
            if is_cut_short(&event) {
                end = End::CutShort;
            }
            match self::outgoing(event, open, host) {
                Outgoing::Frame(frame) => {
                    if outgoing.send(frame).await.is_err() {
                        return End::ClientGone;
                    }
                }
                Outgoing::Nothing => {}
                Outgoing::Closed => return end,
            }
        }
    }
}

/// Whether it tells that a turn ends because the agent does.
fn is_cut_short(event: &Event) -> bool {
    matches!(&event.what, Happening::TurnCompleted(completed) if completed.reason == TurnEnd::ProcessExit)
}

#[cfg(test)]
mod tests;
