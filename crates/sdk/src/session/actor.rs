//! The task behind a session: reads the agent's messages, follows the running turn, has requests answered.
//!
//! The task owns all state. It never waits for a handler or a call; while the reader of a turn is slow, it reads nothing more from the agent.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Closed, Inbox, Incoming};
use musher_wire::{DroidWorkingState, Id, Json, Notification, Request, SessionNotification};
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::requests::OpenRequest;
use super::state::SessionState;
use crate::editor::EditorRequests;
use crate::handlers::Handlers;
use crate::turn::{Dialect, Expectation, Sender, Tracker, TurnLog};
use crate::{Budget, Client, Error, Event, PendingRequest, StoppedBy};

/// How long the agent may take to end an interrupted turn before the session ends it by itself.
const INTERRUPT_GRACE: Duration = Duration::from_secs(10);

/// The maximum number of messages of the agent that are handled before other work.
const BATCH: usize = 64;

/// A command of a session's handles to its task.
#[derive(Debug)]
pub(crate) enum Command {
    Begin(Box<NewTurn>),
    /// The agent refused the message that should have begun the turn.
    Refused {
        turn_id: String,
        error: Error,
    },
    /// A request of the agent was answered, or withdrawn.
    Answered {
        id: Id,
        is_denial: bool,
        failure: Option<String>,
    },
    /// The agent is about to be interrupted.
    Interrupting,
    /// The agent was interrupted: it no longer needs answers.
    Interrupted,
    /// Handle all messages that have come, then reply.
    CatchUp(oneshot::Sender<()>),
}

/// A turn that is about to begin.
#[derive(Debug)]
pub(crate) struct NewTurn {
    pub(crate) turn_id: String,
    pub(crate) wants_output: bool,
    pub(crate) wants_partial: bool,
    pub(crate) asks_on_stream: bool,
    pub(crate) limits: TurnLimits,
    pub(crate) events: Sender,
    pub(crate) cancel: CancellationToken,
    /// The turn is not of this side: it is followed if it runs. Told whether it does.
    pub(crate) follows: Option<oneshot::Sender<bool>>,
    /// The right to be the one turn of the session, given back when the turn is over.
    pub(crate) permit: OwnedSemaphorePermit,
    /// Signals that the turn is over.
    pub(crate) over: DropGuard,
}

/// The limits of a turn: time, time without progress, budget.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TurnLimits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) stall: Option<Duration>,
    pub(crate) budget: Budget,
}

#[derive(Debug)]
pub(crate) struct Actor {
    pub(crate) client: Client,
    pub(crate) inbox: Inbox,
    pub(crate) commands: mpsc::Receiver<Command>,
    /// For the tasks that answer requests; does not keep the session alive.
    pub(crate) answers: mpsc::WeakSender<Command>,
    pub(crate) handlers: Handlers,
    pub(crate) state: watch::Sender<SessionState>,
    pub(crate) raw: broadcast::Sender<Arc<Notification>>,
    pub(crate) dialect: Dialect,
    pub(crate) turn: Option<Running>,
    /// Requests of the agent that are being answered.
    pub(crate) open: HashMap<Id, OpenRequest>,
    /// Requests that wait for a reader, in a session with other clients.
    pub(crate) parked: Vec<Request>,
    /// The subscription for requests that no turn takes.
    pub(crate) requests: watch::Receiver<Option<mpsc::Sender<PendingRequest>>>,
    /// Requests of the agent to the editor that are being answered.
    pub(crate) editor_requests: EditorRequests,
    /// Stops every turn of the session.
    pub(crate) cancel: CancellationToken,
    /// The reason why the connection ended.
    pub(crate) closed: Option<Closed>,
    /// A reusable buffer for the events of one notification.
    pub(crate) scratch: Vec<Event>,
    pub(crate) log: TurnLog,
}

/// The running turn.
#[derive(Debug)]
pub(crate) struct Running {
    pub(super) tracker: Tracker,
    wants_partial: bool,
    asks_on_stream: bool,
    /// Voids the requests on the stream: when the turn is interrupted, or over.
    pub(super) requests: CancellationToken,
    /// The turn is of another client: its reader may leave without interrupting it.
    is_followed: bool,
    limits: TurnLimits,
    events: Sender,
    /// Events for which there is no room at the moment.
    backlog: VecDeque<Event>,
    cancel: CancellationToken,
    /// The time at which an interrupted turn is ended without the agent.
    last_call: Option<Instant>,
    _permit: OwnedSemaphorePermit,
    _over: DropGuard,
}

impl Actor {
    /// Works until all handles of the session are gone, or the connection is.
    pub(crate) async fn run(mut self) {
        while self.closed.is_none() {
            let deadline = self.turn.as_ref().and_then(Running::deadline);
            let running = self.turn.as_ref();
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(command) => self.command(command),
                    None => self.closed = Some(Closed::Local),
                },
                () = cancelled(running, &self.cancel) => self.stop(StoppedBy::Caller),
                () = left(running) => self.turn = None,
                Ok(()) = self.requests.changed(), if !self.parked.is_empty() => self.unpark(),
                () = until(deadline) => self.tick(),
                () = room(running), if running.is_some_and(Running::is_full) => self.deliver(),
                incoming = self.inbox.recv(), if !running.is_some_and(Running::is_full) => match incoming {
                    Some(incoming) => self.closed = self.incoming_batch(incoming, BATCH),
                    None => self.closed = Some(Closed::Ended),
                },
            }
        }
        self.ended();
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Begin(new) => {
                // messages that came before the prompt is sent do not belong to its turn
                self.catch_up();
                self.begin(*new);
                self.unpark();
            }
            Command::Refused { turn_id, error } => {
                if let Some(turn) = self.turn.take_if(|turn| turn.tracker.turn_id() == turn_id) {
                    turn.events.fail(error);
                }
            }
            Command::Answered { id, is_denial, failure } => self.answered(&id, is_denial, failure),
            Command::Interrupting => {
                if let Some(turn) = &mut self.turn {
                    turn.stopping(StoppedBy::Caller);
                }
            }
            Command::Interrupted => {
                if let Some(turn) = self.turn.as_ref().filter(|turn| turn.tracker.is_stopping()) {
                    turn.requests.cancel();
                }
            }
            Command::CatchUp(done) => {
                self.catch_up();
                // a caller that is gone does not need the answer
                done.send(()).ok();
            }
        }
    }

    /// Handles all messages that have come.
    fn catch_up(&mut self) {
        let closed = self.inbox.try_recv().and_then(|first| self.incoming_batch(first, usize::MAX));
        self.closed = self.closed.take().or(closed);
    }

    fn begin(&mut self, new: NewTurn) {
        let state = self.state.borrow();
        let is_followed = new.follows.is_some();
        if let Some(follows) = new.follows {
            let is_running = state.working != DroidWorkingState::Idle;
            // a caller that is gone needs no answer
            if follows.send(is_running).is_err() || !is_running {
                return;
            }
        }
        let expected = Expectation {
            turn_id: new.turn_id,
            is_followed,
            session_id: state.id.to_string(),
            wants_output: new.wants_output,
            usage_before: state.usage,
        };
        drop(state);
        tracing::debug!(turn = expected.turn_id, "turn began");
        let over = new.over.disarm();
        self.turn = Some(Running {
            tracker: Tracker::new(expected, now()),
            wants_partial: new.wants_partial,
            asks_on_stream: new.asks_on_stream,
            is_followed,
            requests: over.child_token(),
            limits: new.limits,
            events: new.events,
            backlog: VecDeque::new(),
            cancel: new.cancel,
            last_call: None,
            _permit: new.permit,
            _over: over.drop_guard(),
        });
    }

    /// Takes all pending messages, so that a burst costs one round of the loop. Returns whether the connection has ended.
    fn incoming_batch(&mut self, first: Incoming, at_most: usize) -> Option<Closed> {
        let (mut next, mut left) = (Some(first), at_most);
        let mut closed = None;
        // one clock reading for all: they came together
        let now = now();
        while let Some(incoming) = next.take() {
            match incoming {
                Incoming::Notification(notification) => self.notification(notification, now),
                Incoming::Request(request) => self.request(request),
                Incoming::Closed(reason) => closed = Some(reason),
                other => tracing::debug!(?other, "ignored"),
            }
            left -= 1;
            if left > 0 && closed.is_none() {
                next = self.inbox.try_recv();
            }
        }
        self.deliver();
        closed
    }

    fn notification(&mut self, notification: Notification, now: std::time::Instant) {
        self.dialect.note_version(notification.envelope.protocol_version.as_deref());
        if self.editor_requests.cancel(&notification) {
            return;
        }
        #[cfg(feature = "daemon")]
        if notification.method == crate::daemon::GAP {
            if let Some(turn) = &mut self.turn {
                turn.add([Event::Gap]);
            }
            if self.raw.receiver_count() > 0 {
                self.raw.send(Arc::new(notification)).ok();
            }
            return;
        }
        let read = notification.session();
        if let Ok(params) = &read {
            if SessionState::concerns(&params.notification) {
                self.state.send_if_modified(|state| state.learn(&params.notification));
            }
            if let SessionNotification::PermissionResolved(resolved) = &params.notification {
                // by another client, or by an interrupt
                self.withdrawn(&resolved.request_id);
            }
        }
        if self.raw.receiver_count() > 0 {
            // having no listener is not a failure
            self.raw.send(Arc::new(notification.clone())).ok();
        }
        let Some(turn) = &mut self.turn else { return };
        let mut events = std::mem::take(&mut self.scratch);
        match read {
            Ok(params) => turn.tracker.notification(&mut self.dialect, params, now, &mut events),
            Err(error) => events.push(Event::Unreadable {
                params: notification.params.unwrap_or_else(Json::null),
                reason: error.to_string(),
            }),
        }
        for event in &events {
            self.log.event(event);
        }
        turn.add(events.drain(..));
        let exceeded = turn.exceeded(now);
        self.scratch = events;
        if let Some(by) = exceeded {
            self.stop(by);
        }
    }

    /// Stops the running turn, once.
    fn stop(&mut self, by: StoppedBy) {
        let Some(turn) = &mut self.turn else { return };
        if turn.tracker.is_stopping() {
            return;
        }
        turn.stopping(by);
        let client = self.client.clone();
        let requests = turn.requests.clone();
        tokio::spawn(async move {
            if let Err(error) = client.interrupt().await {
                tracing::debug!(%error, "the agent did not take the interrupt");
            }
            // not before: a denial would end the turn for another reason
            requests.cancel();
        });
    }

    fn tick(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        let mut events = Vec::new();
        turn.tracker.tick(now(), &mut events);
        if turn.last_call.is_some_and(|deadline| deadline <= Instant::now()) {
            turn.tracker.give_up(now(), &mut events);
        }
        turn.add(events);
        let exceeded = turn.exceeded(now());
        self.deliver();
        if let Some(by) = exceeded {
            self.stop(by);
        }
    }

    /// Moves events to the reader while there is room, and ends the turn after the last one.
    pub(super) fn deliver(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        turn.events.push(&mut turn.backlog);
        if !turn.tracker.is_over() {
            return;
        }
        turn.requests.cancel();
        if turn.backlog.is_empty() {
            // not in the condition: the borrowed state must be given back before it can change
            let moved_to = turn.moved_to(self.state.borrow().id.as_str());
            if let Some(session_id) = moved_to {
                self.state.send_modify(|state| state.id = session_id.into());
            }
            self.log.ended(&turn.tracker);
            self.turn = None;
        }
    }

    /// The connection is gone: fails everything that waits for it.
    fn ended(mut self) {
        let closed = self.closed.take().unwrap_or(Closed::Ended);
        for open in self.open.values() {
            open.withdrawn.cancel();
        }
        if let Some(mut turn) = self.turn.take() {
            turn.events.push(&mut turn.backlog);
            if !turn.tracker.is_over() {
                tracing::warn!(turn = turn.tracker.turn_id(), closed = %musher_rpc::with_causes(&closed), "the connection ended in a turn");
                turn.events.fail(Error::closed(closed));
            }
        }
    }
}

impl Running {
    /// Returns whether the agent's requests go to the stream. A turn that is about to end has no reader for them.
    pub(super) fn asks_on_stream(&self) -> bool {
        self.asks_on_stream && !self.tracker.is_stopping() && !self.tracker.is_over()
    }

    /// Returns whether the turn is of another client.
    pub(super) fn is_followed(&self) -> bool {
        self.is_followed
    }

    pub(super) fn add(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            if self.wants_partial || !event.is_partial() {
                self.backlog.push_back(event);
            }
        }
    }

    /// Records that the turn is being stopped: from now on the agent has a deadline.
    fn stopping(&mut self, by: StoppedBy) {
        self.tracker.stopping(by);
        self.last_call.get_or_insert_with(|| Instant::now() + INTERRUPT_GRACE);
    }

    /// Returns whether the reader must read before more can be taken from the agent.
    fn is_full(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// Returns the next deadline.
    fn deadline(&self) -> Option<Instant> {
        if self.tracker.is_over() {
            return None;
        }
        let limits = if self.tracker.is_stopping() { TurnLimits::default() } else { self.limits };
        let from = |start: std::time::Instant, after: Option<Duration>| after.map(|after| start + after);
        let deadlines = [
            self.tracker.deadline(),
            from(self.tracker.began(), limits.timeout),
            self.tracker.last_progress().and_then(|last| from(last, limits.stall)),
        ];
        let earliest = deadlines.into_iter().flatten().min().map(Instant::from_std);
        [earliest, self.last_call].into_iter().flatten().min()
    }

    /// Returns the limit that the turn has exceeded.
    fn exceeded(&self, now: std::time::Instant) -> Option<StoppedBy> {
        if self.tracker.is_over() || self.tracker.is_stopping() {
            return None;
        }
        let elapsed = |start: std::time::Instant| now.saturating_duration_since(start);
        let beyond = |limit: Option<Duration>, elapsed: Duration| limit.is_some_and(|limit| elapsed >= limit);
        if beyond(self.limits.timeout, elapsed(self.tracker.began())) {
            return Some(StoppedBy::Timeout);
        }
        if self.tracker.last_progress().is_some_and(|last| beyond(self.limits.stall, elapsed(last))) {
            return Some(StoppedBy::Stall);
        }
        let Budget { tokens, steps } = self.limits.budget;
        let is_over_budget = tokens.is_some_and(|limit| self.tracker.tokens_used() > limit)
            || steps.is_some_and(|limit| self.tracker.steps() > limit);
        is_over_budget.then_some(StoppedBy::Budget)
    }

    /// Returns the session that took over a plan, if one did.
    fn moved_to(&self, current: &str) -> Option<String> {
        let session_id = self.tracker.session_id();
        (session_id != current).then(|| session_id.to_owned())
    }
}

pub(super) fn now() -> std::time::Instant {
    Instant::now().into_std()
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

/// Waits until the turn must stop: by its token, by the session's token, or because its reader is gone.
async fn cancelled(turn: Option<&Running>, session: &CancellationToken) {
    match turn {
        Some(turn) if !turn.tracker.is_stopping() && !turn.tracker.is_over() => tokio::select! {
            () = session.cancelled() => {}
            () = turn.cancel.cancelled() => {}
            () = turn.events.abandoned(), if !turn.is_full() && !turn.is_followed => {}
        },
        _ => pending().await,
    }
}

/// Waits until the reader of a turn of another client is gone. The turn continues.
async fn left(turn: Option<&Running>) {
    match turn {
        Some(turn) if turn.is_followed => turn.events.abandoned().await,
        _ => pending().await,
    }
}

async fn room(turn: Option<&Running>) {
    match turn {
        Some(turn) => turn.events.room().await,
        None => pending().await,
    }
}
