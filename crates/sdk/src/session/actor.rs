//! The task behind a session: reads what the agent says, follows the running turn, has questions answered.
//!
//! All state is here and nobody else touches it. It never waits for a handler or a call; it waits for a slow reader of a turn
//! only by reading nothing more from the agent.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use musher_rpc::{Closed, Inbox, Incoming, Peer};
use musher_wire::{
    AskUser, Id, Json, Method, Notification, Request, RequestPermission, RequestPermissionResult, RpcError,
    SessionNotification as News, ToolConfirmationOutcome,
};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::state::SessionState;
use crate::handlers::{Answered, Handlers};
use crate::turn::{Dialect, Expectation, Sender, Tracker};
use crate::{Budget, Client, Error, Event, StoppedBy};

/// How long the agent may take to end a turn that was interrupted, before we end it without the agent.
const INTERRUPT_GRACE: Duration = Duration::from_secs(10);

/// How many messages of the agent are looked at before the other things get their turn.
const BATCH: usize = 64;

/// What a session's handles want from its task.
#[derive(Debug)]
pub(crate) enum Command {
    Begin(Box<NewTurn>),
    /// The agent refused the message that should have begun the turn.
    Refused {
        turn_id: String,
        error: Error,
    },
    /// A question of the agent was answered.
    Answered {
        id: Id,
        was_denied: bool,
        failure: Option<String>,
    },
    /// Somebody is about to interrupt the agent.
    Interrupting,
    /// Look at all that has come, then say so.
    CatchUp(oneshot::Sender<()>),
}

/// A turn that is about to begin.
#[derive(Debug)]
pub(crate) struct NewTurn {
    pub(crate) turn_id: String,
    pub(crate) wants_output: bool,
    pub(crate) wants_partial: bool,
    pub(crate) limits: TurnLimits,
    pub(crate) events: Sender,
    pub(crate) cancel: CancellationToken,
    /// The right to be the one turn of the session, given back when the turn is over.
    pub(crate) permit: OwnedSemaphorePermit,
    /// Tells when the turn is over.
    pub(crate) over: DropGuard,
}

/// How long a turn may take and how much it may use.
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
    /// For the tasks that answer questions; does not keep the session alive.
    pub(crate) answers: mpsc::WeakSender<Command>,
    pub(crate) handlers: Handlers,
    pub(crate) state: watch::Sender<SessionState>,
    pub(crate) raw: broadcast::Sender<Arc<Notification>>,
    pub(crate) dialect: Dialect,
    pub(crate) turn: Option<Running>,
    /// Questions of the agent that are being answered.
    pub(crate) questions: HashMap<Id, CancellationToken>,
    /// Stops every turn of the session.
    pub(crate) cancel: CancellationToken,
    /// Why the connection is over.
    pub(crate) closed: Option<Closed>,
    /// Room for the events of one notification, used again and again.
    pub(crate) scratch: Vec<Event>,
}

/// The running turn.
#[derive(Debug)]
pub(crate) struct Running {
    tracker: Tracker,
    wants_partial: bool,
    limits: TurnLimits,
    events: Sender,
    /// Events for which there is no room at the moment.
    backlog: VecDeque<Event>,
    cancel: CancellationToken,
    /// When an interrupted turn is ended without the agent.
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
                // what has come before the prompt goes out does not belong to its turn
                self.catch_up();
                self.begin(*new);
            }
            Command::Refused { turn_id, error } => {
                if let Some(turn) = self.turn.take_if(|turn| turn.tracker.turn_id() == turn_id) {
                    turn.events.fail(error);
                }
            }
            Command::Answered { id, was_denied, failure } => {
                self.questions.remove(&id);
                if let Some(turn) = &mut self.turn {
                    turn.tracker.answered(was_denied, now());
                    if let Some(reason) = failure {
                        turn.tracker.note_error(reason.clone());
                        turn.backlog.push_back(Event::HandlerFailed { reason });
                    }
                }
                self.deliver();
            }
            Command::Interrupting => {
                if let Some(turn) = &mut self.turn {
                    turn.stopping(StoppedBy::Caller);
                }
            }
            Command::CatchUp(done) => {
                self.catch_up();
                // whoever asked and has left does not need the answer
                done.send(()).ok();
            }
        }
    }

    /// Looks at all that has come.
    fn catch_up(&mut self) {
        let closed = self.inbox.try_recv().and_then(|first| self.incoming_batch(first, usize::MAX));
        self.closed = self.closed.take().or(closed);
    }

    fn begin(&mut self, new: NewTurn) {
        let state = self.state.borrow();
        let expected = Expectation {
            turn_id: new.turn_id,
            session_id: state.id.clone(),
            wants_output: new.wants_output,
            usage_before: state.usage.clone(),
        };
        drop(state);
        tracing::info!(turn = expected.turn_id, "turn began");
        self.turn = Some(Running {
            tracker: Tracker::new(expected, now()),
            wants_partial: new.wants_partial,
            limits: new.limits,
            events: new.events,
            backlog: VecDeque::new(),
            cancel: new.cancel,
            last_call: None,
            _permit: new.permit,
            _over: new.over,
        });
    }

    /// Takes what is there, so that a burst costs one round of the loop. Tells if the connection has ended.
    fn incoming_batch(&mut self, first: Incoming, at_most: usize) -> Option<Closed> {
        let (mut next, mut left) = (Some(first), at_most);
        let mut closed = None;
        // one look at the clock for all: they came together
        let now = now();
        while let Some(incoming) = next.take() {
            match incoming {
                Incoming::Notification(notification) => self.notification(notification, now),
                Incoming::Request(request) => self.question(request),
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
        let read = notification.session();
        if let Ok(params) = &read {
            if SessionState::concerns(&params.notification) {
                self.state.send_if_modified(|state| state.learn(&params.notification));
            }
            if let News::PermissionResolved(resolved) = &params.notification {
                // settled by somebody else, or by an interrupt: our handler need not go on
                if let Some(question) = self.questions.get(&Id::from(resolved.request_id.as_str())) {
                    question.cancel();
                }
            }
        }
        if self.raw.receiver_count() > 0 {
            // nobody listening any more is no failure
            self.raw.send(Arc::new(notification.clone())).ok();
        }
        let Some(turn) = &mut self.turn else { return };
        let mut events = std::mem::take(&mut self.scratch);
        match read {
            Ok(params) => turn.tracker.news(&mut self.dialect, params, now, &mut events),
            Err(error) => events.push(Event::Unreadable {
                params: notification.params.unwrap_or_else(Json::null),
                reason: error.to_string(),
            }),
        }
        turn.add(events.drain(..));
        let exceeded = turn.exceeded(now);
        self.scratch = events;
        if let Some(by) = exceeded {
            self.stop(by);
        }
    }

    /// Has a question of the agent answered, in a task of its own.
    fn question(&mut self, request: Request) {
        let (peer, handlers) = (self.client.peer().control(), self.handlers.clone());
        match &*request.method {
            RequestPermission::NAME => {
                // what cannot be read cannot be allowed
                let unreadable = RequestPermissionResult::new(ToolConfirmationOutcome::Cancel);
                match request.read::<RequestPermission>() {
                    Ok(params) => self.ask(request.id, async move { handlers.decide(params).await }),
                    Err(error) => self.ask(request.id, async move { no(unreadable, error.to_string()) }),
                }
            }
            AskUser::NAME => match request.read::<AskUser>() {
                Ok(params) => self.ask(request.id, async move { handlers.answer(params).await }),
                Err(error) => {
                    let declined = musher_wire::AskUserResult::new(Vec::new());
                    self.ask(request.id, async move { no(declined, error.to_string()) });
                }
            },
            other => {
                let error = RpcError::new(RpcError::METHOD_NOT_FOUND, format!("Unknown method: {other}"));
                tokio::spawn(async move { peer.respond(request.id, Err(error)).await.ok() });
            }
        }
    }

    fn ask<T: Serialize + Send + 'static>(
        &mut self,
        id: Id,
        answer: impl Future<Output = Answered<T>> + Send + 'static,
    ) {
        if let Some(turn) = &mut self.turn {
            turn.tracker.asked();
        }
        let withdrawn = CancellationToken::new();
        self.questions.insert(id.clone(), withdrawn.clone());
        tokio::spawn(answer_question(
            self.client.peer().control(),
            self.answers.clone(),
            id,
            withdrawn,
            answer,
        ));
    }

    /// Stops the running turn, once.
    fn stop(&mut self, by: StoppedBy) {
        let Some(turn) = &mut self.turn else { return };
        if turn.tracker.is_stopping() {
            return;
        }
        turn.stopping(by);
        let client = self.client.clone();
        tokio::spawn(async move {
            if let Err(error) = client.interrupt().await {
                tracing::debug!(%error, "the agent did not take the interrupt");
            }
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

    /// Gives the reader what there is room for, and ends the turn if that was all.
    fn deliver(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        turn.events.push(&mut turn.backlog);
        if turn.tracker.is_over() && turn.backlog.is_empty() {
            // not in the condition: the borrowed state must be given back before it can change
            let moved_to = turn.moved_to(&self.state.borrow().id);
            if let Some(session_id) = moved_to {
                self.state.send_modify(|state| state.id = session_id);
            }
            turn.tracker.trace_end();
            self.turn = None;
        }
    }

    /// The connection is gone: whoever waits must learn it.
    fn ended(mut self) {
        let closed = self.closed.take().unwrap_or(Closed::Ended);
        for question in self.questions.values() {
            question.cancel();
        }
        if let Some(mut turn) = self.turn.take() {
            turn.events.push(&mut turn.backlog);
            if !turn.tracker.is_over() {
                turn.events.fail(Error::closed(closed));
            }
        }
    }
}

impl Running {
    fn add(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            if self.wants_partial || !event.is_partial() {
                self.backlog.push_back(event);
            }
        }
    }

    /// The turn is told to stop: from now on the agent has a deadline.
    fn stopping(&mut self, by: StoppedBy) {
        self.tracker.stopping(by);
        self.last_call.get_or_insert_with(|| Instant::now() + INTERRUPT_GRACE);
    }

    /// Whether the reader must read before more can be taken from the agent.
    fn is_full(&self) -> bool {
        !self.backlog.is_empty()
    }

    /// The next moment at which something has to be done.
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

    /// Which limit the turn has gone beyond.
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

    /// The session that took over a plan, if one did.
    fn moved_to(&self, current: &str) -> Option<String> {
        let session_id = self.tracker.session_id();
        (session_id != current).then(|| session_id.to_owned())
    }
}

/// Answers one question and tells the session of it. A question that was withdrawn is not answered any more.
async fn answer_question<T: Serialize>(
    peer: Peer,
    session: mpsc::WeakSender<Command>,
    id: Id,
    withdrawn: CancellationToken,
    answer: impl Future<Output = Answered<T>>,
) {
    let answered = tokio::select! {
        biased;
        () = withdrawn.cancelled() => None,
        answered = answer => Some(answered),
    };
    let (was_denied, failure) = match answered {
        None => (false, None),
        Some(answered) => {
            let outcome = Json::new(&answered.result)
                .map_err(|error| RpcError::new(RpcError::INTERNAL, error.to_string()));
            // a connection that is gone is noticed by the session itself
            peer.respond(id.clone(), outcome).await.ok();
            (answered.is_no, answered.failure)
        }
    };
    if let Some(session) = session.upgrade() {
        session.send(Command::Answered { id, was_denied, failure }).await.ok();
    }
}

fn no<T>(result: T, failure: String) -> Answered<T> {
    Answered { result, is_no: true, failure: Some(failure) }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}

/// Waits until the turn shall stop: by its token, by that of the session, or because its reader leaves.
async fn cancelled(turn: Option<&Running>, session: &CancellationToken) {
    match turn {
        Some(turn) if !turn.tracker.is_stopping() && !turn.tracker.is_over() => tokio::select! {
            () = session.cancelled() => {}
            () = turn.cancel.cancelled() => {}
            () = turn.events.abandoned(), if !turn.is_full() => {}
        },
        _ => pending().await,
    }
}

async fn room(turn: Option<&Running>) {
    match turn {
        Some(turn) => turn.events.room().await,
        None => pending().await,
    }
}
