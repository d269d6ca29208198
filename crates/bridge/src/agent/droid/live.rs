//! An open session: turns in order, requests, calls. A thin shell around the pure modules.
//!
//! Messages that arrive during a turn are queued until it ends. Events keep the order of the agent: a question comes after the
//! tool call it is about, the answer to an interrupt before the result of the turn.

mod questions;

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use musher::{
    ErrorKind, Event as TurnEvent, PendingRequest, Requests, Session, SessionState, Turn, TurnResult,
};
use musher_claude::Call;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use uuid::Uuid;

use super::calls::{self, Basis, Done, Effect};
use super::describe;
use super::modes::{self, Standing};
use super::plan::SessionPlan;
use super::tools::Rules;
use super::translate::{OutputOptions, SessionInfo, Stopped, Translator};
use super::user_message::UserMessage;
use crate::agent::{Event, Gone, ended_details};
use crate::wire::request::PromptContent;
use questions::Open;

/// Maximum number of messages that wait for the running turn, and of their bytes.
const MAX_WAITING: usize = 256;
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;
/// How long a request waits for the message with its tool call. A subagent's never comes.
const HELD_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of requests that wait for such messages; more are shown at once.
const MAX_HELD: usize = 64;
/// How long a busy agent may take to stop its turn before it is ended anyway.
const INTERRUPT_TIMEOUT: Duration = Duration::from_millis(500);

pub(super) struct Live {
    basis: Basis,
    schema: Option<Value>,
    states: watch::Receiver<SessionState>,
    translator: Translator,
    rules: Rules,
    standing: Standing,

    phase: Phase,
    waiting: VecDeque<UserMessage>,
    /// An interrupt that came while a turn began.
    postponed: Vec<u64>,

    /// The requests that come while no turn runs.
    requests: Requests,
    /// Requests that wait for the message with their tool call, in order.
    held: VecDeque<(PendingRequest, Instant)>,
    open: BTreeMap<u64, Open>,
    /// Each open question, until the agent needs no answer any more.
    settlements: JoinSet<u64>,

    calls: JoinSet<Done>,
    interrupts: usize,
    made: u64,
    ready: VecDeque<Event<u64>>,
}

type Starting = Pin<Box<dyn Future<Output = musher::Result<Turn>> + Send>>;

enum Phase {
    Idle,
    Starting(Starting),
    Running(Turn),
    /// The result is emitted after the interrupts are answered.
    Ending(Box<TurnResult>),
}

enum Input {
    Called(Done),
    Withdrawn(u64),
    Started(musher::Result<Turn>),
    Turn(Option<musher::Result<TurnEvent>>),
    Requested(PendingRequest),
    HeldTooLong,
    Ended(musher::Error),
    /// A bug: the task of a call broke off.
    CallLost,
}

impl Live {
    pub(super) fn new(session: Session, info: SessionInfo, plan: SessionPlan, notes: Vec<String>) -> Self {
        let options =
            OutputOptions { partial: plan.is_partial, echo: plan.echoes_user, max_turns: plan.max_turns };
        let (states, requests) = (session.watch_state(), session.requests());
        let first_model = info.model.clone();
        Self {
            basis: Basis {
                session,
                first_model,
                model_names: plan.model_names,
                may_bypass: plan.may_bypass,
                servers: plan.servers,
            },
            schema: plan.schema,
            states,
            translator: Translator::new(info, options, || Uuid::new_v4().to_string()),
            rules: plan.rules,
            standing: plan.mode.map_or(Standing::Ask, Standing::of),
            phase: Phase::Idle,
            waiting: VecDeque::new(),
            postponed: Vec::new(),
            requests,
            held: VecDeque::new(),
            open: BTreeMap::new(),
            settlements: JoinSet::new(),
            calls: JoinSet::new(),
            interrupts: 0,
            made: 0,
            ready: notes.into_iter().map(Event::Note).collect(),
        }
    }

    pub(super) async fn next(&mut self) -> Result<Event<u64>, Gone> {
        loop {
            if let Some(event) = self.more() {
                return Ok(event);
            }
            self.begin_turn();
            match self.wait().await {
                Input::Called(done) => self.called(done),
                Input::Withdrawn(key) => self.withdraw(key),
                Input::Started(Ok(turn)) => self.started(turn),
                Input::Started(Err(error)) | Input::Turn(Some(Err(error))) => self.broken(&error)?,
                Input::Turn(Some(Ok(event))) => self.event(event),
                Input::Turn(None) => self.phase = Phase::Idle,
                Input::Requested(request) => self.requested(request),
                Input::HeldTooLong => self.release_first(),
                Input::Ended(error) => return Err(gone(&error)),
                Input::CallLost => {
                    self.interrupts = 0;
                    self.finish_if_ending();
                }
            }
        }
    }

    /// Returns the next queued event, without waiting.
    pub(super) fn more(&mut self) -> Option<Event<u64>> {
        self.ready.pop_front()
    }

    pub(super) fn user(&mut self, content: PromptContent) -> Result<(), String> {
        let message = UserMessage::new(content)?;
        let bytes: usize = self.waiting.iter().map(UserMessage::size).sum();
        if self.waiting.len() >= MAX_WAITING || bytes.saturating_add(message.size()) > MAX_WAITING_BYTES {
            return Err("too many messages wait for the running turn".to_owned());
        }
        self.waiting.push_back(message);
        Ok(())
    }

    pub(super) fn call(&mut self, call: &Call) -> u64 {
        let key = self.new_key();
        match (call, &self.phase) {
            // the agent does not know the turn yet, and would stop nothing
            (Call::Interrupt, Phase::Starting(_)) => self.postponed.push(key),
            _ => self.carry_out(key, call.clone()),
        }
        key
    }

    pub(super) async fn end(self) {
        let session = self.basis.session;
        if !matches!(self.phase, Phase::Idle) {
            // the agent would finish its turn before it ends
            timeout(INTERRUPT_TIMEOUT, session.interrupt()).await.ok();
        }
        // closing is best effort
        session.close().await.ok();
    }

    /// Waits for the next input. Cancel-safe.
    async fn wait(&mut self) -> Input {
        let is_idle = matches!(self.phase, Phase::Idle);
        let deadline = self.held.front().map(|(_, deadline)| *deadline);
        let (session, states) = (&self.basis.session, &mut self.states);
        tokio::select! {
            biased;
            Some(done) = self.calls.join_next() => done.map_or(Input::CallLost, Input::Called),
            Some(Ok(key)) = self.settlements.join_next() => Input::Withdrawn(key),
            happened = progress(&mut self.phase) => happened,
            Some(request) = self.requests.next() => Input::Requested(request),
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => Input::HeldTooLong,
            error = ended(session, states), if is_idle => Input::Ended(error),
        }
    }

    fn begin_turn(&mut self) {
        if !matches!(self.phase, Phase::Idle) {
            return;
        }
        let Some(message) = self.waiting.pop_front() else { return };
        let mut prompt = message.prompt(&self.basis.session).ask_on_stream();
        if let Some(schema) = &self.schema {
            prompt = prompt.output_schema(schema.clone());
        }
        self.phase = Phase::Starting(Box::pin(prompt.start()));
    }

    fn started(&mut self, turn: Turn) {
        self.learn();
        let init = self.translator.begin(turn.id());
        self.ready.push_back(Event::Message(init));
        self.phase = Phase::Running(turn);
        for key in std::mem::take(&mut self.postponed) {
            self.carry_out(key, Call::Interrupt);
        }
    }

    fn event(&mut self, event: TurnEvent) {
        match event {
            TurnEvent::Result(result) if self.interrupts > 0 => self.phase = Phase::Ending(result),
            TurnEvent::Result(result) => self.finish(result),
            TurnEvent::Settings(_) => self.tell_mode(),
            TurnEvent::HandlerFailed { reason } => self.ready.push_back(Event::Note(reason)),
            TurnEvent::Permission(pending) => self.requested(PendingRequest::Permission(pending)),
            TurnEvent::Question(pending) => self.requested(PendingRequest::Question(pending)),
            event => {
                self.tell(&event);
                self.look_at_held();
                if self.translator.is_spent()
                    && let Phase::Running(turn) = &self.phase
                {
                    self.translator.stopping(Stopped::MaxTurns);
                    turn.cancel_token().cancel();
                }
            }
        }
    }

    /// Ends the turn and its open questions.
    fn finish(&mut self, result: Box<TurnResult>) {
        self.close_questions();
        self.tell(&TurnEvent::Result(result));
        self.tell_mode();
        self.phase = Phase::Idle;
    }

    /// A turn did not begin, or broke off.
    fn broken(&mut self, error: &musher::Error) -> Result<(), Gone> {
        self.phase = Phase::Idle;
        self.close_questions();
        if error.is_connection() {
            return Err(gone(error));
        }
        for message in self.translator.failed(&describe(error)) {
            self.ready.push_back(Event::Message(message));
        }
        for key in std::mem::take(&mut self.postponed) {
            self.carry_out(key, Call::Interrupt);
        }
        Ok(())
    }

    fn called(&mut self, Done { key, outcome, effect }: Done) {
        match effect {
            Effect::Interrupt => self.interrupts = self.interrupts.saturating_sub(1),
            Effect::Mode(standing) if outcome.is_ok() => {
                self.standing = standing;
                self.tell_mode();
            }
            Effect::Mode(_) | Effect::None => {}
        }
        self.ready.push_back(Event::Answered { key, outcome });
        self.finish_if_ending();
    }

    /// Emits the delayed result once all interrupts are answered.
    fn finish_if_ending(&mut self) {
        if self.interrupts == 0 && matches!(self.phase, Phase::Ending(_)) {
            let Phase::Ending(result) = std::mem::replace(&mut self.phase, Phase::Idle) else { return };
            self.finish(result);
        }
    }

    fn carry_out(&mut self, key: u64, call: Call) {
        if calls::effect(&call) == Effect::Interrupt {
            self.interrupts += 1;
        }
        self.calls.spawn(calls::carry_out(key, call, self.basis.clone()));
    }

    fn tell(&mut self, event: &TurnEvent) {
        for message in self.translator.event(event) {
            self.ready.push_back(Event::Message(message));
        }
    }

    fn learn(&mut self) {
        let state = self.basis.session.state();
        if let Some(model) = state.settings.model_id {
            self.translator.info.model = model;
        }
        self.translator.info.session_id = state.id.to_string();
    }

    fn tell_mode(&mut self) {
        let settings = self.basis.session.state().settings;
        if let Some(message) = self.translator.mode_is(modes::current(&settings, self.standing)) {
            self.ready.push_back(Event::Message(message));
        }
    }

    fn new_key(&mut self) -> u64 {
        self.made += 1;
        self.made
    }
}

async fn progress(phase: &mut Phase) -> Input {
    match phase {
        Phase::Starting(starting) => Input::Started(starting.await),
        Phase::Running(turn) => Input::Turn(turn.next().await),
        Phase::Idle | Phase::Ending(_) => pending().await,
    }
}

/// Waits for the end of an agent that has nothing to do.
async fn ended(session: &Session, states: &mut watch::Receiver<SessionState>) -> musher::Error {
    while states.changed().await.is_ok() {}
    loop {
        // a call to an ended agent returns how it ended
        if let Err(error) = session.interrupt().await {
            return error;
        }
    }
}

fn gone(error: &musher::Error) -> Gone {
    let details = match error.kind() {
        ErrorKind::ProcessExit { code, signal, stderr } => ended_details(*code, *signal, stderr),
        _ => serde_json::Map::new(),
    };
    Gone { reason: describe(error), details }
}
