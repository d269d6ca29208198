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
use super::lifecycle::Lifecycle;
use super::outbox::{Gone, Outbox};
use super::queue::Prompts;
use super::running::{Running, Turns};
use super::state::Session;
use super::turn::{Effect, Turn};
use crate::agent::Control;
use crate::command::{self, Command, Ticket};
use crate::event::TurnEnd;
use crate::{Environment, Error, Event, Happening};

/// So many results of tasks may wait.
const WAITING_INPUTS: usize = 64;

/// An agent: passes on what happens to the owner of its part of the state.
pub(crate) struct Actor {
    pub(super) environment: Arc<Environment>,
    pub(super) out: Outbox,
    pub(super) inputs: mpsc::Sender<Input>,
    pub(super) session: Option<Session>,
    pub(super) turns: Turns,
    pub(super) prompts: Prompts,
    pub(super) lifecycle: Lifecycle,
    /// Sessions that were left and end what they have started.
    pub(super) left: TaskTracker,
}

impl Actor {
    pub(crate) fn new(
        environment: Arc<Environment>,
        events: mpsc::Sender<Event>,
    ) -> (Self, mpsc::Receiver<Input>) {
        let (inputs, received) = mpsc::channel(WAITING_INPUTS);
        let out = Outbox::new(events, environment.limits.waiting_events);
        let prompts = Prompts::new(environment.limits.queued_prompts);
        let actor = Self {
            environment,
            out,
            inputs,
            session: None,
            turns: Turns::default(),
            prompts,
            lifecycle: Lifecycle::default(),
            left: TaskTracker::new(),
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
            let takes_inputs = has_room || self.turns.running().is_some_and(|running| running.turn.is_over());
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
                        self.lifecycle.end();
                    }
                }
                () = timer, if deadline.is_some() => self.guarded(Self::is_late),
                Some(input) = inputs.recv(), if takes_inputs => self.guarded(|actor| actor.input(input)),
                Some((ticket, command)) = work.recv(), if has_room && self.lifecycle.takes_commands() => {
                    taken += 1;
                    self.guarded(|actor| actor.command(ticket, command));
                }
            }
            self.guarded(Self::go_on);
        }
        self.turns.abort();
        if let Some(mut session) = self.session.take() {
            let farewell = Farewell::of(&mut session, "other");
            close(session, farewell, self.environment.limits.stop).await;
        }
        // each has its own limit
        self.left.close();
        self.left.wait().await;
    }

    pub(super) fn emit(&mut self, what: Happening) {
        let session = self.session.as_ref().map(|session| session.id.clone());
        self.out.push(session, what);
    }

    pub(super) fn reply(&mut self, ticket: Ticket, outcome: Result<command::Reply, Error>) {
        self.emit(Happening::Reply { ticket, outcome });
    }

    /// Lets the turn decide, and performs the effects of the decision.
    ///
    /// If this is called while effects are performed, the new ones wait for their turn in the queue: see [`Running::decide`].
    pub(super) fn with_turn(&mut self, decide: impl FnOnce(&mut Turn, &mut Vec<Effect>)) {
        if !self.turns.running_mut().is_some_and(|running| running.decide(decide)) {
            return;
        }
        while let Some(effect) = self.turns.running_mut().and_then(Running::next_effect) {
            self.perform(effect);
        }
    }

    /// A way back for a task of the turn that runs, which is counted from now on.
    pub(super) fn child(&mut self) -> Option<(Back, CancellationToken)> {
        Some(self.turns.running_mut()?.child(&self.inputs))
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
                if self.turns.numbered(turn).is_some() {
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
            FromTurn::Halted { index, reason } => self.with_turn(|turn, effects| {
                let output = musher_tools::ToolOutput::error(&reason, &reason);
                turn.halt(index, output, &reason, effects);
            }),
            FromTurn::Request(request) => self.call_request(*request),
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
        if let Some(running) = self.turns.running_mut() {
            running.child_ended();
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
        for queued in self.prompts.take_all() {
            self.discarded(&queued);
            self.emit(Happening::Discarded { text: queued.prompt.text, ticket: queued.ticket });
        }
        self.lifecycle.cancel_start();
        if !self.turns.is_running() {
            if let Some(ticket) = ticket {
                self.reply(ticket, Ok(command::Reply::Done));
            }
            return;
        }
        self.with_turn(|turn, effects| {
            let was_over = turn.is_over();
            turn.interrupt(effects);
            if let Some(ticket) = ticket {
                effects.push(Effect::Emit(Happening::Reply { ticket, outcome: Ok(command::Reply::Done) }));
            }
            if !was_over {
                effects.push(Effect::Finish(TurnEnd::Cancelled));
            }
        });
    }

    /// No more input: questions cannot be answered, so the turn goes on without; then the end.
    fn drain(&mut self) {
        if self.lifecycle.drain(Instant::now() + self.environment.limits.drain) {
            self.refuse_question();
            self.refuse_subagents();
        }
    }

    /// Whether nobody can answer questions any more.
    pub(super) fn is_draining(&self) -> bool {
        !self.lifecycle.takes_commands()
    }

    /// Refuses what is asked while nobody can answer.
    pub(super) fn refuse_question(&mut self) {
        let is_alone = self.lifecycle.nobody_answers();
        let question = self.turns.running().and_then(|running| running.turn.question());
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
        if !self.lifecycle.stop(self.stop_deadline()) {
            return;
        }
        self.settle_start();
        self.prompts.take_all();
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
        while !self.turns.is_running() && self.lifecycle.takes_prompts() {
            let is_awake = self.lifecycle.takes_commands();
            let next = self.prompts.next();
            let Some(queued) = next.or_else(|| is_awake.then(|| self.completions())?) else { break };
            self.begin_prompt(queued);
            self.finish_turn();
        }
        if !self.turns.is_running() {
            self.lifecycle.idle(self.stop_deadline());
        }
    }

    fn is_late(&mut self) {
        if self.lifecycle.is_late(Instant::now()) {
            self.stop();
        }
    }

    fn is_at_end(&self) -> bool {
        self.lifecycle.is_at_end(!self.turns.is_running() && self.out.is_empty())
    }

    fn deadline(&self) -> Option<Instant> {
        let turn = self.turns.running().and_then(Running::deadline);
        self.lifecycle.deadline().into_iter().chain(turn).min()
    }

    /// A fault of ours ends the turn, not the agent.
    fn guarded(&mut self, handle: impl FnOnce(&mut Self)) {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| handle(self)));
        if let Err(panic) = outcome {
            let panic = said(&*panic);
            tracing::error!(%panic, "the agent's task panicked");
            if let Some(turn) = self.turns.abort() {
                let message = format!("The turn was stopped by a bug in the engine: {panic}");
                let name = Some("InternalError".to_owned());
                self.emit(Happening::Problem { message, kind: "Error".to_owned(), name });
                self.completed(&turn, TurnEnd::Error);
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
