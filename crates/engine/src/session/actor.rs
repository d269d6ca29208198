//! The one task of an agent: takes in what happens, one thing after the other, and never waits for who reads its events.
//!
//! Two lanes lead in, so that a full one cannot hold up an interrupt. While too many events wait to be read, nothing is taken from
//! models, tools and the lane of work; controls are always taken.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::children::{Back, FromSession, FromTurn, Input, said};
use super::farewell::Farewell;
use super::hooking::Starting;
use super::outbox::{Gone, Outbox};
use super::prompt::{Queue, Queued};
use super::state::Session;
use super::turn::{Effect, Next, Turn};
use crate::agent::Control;
use crate::command::{Command, Reply, ServerView, Ticket};
use crate::event::{TurnCompleted, TurnEnd, WorkingState};
use crate::{Environment, Error, Event, Happening, SessionId};

/// So many results of tasks may wait.
const WAITING_INPUTS: usize = 64;

/// An agent.
pub(crate) struct Actor {
    pub(super) environment: Arc<Environment>,
    pub(super) out: Outbox,
    pub(super) inputs: mpsc::Sender<Input>,
    pub(super) session: Option<Session>,
    pub(super) running: Option<Running>,
    pub(super) queue: Queue,
    pub(super) state: WorkingState,
    pub(super) sessions: u64,
    /// The servers as clients were last told of them.
    pub(super) told_servers: Option<Vec<ServerView>>,
    /// The title of a first message, to be told when its turn is over.
    pub(super) new_title: Option<String>,
    /// A turn that has handed its plan over to the one that runs, and its session.
    pub(super) handed_over: Option<(SessionId, Box<TurnCompleted>)>,
    /// The first hooks of the session run.
    pub(super) starting: Option<Starting>,
    /// Its last hooks run.
    pub(super) is_closing: bool,
    /// Sessions that were left and end what they have started.
    pub(super) closing: TaskTracker,
    turns: u64,
    ending: Ending,
}

/// A turn and what it has started.
pub(super) struct Running {
    pub(super) number: u64,
    pub(super) turn: Turn,
    /// Ends everything the turn has started.
    pub(super) cancel: CancellationToken,
    /// Ends the model call.
    pub(super) model: CancellationToken,
    /// How many tasks have not ended.
    pub(super) children: usize,
    /// How it ends, once its tasks have ended or the time for that is over.
    pub(super) finish: Option<(TurnEnd, Instant)>,
    /// Whether the log failed: nothing of the turn counts any more.
    pub(super) is_broken: bool,
    /// How it goes on when the conversation is summed up.
    pub(super) next: Option<Next>,
    /// Whether the conversation could not be summed up.
    pub(super) cannot_shrink: bool,
    /// What the user said, while hooks have a say about it.
    pub(super) prompt: Option<Queued>,
    /// The shape of the answer, for vendors that can enforce it.
    pub(super) schema: Option<serde_json::Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    No,
    /// No more input: end when the turn has ended, but not later than this.
    Drain(Instant),
    /// Only what is in the outbox, but not longer than this.
    Stop(Instant),
    Now,
}

impl Actor {
    pub(crate) fn new(
        environment: Arc<Environment>,
        events: mpsc::Sender<Event>,
    ) -> (Self, mpsc::Receiver<Input>) {
        let (inputs, received) = mpsc::channel(WAITING_INPUTS);
        let out = Outbox::new(events, environment.limits.waiting_events);
        let actor = Self {
            environment,
            out,
            inputs,
            session: None,
            running: None,
            queue: Queue::new(),
            state: WorkingState::Idle,
            sessions: 0,
            told_servers: None,
            new_title: None,
            handed_over: None,
            starting: None,
            is_closing: false,
            closing: TaskTracker::new(),
            turns: 0,
            ending: Ending::No,
        };
        (actor, received)
    }

    /// Runs until it is told to end, nobody can tell it anything any more, or nobody reads its events.
    pub(crate) async fn run(
        mut self,
        mut work: mpsc::Receiver<(Ticket, Command)>,
        mut control: mpsc::Receiver<Control>,
        mut inputs: mpsc::Receiver<Input>,
    ) {
        // commands taken from the lane of work
        let mut taken = 0;
        while !self.is_at_end() {
            let has_room = self.out.has_room();
            let takes_inputs =
                has_room || self.running.as_ref().is_some_and(|running| running.turn.is_over());
            let deadline = self.deadline();
            let timer = tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now));
            tokio::select! {
                biased;
                control = control.recv() => {
                    let control = control.unwrap_or(Control::Stop);
                    // what was asked before stays before
                    let behind = match control {
                        Control::Interrupt { behind, .. } => behind,
                        Control::Drain => u64::MAX,
                        Control::Answer { .. } | Control::Stop => 0,
                    };
                    while taken < behind && let Ok((ticket, command)) = work.try_recv() {
                        taken += 1;
                        self.guarded(|actor| actor.command(ticket, command));
                    }
                    self.guarded(|actor| actor.control(control));
                }
                flushed = self.out.flush(), if !self.out.is_empty() => {
                    if let Err(Gone) = flushed {
                        self.stop();
                        self.ending = Ending::Now;
                    }
                }
                () = timer, if deadline.is_some() => self.guarded(Self::is_late),
                Some(input) = inputs.recv(), if takes_inputs => self.guarded(|actor| actor.input(input)),
                Some((ticket, command)) = work.recv(), if has_room && self.ending == Ending::No => {
                    taken += 1;
                    self.guarded(|actor| actor.command(ticket, command));
                }
            }
            self.guarded(Self::go_on);
        }
        if let Some(running) = &self.running {
            running.cancel.cancel();
        }
        if let Some(mut session) = self.session.take() {
            let farewell = Farewell::of(&mut session, "other");
            close(session, farewell, self.environment.limits.stop).await;
        }
        // each has its own limit
        self.closing.close();
        self.closing.wait().await;
    }

    pub(super) fn emit(&mut self, what: Happening) {
        let session = self.session.as_ref().map(|session| session.id.clone());
        if let Happening::State(state) = &what {
            if self.state == *state {
                return;
            }
            self.state = *state;
        }
        self.out.push(session, what);
    }

    pub(super) fn reply(&mut self, ticket: Ticket, outcome: Result<Reply, Error>) {
        self.emit(Happening::Reply { ticket, outcome });
    }

    /// Begins a turn. Nothing is asked yet.
    pub(super) fn begin_turn(&mut self, turn: Turn) {
        self.turns += 1;
        let cancel = CancellationToken::new();
        let model = cancel.child_token();
        self.running = Some(Running {
            number: self.turns,
            turn,
            cancel,
            model,
            children: 0,
            finish: None,
            is_broken: false,
            next: None,
            cannot_shrink: false,
            prompt: None,
            schema: None,
        });
    }

    /// Lets the turn decide, and performs what follows.
    pub(super) fn with_turn(&mut self, decide: impl FnOnce(&mut Turn, &mut Vec<Effect>)) {
        let mut effects = Vec::new();
        if let Some(running) = &mut self.running {
            decide(&mut running.turn, &mut effects);
        }
        for effect in effects {
            if self.running.as_ref().is_some_and(|running| running.is_broken) {
                return;
            }
            self.perform(effect);
        }
    }

    /// A way back for a task of the turn that runs, which is counted from now on.
    pub(super) fn child(&mut self) -> Option<(Back, CancellationToken)> {
        let running = self.running.as_mut()?;
        running.children += 1;
        Some((Back { turn: running.number, inputs: self.inputs.clone() }, running.cancel.child_token()))
    }

    pub(super) fn stop_deadline(&self) -> Instant {
        Instant::now() + self.environment.limits.stop
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::Interrupt { ticket, .. } => self.interrupt(Some(ticket)),
            Control::Answer { question, answer } => {
                if let Some(answer) = self.answer_subagent(&question, answer) {
                    self.with_turn(|turn, effects| turn.answered(&question, answer, effects));
                }
            }
            Control::Drain => self.drain(),
            Control::Stop => self.stop(),
        }
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Turn { turn, what } => {
                if self.running.as_ref().is_some_and(|running| running.number == turn) {
                    self.turn_input(what);
                }
            }
            Input::Session { session, what } => {
                if self.session.as_ref().is_some_and(|open| open.number == session) {
                    self.session_input(what);
                } else if let FromSession::Reply { ticket, .. } | FromSession::Summed { ticket, .. } = what {
                    // whoever asked is answered all the same
                    self.reply(ticket, Err(Error::SessionNotFound));
                }
            }
        }
    }

    fn turn_input(&mut self, what: FromTurn) {
        match what {
            FromTurn::Model { call, event } => self.with_turn(|turn, effects| {
                if turn.model_calls() == call {
                    turn.model(event, std::time::Instant::now(), effects);
                }
            }),
            FromTurn::Ready { call } => self.servers_ready(call),
            FromTurn::Hook(news) => self.hook_news(*news),
            FromTurn::PromptJudged(outcome) => self.prompt_judged(&outcome),
            FromTurn::Summed(summed) => self.summed_up(summed),
            FromTurn::MayStop(outcome) => self.may_stop(&outcome),
            FromTurn::Advised(outcome) => self.advised(&outcome),
            FromTurn::Rewritten { index, input } => {
                self.with_turn(|turn, effects| turn.rewrite(index, input, effects));
            }
            FromTurn::Reviewed { index, output, outcome } => self.reviewed(index, output, &outcome),
            FromTurn::Prepared { index, verdict, rules } => self.with_turn(|turn, effects| {
                if let Some(rules) = rules {
                    turn.keep_rules(index, rules);
                }
                turn.prepared(index, verdict, effects);
            }),
            FromTurn::Progress(what) => self.progress(*what),
            FromTurn::Done { index, output } => self.ran(index, output),
            FromTurn::Refused { index, output } => {
                self.with_turn(|turn, effects| turn.cancelled(index, output, effects));
            }
            FromTurn::Ended { panic } => self.child_ended(panic),
        }
    }

    fn session_input(&mut self, what: FromSession) {
        match what {
            FromSession::Servers => self.servers_changed(),
            FromSession::Hook(news) => self.hook_news(*news),
            FromSession::Started { outcome, variables } => self.session_started(&outcome, variables),
            FromSession::Summed { ticket, summed } => self.compacted(ticket, summed),
            FromSession::Closed(ticket) => self.closed(ticket),
            FromSession::Title { title, usage } => self.titled(title, usage),
            FromSession::Subagent { id, news } => self.subagent_news(&id, news),
            FromSession::Reply { ticket, outcome } => self.reply(ticket, outcome),
        }
    }

    fn child_ended(&mut self, panic: Option<String>) {
        if let Some(running) = &mut self.running {
            running.children = running.children.saturating_sub(1);
        }
        if let Some(panic) = panic {
            tracing::error!(%panic, "a task of a turn panicked");
            self.broken(&panic);
        }
    }

    /// Ends the turn: there is a bug in us.
    fn broken(&mut self, panic: &str) {
        let text = format!("The turn was stopped by a bug in the engine: {panic}");
        self.with_turn(|turn, effects| {
            if !turn.is_over() {
                let mut settled = Vec::new();
                turn.interrupt(&mut settled);
                effects.append(&mut settled);
                turn.fail(text, Some("InternalError"), TurnEnd::Error, effects);
            }
        });
    }

    pub(super) fn interrupt(&mut self, ticket: Option<Ticket>) {
        for queued in std::mem::take(&mut self.queue) {
            self.discarded(&queued);
            self.emit(Happening::Discarded { text: queued.prompt.text, ticket: queued.ticket });
        }
        if let Some(starting) = &self.starting {
            // their end comes back as an input
            starting.cancel.cancel();
        }
        if self.running.is_none() {
            if let Some(ticket) = ticket {
                self.reply(ticket, Ok(Reply::Done));
            }
            return;
        }
        self.with_turn(|turn, effects| {
            let was_over = turn.is_over();
            turn.interrupt(effects);
            if let Some(ticket) = ticket {
                effects.push(Effect::Emit(Happening::Reply { ticket, outcome: Ok(Reply::Done) }));
            }
            if !was_over {
                effects.push(Effect::Finish(TurnEnd::Cancelled));
            }
        });
    }

    /// No more input: questions cannot be answered, so the turn goes on without; then the end.
    fn drain(&mut self) {
        if self.ending != Ending::No {
            return;
        }
        self.ending = Ending::Drain(Instant::now() + self.environment.limits.drain);
        self.refuse_question();
        self.refuse_subagents();
    }

    /// Whether nobody can answer questions any more.
    pub(super) fn is_draining(&self) -> bool {
        self.ending != Ending::No
    }

    /// Refuses what is asked while nobody can answer.
    pub(super) fn refuse_question(&mut self) {
        let is_alone = matches!(self.ending, Ending::Drain(_));
        let question = self.running.as_ref().and_then(|running| running.turn.question());
        let id = question.map(|question| match question {
            crate::Question::Permission { id, .. } | crate::Question::Ask { id, .. } => id.clone(),
        });
        if let (true, Some(id)) = (is_alone, id) {
            let answer = crate::Answer::Refused { reason: None };
            self.with_turn(|turn, effects| turn.answered(&id, answer, effects));
        }
    }

    /// The end: the turn is stopped.
    pub(super) fn stop(&mut self) {
        if matches!(self.ending, Ending::Stop(_) | Ending::Now) {
            return;
        }
        self.ending = Ending::Stop(self.stop_deadline());
        self.settle_start();
        self.queue.clear();
        self.with_turn(|turn, effects| {
            if !turn.is_over() {
                turn.interrupt(effects);
                effects.push(Effect::Finish(TurnEnd::ProcessExit));
            }
        });
    }

    /// What follows once a thing has happened: the end of a turn, the next prompt, the end of all.
    fn go_on(&mut self) {
        self.finish_turn();
        let is_held_up = self.starting.is_some() || self.is_closing;
        while self.running.is_none() && !is_held_up && matches!(self.ending, Ending::No | Ending::Drain(_)) {
            let is_awake = self.ending == Ending::No;
            let next = self.queue.pop_front();
            let Some(queued) = next.or_else(|| is_awake.then(|| self.completions())?) else { break };
            self.begin_prompt(queued);
            self.finish_turn();
        }
        if self.running.is_none() && !is_held_up && matches!(self.ending, Ending::Drain(_)) {
            self.ending = Ending::Stop(self.stop_deadline());
        }
    }

    fn is_late(&mut self) {
        let now = Instant::now();
        match self.ending {
            Ending::Drain(until) if now >= until => self.stop(),
            Ending::Stop(until) if now >= until => self.ending = Ending::Now,
            _ => {}
        }
    }

    fn is_at_end(&self) -> bool {
        match self.ending {
            Ending::Now => true,
            Ending::Stop(_) => self.running.is_none() && self.out.is_empty(),
            Ending::No | Ending::Drain(_) => false,
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let ending = match self.ending {
            Ending::No | Ending::Now => None,
            Ending::Drain(until) | Ending::Stop(until) => Some(until),
        };
        let turn = self.running.as_ref().and_then(|running| running.finish).map(|(_, until)| until);
        ending.into_iter().chain(turn).min()
    }

    /// A fault of ours ends the turn, not the agent.
    fn guarded(&mut self, handle: impl FnOnce(&mut Self)) {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| handle(self)));
        if let Err(panic) = outcome {
            let panic = said(&*panic);
            tracing::error!(%panic, "the agent's task panicked");
            if let Some(running) = self.running.take() {
                running.cancel.cancel();
                let message = format!("The turn was stopped by a bug in the engine: {panic}");
                let name = Some("InternalError".to_owned());
                self.emit(Happening::Problem { message, kind: "Error".to_owned(), name });
                self.completed(&running.turn, TurnEnd::Error);
            }
        }
    }
}

/// Ends what a session has started, and runs its last hooks. Neither takes longer than the limit.
///
/// Its log is closed when this returns, before anything is awaited: whoever opens the session next finds it free.
pub(super) fn close(
    session: Session,
    farewell: Option<Farewell>,
    limit: Duration,
) -> impl Future<Output = ()> {
    let Session { journal, cancel, tools, mcp, subagent, subagents, .. } = session;
    drop(journal);
    cancel.cancel();
    async move {
        let end = async {
            let servers = async {
                // those of a subagent are those of the session that started it
                if subagent.is_none() {
                    mcp.shutdown().await;
                }
            };
            tokio::join!(tools.processes.end_all(), subagents.ended(), servers);
        };
        let last_hooks = async {
            if let Some(farewell) = farewell {
                farewell.say_alone(limit).await;
            }
        };
        tokio::join!(async { tokio::time::timeout(limit, end).await.ok() }, last_hooks);
    }
}
