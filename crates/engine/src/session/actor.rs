//! The task of an agent. It receives everything that happens, one thing after the other, and routes it to the owner of the state.
//!
//! | state | owner |
//! | --- | --- |
//! | the open session: settings, messages, usage, hooks, servers, subagents | [`Session`] |
//! | the running turn, its tasks and effects | [`Turns`], through [`ActiveTurn`] |
//! | waiting prompts | [`Prompts`] |
//! | opening, closing and ending | [`Lifecycle`] |
//! | events on their way to the client | [`Outbox`] |
//!
//! The actor never waits for the reader of its events. Commands and controls have queues of their own, so a full one cannot delay an
//! interrupt. While too many events wait, the actor reads no commands and no input of models and tools; it always reads controls.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

use super::active_turn::ActiveTurn;
use super::lifecycle::Lifecycle;
use super::outbox::{Disconnected, Outbox};
use super::prompt_queue::Prompts;
use super::running::{Running, Turns};
use super::session_end_hooks::SessionEndHooks;
use super::state::Session;
use super::subagents::SubagentReports;
use super::tasks::{Input, SessionInput, SessionSender, panic_text};
use super::turn::{Effect, Turn};
use crate::agent::Control;
use crate::command::{self, Command, CommandId, Prompt, UserResponse};
use crate::event::TurnEnd;
use crate::{Environment, Error, Event, SessionEvent};

/// The maximum number of inputs of tasks that wait.
const MAX_WAITING_INPUTS: usize = 64;

/// The task of an agent: a router over the owners of its state.
pub(crate) struct Actor {
    pub(super) environment: Arc<Environment>,
    pub(super) out: Outbox,
    pub(super) inputs: mpsc::Sender<Input>,
    pub(super) session: Option<Session>,
    pub(super) turns: Turns,
    pub(super) prompts: Prompts,
    /// Prompts that wait for the turn of another process.
    pub(super) held_prompts: VecDeque<(CommandId, Prompt)>,
    pub(super) lifecycle: Lifecycle,
    /// Sessions that were left and end their tasks.
    pub(super) closing: TaskTracker,
}

impl Actor {
    pub(crate) fn new(
        environment: Arc<Environment>,
        events: mpsc::Sender<SessionEvent>,
    ) -> (Self, mpsc::Receiver<Input>) {
        let (inputs, received) = mpsc::channel(MAX_WAITING_INPUTS);
        let out = Outbox::new(events, environment.limits.waiting_events);
        let prompts = Prompts::new(environment.limits.queued_prompts);
        let actor = Self {
            environment,
            out,
            inputs,
            session: None,
            turns: Turns::default(),
            prompts,
            held_prompts: VecDeque::new(),
            lifecycle: Lifecycle::default(),
            closing: TaskTracker::new(),
        };
        (actor, received)
    }

    /// Runs until the agent is stopped, all its handles are dropped, or the receiver of its events is dropped.
    pub(crate) async fn run(
        mut self,
        mut work: mpsc::Receiver<(CommandId, Command)>,
        mut control: mpsc::Receiver<Control>,
        mut inputs: mpsc::Receiver<Input>,
    ) {
        // the number of commands received
        let mut taken = 0;
        while !self.lifecycle.is_at_end(!self.turns.is_running() && self.out.is_empty()) {
            let has_room = self.out.has_room();
            let takes_inputs = has_room || self.turns.running().is_some_and(|running| running.turn.is_over());
            let turn_deadline = self.turns.running().and_then(Running::deadline);
            let deadline = self.lifecycle.deadline().into_iter().chain(turn_deadline).min();
            let timer = tokio::time::sleep_until(deadline.unwrap_or_else(Instant::now));
            tokio::select! {
                biased;
                control = control.recv() => {
                    let control = control.unwrap_or(Control::Stop);
                    // commands submitted before the control are handled before it
                    let behind = match control {
                        Control::Interrupt { behind, .. } => behind,
                        Control::Drain => u64::MAX,
                        Control::Respond { .. } | Control::Stop => 0,
                    };
                    while taken < behind && let Ok((command_id, command)) = work.try_recv() {
                        taken += 1;
                        self.guarded(|actor| actor.command(command_id, command));
                    }
                    self.guarded(|actor| actor.control(control));
                }
                flushed = self.out.flush(), if !self.out.is_empty() => {
                    if let Err(Disconnected) = flushed {
                        self.stop();
                        self.lifecycle.end();
                    }
                }
                () = timer, if deadline.is_some() => {
                    if self.lifecycle.is_late(Instant::now()) {
                        self.guarded(Self::stop);
                    }
                }
                Some(input) = inputs.recv(), if takes_inputs => self.guarded(|actor| actor.input(input)),
                Some((command_id, command)) = work.recv(), if has_room && self.lifecycle.takes_commands() => {
                    taken += 1;
                    self.guarded(|actor| actor.command(command_id, command));
                }
            }
            self.guarded(Self::advance);
        }
        self.turns.abort();
        if let Some(mut session) = self.session.take() {
            let hooks = SessionEndHooks::take(&mut session, "other");
            session.close_after_title(hooks, self.environment.limits.stop).await;
        }
        // each has its own limit
        self.closing.close();
        self.closing.wait().await;
    }

    /// Handles a panic: it ends the turn, not the agent.
    fn guarded(&mut self, handle: impl FnOnce(&mut Self)) {
        let outcome = std::panic::catch_unwind(AssertUnwindSafe(|| handle(self)));
        if let Err(panic) = outcome {
            let panic = panic_text(&*panic);
            tracing::error!(%panic, "the agent's task panicked");
            if let Some(turn) = self.turns.abort() {
                let message = format!("The turn was stopped by a bug in the engine: {panic}");
                self.emit(Event::problem(message, "InternalError"));
                self.complete_turn(&turn, TurnEnd::Error);
            }
        }
    }

    pub(super) fn emit(&mut self, event: Event) {
        let session = self.session.as_ref().map(|session| session.id().clone());
        self.out.push(session, event);
    }

    pub(super) fn reply(&mut self, command_id: CommandId, outcome: Result<command::Reply, Error>) {
        self.emit(Event::Reply { command_id, outcome });
    }

    /// Returns the running turn with everything its steps need, if a turn runs.
    pub(super) fn active(&mut self) -> Option<ActiveTurn<'_>> {
        Some(ActiveTurn {
            environment: &self.environment,
            inputs: &self.inputs,
            out: &mut self.out,
            session: self.session.as_mut()?,
            running: self.turns.running_mut()?,
            prompts: &mut self.prompts,
            is_unattended: self.lifecycle.is_unattended(),
        })
    }

    /// Lets the running turn decide, and performs its decision.
    fn with_turn(&mut self, decide: impl FnOnce(&mut Turn, &mut Vec<Effect>)) {
        if let Some(mut active) = self.active() {
            active.step(decide);
        }
    }

    /// Returns how tasks of a session report.
    pub(super) fn sender_of(&self, session: &Session) -> SessionSender {
        SessionSender::new(session.number(), self.inputs.clone())
    }

    pub(super) fn stop_deadline(&self) -> Instant {
        Instant::now() + self.environment.limits.stop
    }

    fn control(&mut self, control: Control) {
        match control {
            Control::Interrupt { command_id, .. } => self.interrupt(Some(command_id)),
            Control::Respond { request, response } => self.respond(&request, response),
            Control::Drain => self.drain(),
            Control::Stop => self.stop(),
        }
    }

    /// Passes a response to the subagent or the turn that has made the request.
    fn respond(&mut self, request: &str, response: UserResponse) {
        let Some(session) = &self.session else { return };
        if let Some(response) = session.subagents().respond(request, response) {
            self.with_turn(|turn, effects| turn.respond(request, response, effects));
        }
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Turn { turn, input } => {
                if self.turns.numbered(turn).is_some()
                    && let Some(mut active) = self.active()
                {
                    active.receive(input);
                }
            }
            Input::Session { session, input } => {
                if self.session.as_ref().is_some_and(|open| open.number() == session) {
                    self.session_input(input);
                } else if let SessionInput::Reply { command_id, .. }
                | SessionInput::CompactionOutcome { command_id, .. } = input
                {
                    // a command is answered also if its session was left
                    self.reply(command_id, Err(Error::SessionNotFound));
                }
            }
        }
    }

    fn session_input(&mut self, input: SessionInput) {
        let Some(session) = &mut self.session else { return };
        match input {
            SessionInput::Servers => session.report_servers(&mut self.out),
            SessionInput::Announce(event) => self.out.push(Some(session.id().clone()), *event),
            SessionInput::Hook(progress) => match self.active() {
                Some(mut active) => active.hook_progress(*progress),
                None => self.hook_progress(*progress),
            },
            SessionInput::Started { outcome, variables } => {
                session.start_hooks_done(&outcome, variables);
                self.settle_start();
            }
            SessionInput::CompactionOutcome { command_id, outcome } => self.compacted(command_id, outcome),
            SessionInput::Closed(command_id) => self.closed(command_id),
            SessionInput::Title => {
                if let Some(event) = session.store_made_title() {
                    self.emit(event);
                }
            }
            SessionInput::Subagent { id, report } => {
                let is_ending = !self.lifecycle.takes_commands();
                let (turns, out) = (&mut self.turns, &mut self.out);
                SubagentReports { session, turns, out, is_ending }.receive(&id, report);
            }
            SessionInput::Reply { command_id, outcome } => self.reply(command_id, outcome),
            SessionInput::RetryHeldPrompts => self.retry_held_prompts(),
        }
    }

    /// Interrupts the turn, and discards the prompts that wait.
    pub(super) fn interrupt(&mut self, command_id: Option<CommandId>) {
        for queued in self.prompts.take_all() {
            if let Some(session) = &mut self.session {
                session.discard_prompt(&queued);
            }
            self.emit(Event::Discarded { text: queued.prompt.text, command_id: queued.command_id });
        }
        self.refuse_held_prompts();
        self.lifecycle.cancel_start();
        if !self.turns.is_running() {
            if let Some(command_id) = command_id {
                self.reply(command_id, Ok(command::Reply::Done));
            }
            return;
        }
        self.with_turn(|turn, effects| {
            let was_over = turn.is_over();
            turn.interrupt(effects);
            if let Some(command_id) = command_id {
                effects.push(Effect::Emit(Event::Reply { command_id, outcome: Ok(command::Reply::Done) }));
            }
            if !was_over {
                effects.push(Effect::Finish(TurnEnd::Cancelled));
            }
        });
    }

    /// The input of the client has ended: the turn continues without responses of the user, then the agent ends.
    fn drain(&mut self) {
        if !self.lifecycle.drain(Instant::now() + self.environment.limits.drain) {
            return;
        }
        if let Some(mut active) = self.active() {
            active.deny_open_request();
        }
        if let Some(session) = &self.session {
            session.subagents().deny_requests();
        }
    }

    /// Stops the turn and ends the agent.
    pub(super) fn stop(&mut self) {
        if !self.lifecycle.stop(self.stop_deadline()) {
            return;
        }
        self.settle_start();
        self.prompts.take_all();
        self.refuse_held_prompts();
        self.with_turn(|turn, effects| {
            if !turn.is_over() {
                turn.interrupt(effects);
                effects.push(Effect::Finish(TurnEnd::ProcessExit));
            }
        });
    }

    /// Does what has become possible: ends the turn, begins the next one, ends the agent.
    fn advance(&mut self) {
        if let Some((turn, plan, autonomy)) = self.turns.take_hand_over() {
            self.hand_over(&turn, &plan, autonomy);
        }
        self.finish_turn();
        if !self.turns.is_running() && self.lifecycle.takes_prompts() {
            self.continue_interrupted();
        }
        while !self.turns.is_running() && self.lifecycle.takes_prompts() {
            let Some(queued) = self.next_prompt() else { break };
            let (limits, tools) = (self.environment.limits, self.environment.tools.clone());
            self.turns.begin(Turn::new(queued.id.clone(), std::time::Instant::now(), limits, tools));
            if let Some(mut active) = self.active() {
                active.session.begin_turn_cost();
                active.begin(queued);
            }
            self.finish_turn();
        }
        self.emit_unsent();
        if !self.turns.is_running() && self.held_prompts.is_empty() {
            self.lifecycle.idle(self.stop_deadline());
        }
        if !self.turns.is_running()
            && self.prompts.is_empty()
            && let Some(session) = &mut self.session
        {
            session.release();
        }
    }

    /// Tells the client what other processes have changed.
    pub(super) fn emit_unsent(&mut self) {
        for event in self.session.as_mut().map(Session::take_unsent).unwrap_or_default() {
            self.emit(event);
        }
    }

    /// Ends the turn if it has finished and its tasks have ended or are past their deadline.
    fn finish_turn(&mut self) {
        if let Some((turn, reason)) = self.turns.take_finished(Instant::now()) {
            self.complete_turn(&turn, reason);
        }
    }
}
