//! One session: a task that owns its agent and everything that waits for it.
//!
//! [`Shared`] is what outlives the task: the events, the clients that follow, and what lists show. So a failure inside the task ends
//! the agent and the calls, and the clients continue with the next one.

mod actor;
mod agent_side;
mod budget;
mod calls;
mod prompts;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use musher_engine::SessionId;
use musher_rpc::FrameSender;
use musher_wire::{Extra, Frame, Id, Json, Request, Response, RpcError};
use tokio::sync::mpsc;

use super::error;
use super::hub::{Hub, now_ms};
use super::pump::Pump;
use super::topic::Topic;
use actor::Actor;
pub(crate) use calls::FORWARDED;

/// A client, as its sessions see it.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) id: u64,
    pub(crate) outgoing: FrameSender,
    /// Responses that belong to no session's order. Bounded: who does not read them is disconnected.
    pub(crate) replies: mpsc::Sender<Frame>,
}

impl Client {
    /// Responds at once.
    pub(crate) fn respond(&self, frame: Frame) {
        if let Err(mpsc::error::TrySendError::Full(_)) = self.replies.try_send(frame) {
            tracing::warn!("disconnected a client that does not read its responses");
            self.outgoing.close();
        }
    }
}

/// A call of a client.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) client: Client,
    pub(crate) request: Request,
    pub(crate) fields: Extra,
}

/// Whom to answer.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) client: Client,
    pub(crate) id: Id,
    /// When the call arrived.
    pub(crate) since: Instant,
}

impl Call {
    pub(crate) fn caller(&self) -> Caller {
        Caller { client: self.client.clone(), id: self.request.id.clone(), since: Instant::now() }
    }
}

impl Caller {
    /// Responds without regard to the order of events.
    pub(crate) fn respond(&self, outcome: Result<Json, RpcError>) {
        self.client.respond(Frame::Response(Response::new(self.id.clone(), outcome)));
    }
}

/// What goes ahead of calls.
#[derive(Debug)]
pub(crate) enum Control {
    /// An answer to a question of the agent. `reply`: who wants to know whether it counted.
    Answer { id: String, outcome: Result<Json, RpcError>, reply: Option<Caller> },
    /// Interrupt the turn.
    Interrupt(Call),
    /// Open the agent, because something waits for it.
    Wake,
    /// Look whether the session may end.
    Look,
    /// End.
    Stop,
    /// Fail, as a bug would.
    #[cfg(test)]
    Panic,
}

/// The queues of a session's task.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) calls: mpsc::Receiver<Call>,
    pub(crate) controls: mpsc::Receiver<Control>,
}

impl Inputs {
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.controls.is_empty()
    }
}

/// What lists show of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Info {
    pub(crate) has_agent: bool,
    /// The working state, as on the wire.
    pub(crate) state: String,
    pub(crate) cwd: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) updated_ms: i64,
    pub(crate) messages: u64,
    pub(crate) tags: Option<Json>,
}

impl Info {
    pub(crate) fn is_working(&self) -> bool {
        !self.state.is_empty() && self.state != IDLE
    }
}

/// The working state of a session that does nothing.
pub(crate) const IDLE: &str = "idle";

/// What outlives the task of a session.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) topic: Arc<Topic>,
    followers: Mutex<Vec<(u64, Pump)>>,
    info: Mutex<Info>,
    /// The number of prompts that were accepted and have not begun.
    prompts: AtomicUsize,
    /// Whether the session waits for the right to run a turn.
    waits_for_turn: AtomicBool,
}

impl Shared {
    pub(crate) fn new(topic: Topic) -> Self {
        Self {
            topic: Arc::new(topic),
            followers: Mutex::default(),
            info: Mutex::default(),
            prompts: AtomicUsize::new(0),
            waits_for_turn: AtomicBool::new(false),
        }
    }

    /// Returns the number of prompts that have not begun, and whether the session waits for the right to run a turn.
    pub(crate) fn waiting(&self) -> (usize, bool) {
        (self.prompts.load(Ordering::Relaxed), self.waits_for_turn.load(Ordering::Relaxed))
    }

    fn set_waiting(&self, prompts: usize, waits_for_turn: bool) {
        self.prompts.store(prompts, Ordering::Relaxed);
        self.waits_for_turn.store(waits_for_turn, Ordering::Relaxed);
    }

    pub(crate) fn info(&self) -> Info {
        self.info_lock().clone()
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Info)) {
        let mut info = self.info_lock();
        change(&mut info);
        info.updated_ms = now_ms();
    }

    /// Responds to a client, which then follows the session from a position on.
    pub(super) fn follow(&self, client: &Client, after: u64, response: Frame) {
        let mut followers = self.followers();
        if let Some((_, pump)) = followers.iter().find(|(id, _)| *id == client.id) {
            let last = self.topic.last();
            pump.send(last, response);
            if after < last {
                pump.seek(last, after);
            }
            return;
        }
        let pump = Pump::start(Arc::clone(&self.topic), after, client.outgoing.clone());
        pump.send(after, response);
        followers.push((client.id, pump));
    }

    pub(crate) fn unfollow(&self, client: u64) {
        self.followers().retain(|(id, _)| *id != client);
    }

    pub(super) fn is_followed(&self) -> bool {
        !self.followers().is_empty()
    }

    pub(crate) fn follows(&self, client: u64) -> bool {
        self.followers().iter().any(|(id, _)| *id == client)
    }

    /// Sends a message to a client after all events so far. Returns it if the client does not follow.
    pub(super) fn send_in_order(&self, client: u64, frame: Frame) -> Result<(), Frame> {
        let last = self.topic.last();
        match self.followers().iter().find(|(id, _)| *id == client) {
            Some((_, pump)) => {
                pump.send(last, frame);
                Ok(())
            }
            None => Err(frame),
        }
    }

    /// Sends a message to all clients that follow, after all events so far.
    pub(super) fn send_to_all(&self, frame: &Frame) {
        let last = self.topic.last();
        for (_, pump) in &*self.followers() {
            pump.send(last, frame.clone());
        }
    }

    fn followers(&self) -> MutexGuard<'_, Vec<(u64, Pump)>> {
        self.followers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn info_lock(&self) -> MutexGuard<'_, Info> {
        self.info.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the task of a session. It ends when nothing needs it; a failure inside is reported to the clients, and the session continues.
pub(crate) fn spawn(hub: Arc<Hub>, id: SessionId, shared: Arc<Shared>, mut inputs: Inputs) {
    drop(tokio::spawn(async move {
        loop {
            let mut actor = Actor::new(Arc::clone(&hub), id.clone(), Arc::clone(&shared));
            let run = AssertUnwindSafe(actor.run(&mut inputs)).catch_unwind().await;
            drop(actor);
            if run.is_ok() {
                return;
            }
            tracing::error!(session = %id, "the task of a session failed");
            hub.metrics.session_panics.add(1);
            let message = "The session failed inside the daemon";
            report_exit(&hub, &id, &shared, message);
            // calls that have arrived meanwhile are served by the next one; it must not fail in a tight loop
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }));
}

/// Reports that a session has lost its agent, in the form that clients know.
fn report_exit(hub: &Hub, id: &SessionId, shared: &Shared, message: &str) {
    for question in hub.questions.of_session(id) {
        hub.questions.close(&question.id);
    }
    hub.questions.turn_is_over(id);
    report_end(hub, id, shared, message);
}

/// [`report_exit`] for an agent whose questions may be asked again.
fn report_end(hub: &Hub, id: &SessionId, shared: &Shared, message: &str) {
    let was_working = shared.info().is_working();
    let timestamp = jiff::Timestamp::now();
    let exited = serde_json::json!({
        "type": "session_process_exited", "message": message, "timestamp": timestamp.as_millisecond(),
    });
    let error = serde_json::json!({
        "type": "error", "message": message, "errorType": "ProcessExitError",
        "timestamp": format!("{timestamp:.3}"), "error": {"name": "ProcessExitError", "message": message},
    });
    let idle = serde_json::json!({"type": "droid_working_state_changed", "newState": IDLE});
    let mut payloads = vec![exited.to_string(), error.to_string()];
    if was_working {
        payloads.push(idle.to_string());
    }
    shared.update(|info| {
        info.has_agent = false;
        IDLE.clone_into(&mut info.state);
    });
    let lines: Vec<&str> = payloads.iter().map(String::as_str).collect();
    if let Err(error) = shared.topic.publish(&lines) {
        tracing::error!(error = %error.with_causes(), session = %id, "cannot record the end of an agent");
    }
    if was_working {
        let change = super::hub::StateChange::Session { session: id.clone(), payload: idle.to_string() };
        hub.states.send(Arc::new(change)).ok();
    }
}

/// Refuses a call whose session cannot serve it.
pub(crate) fn refuse(call: &Call, refusal: RpcError) {
    call.caller().respond(Err(error::with_versions(refusal, &call.request)));
}
