//! The loop of a session's task, and the life of its agent.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use musher_engine::SessionId;
use musher_rpc::{Child, Closed, Connection, FrameReceiver, FrameSender};
use musher_wire::{Extra, Frame, Json, RpcError};
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::budget::Spending;
use super::prompts::{Acknowledged, Prompt, TurnPrompt};
use super::{Call, Caller, Control, IDLE, Inputs, Shared, report_exit};
use crate::daemon::agent::Opened;
use crate::daemon::error;
use crate::daemon::hub::{Hub, StateChange};
use crate::daemon::questions::Question;
use crate::daemon::rewrite;

/// How long an agent may take to open its session.
const OPEN_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a turn may take to end when the daemon stops.
const INTERRUPT_TIMEOUT: Duration = Duration::from_millis(1500);
/// How long an agent may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(8);

/// The task of a session.
pub(super) struct Actor {
    pub(super) hub: Arc<Hub>,
    pub(super) id: SessionId,
    pub(super) shared: Arc<Shared>,
    pub(super) agent: Agent,
    /// Calls to the agent without a response, by the id that the agent knows.
    pub(super) calls: HashMap<String, Waiting>,
    /// Calls that wait until the agent has its session.
    pub(super) deferred: VecDeque<Call>,
    /// Prompts that are on disk and that the agent does not have.
    pub(super) prompts: VecDeque<Prompt>,
    /// Prompts that the agent has acknowledged and not begun.
    pub(super) acknowledged: Vec<Acknowledged>,
    pub(super) turn_prompt: TurnPrompt,
    /// Held while a turn runs.
    pub(super) turn: Option<OwnedSemaphorePermit>,
    /// Waits for the right to run a turn.
    pub(super) turn_wait: Option<JoinHandle<Option<OwnedSemaphorePermit>>>,
    pub(super) turn_started: Option<Instant>,
    /// When a prompt was delivered, until the first text of the model.
    pub(super) delivered_at: Option<Instant>,
    /// How long the session may do nothing; `None` for as long as it likes.
    pub(super) idle_timeout: Option<Duration>,
    pub(super) idle_since: Instant,
    pub(super) spending: Spending,
    /// Whether a former daemon was killed during a turn, which the next agent can continue.
    pub(super) was_interrupted: bool,
    /// Answered questions of a former daemon, until the agent asks again.
    pub(super) early_answers: Vec<(Question, Result<Json, RpcError>)>,
    /// The ids of clients for questions that the agent has asked again, by its own ids.
    pub(super) asked_again: HashMap<String, String>,
    /// The worktree that was created for the session.
    pub(super) worktree: Option<Json>,
    /// The params with which a client has opened the session, for the next agent.
    pub(super) attach: Extra,
    pub(super) is_stopping: bool,
}

/// The agent of a session.
pub(super) enum Agent {
    /// There is none.
    Absent,
    /// It is being started. Then this call opens the session; `None` loads it.
    Starting(JoinHandle<Result<Started, String>>, Option<Call>),
    /// It opens the session.
    Opening(Link, Instant),
    /// It has the session.
    Ready(Link),
}

/// An agent that was started, and the permit for opening it.
pub(super) struct Started {
    opened: Opened,
    permit: Option<OwnedSemaphorePermit>,
}

/// The connection to an agent.
pub(super) struct Link {
    pub(super) outgoing: FrameSender,
    incoming: FrameReceiver,
    child: Option<Child>,
    /// Held until the session is open.
    permit: Option<OwnedSemaphorePermit>,
}

/// What a response of the agent is for.
pub(super) enum Waiting {
    /// A client's call; the response goes to it in the order of events.
    Call(Caller, Reply),
    /// The agent loads the session so that something else can be done.
    Load,
    /// A prompt; the response goes to the client that has sent it, if it still waits.
    Prompt(Prompt),
    /// Nothing.
    Ignored,
}

/// A call to the agent.
pub(super) struct AgentCall {
    pub(super) method: String,
    pub(super) fields: Extra,
    /// The client's id.
    pub(super) id: Option<String>,
    /// The client's `_meta`.
    pub(super) meta: Option<Json>,
    /// Whether the agent gets the id of the session.
    pub(super) keeps_session: bool,
}

impl AgentCall {
    pub(super) fn new(method: &str, fields: &Extra) -> Self {
        Self { method: method.to_owned(), fields: fields.clone(), id: None, meta: None, keeps_session: false }
    }
}

/// What the response to a client's call becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// Itself.
    Plain,
    /// The client follows the session.
    Initialized,
    /// The client follows the session after this event, if it has named one.
    Loaded { after: Option<u64> },
    /// The client has initialized a session that is open already.
    Reopened,
    /// The session is closed.
    Closed,
}

/// What woke the task.
enum Woken {
    Control(Option<Control>),
    Call(Option<Call>),
    Started(Result<Result<Started, String>, tokio::task::JoinError>),
    Frames(Result<(), Closed>),
    Turn(Option<OwnedSemaphorePermit>),
    Time,
}

impl Actor {
    pub(super) fn new(hub: Arc<Hub>, id: SessionId, shared: Arc<Shared>) -> Self {
        let idle_timeout = Some(hub.options.idle_timeout);
        Self {
            hub,
            id,
            shared,
            agent: Agent::Absent,
            calls: HashMap::new(),
            deferred: VecDeque::new(),
            prompts: VecDeque::new(),
            acknowledged: Vec::new(),
            turn_prompt: TurnPrompt::None,
            turn: None,
            turn_wait: None,
            turn_started: None,
            delivered_at: None,
            spending: Spending::default(),
            was_interrupted: false,
            early_answers: Vec::new(),
            asked_again: HashMap::new(),
            worktree: None,
            idle_timeout,
            idle_since: Instant::now(),
            attach: Extra::default(),
            is_stopping: false,
        }
    }

    /// Serves the session until nothing needs it.
    pub(super) async fn run(&mut self, inputs: &mut Inputs) {
        self.report_interrupted_turn();
        self.restore_prompts();
        let mut frames = VecDeque::new();
        loop {
            let is_prompt = |waiting: &&Waiting| matches!(waiting, Waiting::Prompt(_));
            let sent = self.calls.values().filter(is_prompt).count();
            let prompts = self.prompts.len() + self.acknowledged.len() + sent;
            self.shared.set_waiting(prompts, self.turn_wait.is_some());
            if self.is_over() && self.hub.registry.remove_if_unused(&self.id, inputs) {
                return;
            }
            let deadline = self.deadline();
            let takes_calls = self.deferred.len() < 64;
            let woken = tokio::select! {
                control = inputs.controls.recv() => Woken::Control(control),
                call = inputs.calls.recv(), if takes_calls => Woken::Call(call),
                woken = agent_input(&mut self.agent, &mut frames) => woken,
                permit = turn_permit(&mut self.turn_wait) => Woken::Turn(permit),
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => Woken::Time,
            };
            match woken {
                Woken::Control(Some(Control::Stop)) => {
                    self.stop(&mut frames).await;
                    inputs.controls.close();
                    inputs.calls.close();
                    while let Ok(call) = inputs.calls.try_recv() {
                        super::refuse(&call, error::internal("the daemon stops"));
                    }
                    return;
                }
                Woken::Control(Some(control)) => self.control(control).await,
                Woken::Call(Some(call)) => self.call(call).await,
                // the registry is gone, and with it the daemon
                Woken::Control(None) | Woken::Call(None) => return,
                Woken::Started(started) => self.started(started).await,
                Woken::Frames(Ok(())) => self.agent_frames(&mut frames).await,
                Woken::Frames(Err(closed)) => self.agent_ended(&closed),
                Woken::Turn(permit) => self.turn_granted(permit).await,
                Woken::Time => self.time_is_over().await,
            }
        }
    }

    /// Returns whether the session needs no task: no agent, no client that follows, and nothing to do. Prompts that wait for the next
    /// agent are
    /// on disk.
    fn is_over(&self) -> bool {
        matches!(self.agent, Agent::Absent)
            && self.deferred.is_empty()
            && self.calls.is_empty()
            && !self.shared.is_followed()
    }

    /// Makes sure that there is an agent, or one is on its way.
    pub(super) fn ensure_agent(&mut self) {
        if matches!(self.agent, Agent::Absent) {
            self.start_agent(None);
        }
    }

    /// Starts an agent, which opens the session with this call, or else loads it.
    pub(super) fn start_agent(&mut self, call: Option<Call>) {
        let (hub, cwd) = (Arc::clone(&self.hub), self.shared.info().cwd);
        let task = tokio::spawn(async move {
            let permit = Arc::clone(&hub.opening).acquire_owned().await.ok();
            let opened = hub.options.agents.open(cwd.as_deref()).await?;
            Ok(Started { opened, permit })
        });
        self.agent = Agent::Starting(task, call);
    }

    async fn started(&mut self, started: Result<Result<Started, String>, tokio::task::JoinError>) {
        let Agent::Starting(_, call) = std::mem::replace(&mut self.agent, Agent::Absent) else { return };
        let started = match started {
            Ok(Ok(started)) => started,
            Ok(Err(message)) => return self.open_failed(call, &error::internal(message)),
            Err(failed) => return self.open_failed(call, &error::internal(failed.to_string())),
        };
        let Started { opened: Opened { connection: Connection { incoming, outgoing }, child }, permit } =
            started;
        let link = Link { outgoing, incoming, child, permit };
        self.agent = Agent::Opening(link, Instant::now() + OPEN_TIMEOUT);
        match call {
            Some(call) => self.open_with(call).await,
            None => self.load().await,
        }
    }

    /// Loads the session so that something else can be done.
    async fn load(&mut self) {
        let mut fields = self.attach.clone();
        fields.insert("sessionId", serde_json::Value::from(self.id.as_str()));
        if fields.get("mcpServers").is_none() {
            fields.insert("mcpServers", json!([]));
        }
        if let Some(which) = self.continues_turn(false) {
            fields.insert("musher.continueTurn", which);
        }
        let call = AgentCall { keeps_session: true, ..AgentCall::new("droid.load_session", &fields) };
        self.send_call(call, Waiting::Load).await;
    }

    /// The agent has not opened the session: everything that waits for it fails.
    pub(super) fn open_failed(&mut self, call: Option<Call>, refusal: &RpcError) {
        self.drop_agent();
        for call in call.into_iter().chain(std::mem::take(&mut self.deferred)) {
            super::refuse(&call, refusal.clone());
        }
        self.reject_prompts(refusal);
    }

    /// The agent has opened the session.
    pub(super) async fn ready(&mut self) {
        let agent = std::mem::replace(&mut self.agent, Agent::Absent);
        self.agent = match agent {
            Agent::Opening(mut link, _) => {
                link.permit = None;
                Agent::Ready(link)
            }
            other => other,
        };
        self.idle_since = Instant::now();
        self.was_interrupted = false;
        self.shared.update(|info| {
            info.has_agent = true;
            if info.state.is_empty() {
                IDLE.clone_into(&mut info.state);
            }
        });
        while let Some(call) = self.deferred.pop_front() {
            Box::pin(self.call(call)).await;
        }
        self.deliver().await;
    }

    /// Sends a call to the agent, under the client's id if that is not in use.
    pub(super) async fn send_call(&mut self, call: AgentCall, waiting: Waiting) {
        let id = match call.id {
            Some(id) if !self.calls.contains_key(&id) => id,
            _ => uuid::Uuid::new_v4().to_string(),
        };
        let method = call.method.replacen("droid.", "daemon.", 1);
        let frame = rewrite::call(&id, &method, &call.fields, call.keeps_session, call.meta);
        self.calls.insert(id, waiting);
        self.send_to_agent(frame).await;
    }

    /// Sends a message to the agent. If it is gone, the reading half notices.
    pub(super) async fn send_to_agent(&self, frame: Frame) {
        if let Agent::Opening(link, _) | Agent::Ready(link) = &self.agent
            && timeout(END_TIMEOUT, link.outgoing.send(frame)).await.is_err()
        {
            tracing::warn!(session = %self.id, "the agent takes no messages");
            link.outgoing.close();
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.agent, Agent::Ready(_))
    }

    /// The agent has ended without being asked to.
    fn agent_ended(&mut self, closed: &Closed) {
        let message = match closed {
            Closed::Exited(exit) => format!("The agent has ended: {exit}"),
            _ => "The agent has ended".to_owned(),
        };
        let was_opening = matches!(self.agent, Agent::Opening(..));
        self.drop_agent();
        self.hub.metrics.agents_lost.add(1);
        let refusal = error::internal(message.clone());
        let closing = self.calls.values().any(|it| matches!(it, Waiting::Call(_, Reply::Closed)));
        if closing {
            self.close_is_done();
        }
        let was_working = self.shared.info().is_working();
        if !closing && !was_opening {
            report_exit(&self.hub, &self.id, &self.shared, &message);
        }
        self.fail_calls(was_working, &refusal);
        self.end_turn();
        if was_opening {
            self.open_failed(None, &refusal);
        }
    }

    /// Fails the calls that the agent has not answered. Prompts that it has not begun are delivered again.
    fn fail_calls(&mut self, was_working: bool, refusal: &RpcError) {
        let mut prompts = Vec::new();
        for (_, waiting) in std::mem::take(&mut self.calls) {
            match waiting {
                Waiting::Call(caller, _) => caller.respond(Err(refusal.clone())),
                Waiting::Prompt(prompt) => prompts.push(prompt),
                Waiting::Load | Waiting::Ignored => {}
            }
        }
        self.requeue_prompts(prompts, was_working, refusal);
        if !self.prompts.is_empty() {
            self.ensure_agent();
        }
    }

    /// Ends the connection to the agent. A program ends in the background.
    pub(super) fn drop_agent(&mut self) {
        if let Agent::Starting(task, _) = &self.agent {
            task.abort();
        }
        self.agent = Agent::Absent;
        self.shared.update(|info| info.has_agent = false);
        self.shared.topic.rest();
    }

    /// Waits until the agent has ended, after it was asked to.
    pub(super) async fn await_end(&mut self) {
        let Agent::Ready(link) = std::mem::replace(&mut self.agent, Agent::Absent) else { return };
        let Link { outgoing, mut incoming, child, .. } = link;
        drop(outgoing);
        let ended = async {
            while incoming.recv().await.is_ok() {}
            if let Some(child) = child {
                child.close().await;
            }
        };
        if timeout(END_TIMEOUT, ended).await.is_err() {
            tracing::warn!(session = %self.id, "the agent did not end in time");
        }
        self.shared.update(|info| info.has_agent = false);
        self.shared.topic.rest();
    }

    /// Ends the session because the daemon stops: the turn is interrupted and reported as that.
    async fn stop(&mut self, frames: &mut VecDeque<Frame>) {
        self.is_stopping = true;
        if self.is_ready() && self.shared.info().is_working() {
            let call = AgentCall::new("droid.interrupt_session", &Extra::default());
            self.send_call(call, Waiting::Ignored).await;
            let until = Instant::now() + INTERRUPT_TIMEOUT;
            while self.shared.info().is_working() {
                let Ok(woken) = tokio::time::timeout_at(until, agent_input(&mut self.agent, frames)).await
                else {
                    break;
                };
                match woken {
                    Woken::Frames(Ok(())) => self.agent_frames(frames).await,
                    _ => break,
                }
            }
        }
        let refusal = error::internal("the daemon stops");
        for (_, waiting) in std::mem::take(&mut self.calls) {
            if let Waiting::Call(caller, _) = waiting {
                caller.respond(Err(refusal.clone()));
            }
        }
        for call in std::mem::take(&mut self.deferred) {
            super::refuse(&call, refusal.clone());
        }
        self.await_end().await;
        // those who follow get everything up to here before their connection ends
    }

    /// Returns the time when the session has done nothing for too long, or takes too long to open.
    fn deadline(&self) -> Option<Instant> {
        match &self.agent {
            Agent::Opening(_, until) => Some(*until),
            Agent::Ready(_) if self.is_idle() => self.idle_timeout.map(|timeout| self.idle_since + timeout),
            _ => None,
        }
    }

    fn is_idle(&self) -> bool {
        !self.shared.info().is_working()
            && self.calls.is_empty()
            && self.prompts.is_empty()
            && self.hub.questions.of_session(&self.id).is_empty()
    }

    async fn time_is_over(&mut self) {
        if matches!(self.agent, Agent::Opening(..)) {
            let refusal =
                error::internal(format!("the agent did not open the session within {OPEN_TIMEOUT:?}"));
            self.drop_agent();
            self.fail_calls(false, &refusal);
            return self.open_failed(None, &refusal);
        }
        let seconds = self.idle_timeout.unwrap_or_default().as_secs();
        let notice = json!({
            "type": "session_inactivity", "message": "Session cleaned up after inactivity",
            "timestamp": crate::daemon::hub::now_ms(), "timeoutSeconds": seconds,
        });
        self.await_end().await;
        self.publish(&[&notice.to_string()]);
        self.shared.topic.rest();
    }

    /// Writes events to the journal. If that is not possible, the agent must not continue unseen.
    pub(super) fn publish(&mut self, payloads: &[&str]) {
        if payloads.is_empty() {
            return;
        }
        let bytes: usize = payloads.iter().map(|payload| payload.len()).sum();
        self.hub.metrics.events.add(payloads.len() as u64);
        self.hub.metrics.event_bytes.add(bytes as u64);
        let Err(failure) = self.shared.topic.publish(payloads) else { return };
        tracing::error!(error = %failure.with_causes(), session = %self.id, "cannot write the journal; the agent is ended");
        let message =
            format!("The daemon cannot write the journal of the session: {}", failure.with_causes());
        let notice = json!({"type": "error", "message": message, "errorType": "JournalError"});
        // without a sequence, because it is not in the journal
        self.shared.send_to_all(&rewrite::notification(self.id.as_str(), &notice.to_string(), None));
        self.agent_lost_to_journal(&message);
    }

    fn agent_lost_to_journal(&mut self, message: &str) {
        self.drop_agent();
        for question in self.hub.questions.of_session(&self.id) {
            self.hub.questions.close(&question.id);
        }
        let was_working = self.shared.info().is_working();
        self.shared.update(|info| IDLE.clone_into(&mut info.state));
        let refusal = error::internal(message);
        for (_, waiting) in std::mem::take(&mut self.calls) {
            match waiting {
                Waiting::Call(caller, _) => caller.respond(Err(refusal.clone())),
                // it is on disk, and delivered when the session is opened again
                Waiting::Prompt(mut prompt) => prompt.answer(&Err(refusal.clone())),
                Waiting::Load | Waiting::Ignored => {}
            }
        }
        self.end_turn();
        self.open_failed(None, &refusal);
        // prompts that the agent had not begun are on disk; the next message opens the session for them
        self.requeue_prompts(Vec::new(), was_working, &refusal);
        if was_working {
            let idle = json!({"type": "droid_working_state_changed", "newState": IDLE}).to_string();
            self.shared.send_to_all(&rewrite::notification(self.id.as_str(), &idle, None));
            self.tell_bystanders(&idle);
        }
    }

    /// Tells clients that do not follow the session about its state.
    pub(super) fn tell_bystanders(&self, payload: &str) {
        let change = StateChange::Session { session: self.id.clone(), payload: payload.to_owned() };
        // fails if no client is connected
        self.hub.states.send(Arc::new(change)).ok();
    }

    /// Returns the result of a call, with fields of the daemon.
    pub(super) fn with_fields(result: &Json, fields: &[(&str, serde_json::Value)]) -> Json {
        let mut all: Extra = result.to().unwrap_or_default();
        for (name, value) in fields {
            all.insert(name, value);
        }
        Json::new(&all).unwrap_or_else(|_| result.clone())
    }
}

impl Drop for Actor {
    /// Every call is answered, also if the task fails.
    fn drop(&mut self) {
        if let Agent::Starting(task, call) = &mut self.agent {
            task.abort();
            if let Some(call) = call.take() {
                super::refuse(&call, error::internal("the session has ended"));
            }
        }
        if let Some(task) = &self.turn_wait {
            task.abort();
        }
        let refusal = error::internal("the session has ended");
        for (_, waiting) in std::mem::take(&mut self.calls) {
            match waiting {
                Waiting::Call(caller, _) => caller.respond(Err(refusal.clone())),
                Waiting::Prompt(mut prompt) => prompt.answer(&Err(refusal.clone())),
                Waiting::Load | Waiting::Ignored => {}
            }
        }
        for call in std::mem::take(&mut self.deferred) {
            super::refuse(&call, refusal.clone());
        }
        for mut prompt in std::mem::take(&mut self.prompts) {
            prompt.answer(&Err(refusal.clone()));
        }
    }
}

/// Waits for the agent: its start, its messages, or its end. Loses nothing if dropped.
async fn agent_input(agent: &mut Agent, frames: &mut VecDeque<Frame>) -> Woken {
    match agent {
        Agent::Absent => std::future::pending().await,
        Agent::Starting(task, _) => Woken::Started(task.await),
        Agent::Opening(link, _) | Agent::Ready(link) => Woken::Frames(link.incoming.recv_batch(frames).await),
    }
}

async fn turn_permit(
    wait: &mut Option<JoinHandle<Option<OwnedSemaphorePermit>>>,
) -> Option<OwnedSemaphorePermit> {
    match wait {
        None => std::future::pending().await,
        Some(task) => {
            let permit = task.await.ok().flatten();
            *wait = None;
            permit
        }
    }
}
