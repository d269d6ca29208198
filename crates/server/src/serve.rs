//! Serves one client: one reader of frames, one ordered writer, and an agent between them.
//!
//! The reading and the writing half run concurrently, so a client that stops reading can still interrupt. Neither waits for the other.

use std::time::Duration;

use musher_engine::{AgentHandle, Command, Event, SessionEvent, TurnEnd};
use musher_rpc::{Closed, Connection, FrameReceiver, FrameSender};
use musher_wire::{Frame, Id, Response};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::convert::to_wire::{Outgoing, outgoing};
use crate::dispatch::{Action, dispatch};
use crate::editor::EditorRequests;
use crate::error_code;
use crate::pending::Pending;

/// The number of events that are taken from the agent at once.
const EVENT_BATCH_LIMIT: usize = 256;
/// How long an agent may take to end after its client is gone.
const AGENT_END_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a request waits for room in the agent's queue before it is rejected as busy.
const SUBMIT_TIMEOUT: Duration = Duration::from_secs(1);
/// How long writing the last messages may take.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Why serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client closed the session, or the input ended and all work was done.
    Done,
    /// The agent was stopped in the middle of a turn.
    CutShort,
    /// The client is gone.
    ClientGone,
}

/// Serves a client until it is done or gone, or until the agent ends.
///
/// - When the input ends, the agent finishes its turn within a bounded time.
/// - When the client is gone, the agent is stopped.
/// - To end earlier, stop the agent through a clone of its handle.
///
/// Pass [`AgentHandle::skipping_permissions`] to run every session without permission requests.
pub async fn serve(
    connection: Connection,
    agent: AgentHandle,
    mut events: mpsc::Receiver<SessionEvent>,
) -> End {
    let Connection { incoming, outgoing } = connection;
    let pending = Pending::with_editor(EditorRequests::new(outgoing.clone()));
    let host = uuid::Uuid::new_v4().to_string();
    let end = {
        let reading = read(incoming, &outgoing, &agent, &pending);
        let writing = write(&mut events, &outgoing, &pending, &host);
        tokio::pin!(reading, writing);
        let mut is_read = false;
        loop {
            tokio::select! {
                end = &mut writing => break end,
                () = &mut reading, if !is_read => is_read = true,
                // the writing half notices a closed connection only when it has something to write
                () = outgoing.closed() => break End::ClientGone,
            }
        }
    };
    if end == End::ClientGone {
        // the events are read meanwhile, so that an agent which waits for room in their queue can end
        let stopped = async { tokio::join!(agent.send_stop(), read_to_end(&mut events)) };
        if timeout(AGENT_END_TIMEOUT, stopped).await.is_err() {
            tracing::warn!("the agent did not end in time");
        }
        return end;
    }
    let unanswered = pending.table().take_unanswered();
    for id in unanswered {
        let response = Response::new(Id::from(&*id), Err(error_code::ended()));
        if outgoing.send(Frame::Response(response)).await.is_err() {
            return End::ClientGone;
        }
    }
    // everything that the agent has started ends first: after this the process may end, or a client in the same process may continue
    timeout(AGENT_END_TIMEOUT, read_to_end(&mut events)).await.ok();
    // bounded, because a client in the same process may keep its end open without reading
    outgoing.finish(FLUSH_TIMEOUT).await;
    end
}

/// Discards events until the agent has ended.
async fn read_to_end(events: &mut mpsc::Receiver<SessionEvent>) {
    while events.recv().await.is_some() {}
}

/// Reads frames until the input ends, then drains or stops the agent.
async fn read(mut incoming: FrameReceiver, outgoing: &FrameSender, agent: &AgentHandle, pending: &Pending) {
    loop {
        let frame = match incoming.recv().await {
            Ok(frame) => frame,
            Err(Closed::Ended | Closed::Local) => return agent.send_drain().await,
            Err(reason) => {
                tracing::debug!(reason = %musher_rpc::with_causes(&reason), "the client is gone");
                return agent.send_stop().await;
            }
        };
        let response = match dispatch(frame, pending) {
            Action::Submit(command_id, command) => {
                // A burst waits for room, but not for long: a client that does not read its responses must still be able to interrupt.
                if !matches!(command, Command::Interrupt) {
                    timeout(SUBMIT_TIMEOUT, agent.room()).await.ok();
                }
                match agent.submit(command_id.clone(), command) {
                    Ok(()) => continue,
                    Err(busy) => {
                        pending.table().take_request(&command_id.0);
                        Response::new(Id::from(&*command_id.0), Err(error_code::busy(&busy)))
                    }
                }
            }
            Action::Answer(question, answer) => {
                if agent.respond(question, answer).is_err() {
                    tracing::warn!("an answer was dropped: the control queue is full or the agent has ended");
                }
                continue;
            }
            Action::Respond(response) => response,
            Action::Ignore => continue,
        };
        // Sent ahead of queued events: no event has to precede this response.
        if outgoing.send_now(Frame::Response(response)).await.is_err() {
            return;
        }
    }
}

/// Writes the agent's events until the agent is done.
async fn write(
    events: &mut mpsc::Receiver<SessionEvent>,
    outgoing: &FrameSender,
    pending: &Pending,
    host: &str,
) -> End {
    let mut batch = Vec::with_capacity(EVENT_BATCH_LIMIT);
    let mut end = End::Done;
    loop {
        if events.recv_many(&mut batch, EVENT_BATCH_LIMIT).await == 0 {
            return end;
        }
        for event in batch.drain(..) {
            if is_cut_short(&event) {
                end = End::CutShort;
            }
            match self::outgoing(event, pending, host) {
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

/// Returns whether the event reports a turn that ended because the agent did.
fn is_cut_short(event: &SessionEvent) -> bool {
    matches!(&event.event, Event::TurnCompleted(completed) if completed.reason == TurnEnd::ProcessExit)
}

#[cfg(test)]
mod tests;
