//! A session at work: turns one after the other, questions, calls. The thin shell around what is pure.
//!
//! Messages that come while a turn runs wait for its end. What is said stands in the order of the agent: a question after the
//! tool call it is about, the answer to an interrupt before the result of the turn.

mod questions;

use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use musher::{ErrorKind, Event as TurnEvent, Session, SessionState, Turn, TurnResult};
use musher_claude::Call;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use uuid::Uuid;

use super::calls::{self, Basis, Done, Effect};
use super::describe;
use super::desk::Asked;
use super::modes::{self, Standing};
use super::plan::Plan;
use super::scribe::{Scene, Scribe, Stopped, Wishes};
use super::tools::Rules;
use super::words::Words;
use crate::agent::{Event, Gone, ended_details};
use crate::wire::request::Said;
use questions::{Open, withdrawn};

/// How many messages, and how many bytes of them, may wait for the running turn.
const WAITING: usize = 256;
const WAITING_BYTES: usize = 64 * 1024 * 1024;
/// How long a question waits for the message with its tool call. A subagent's never comes.
const HELD: Duration = Duration::from_secs(1);
/// How long a busy agent may take to stop before it is ended all the same.
const STOP: Duration = Duration::from_millis(500);

pub(super) struct Live {
    basis: Basis,
    schema: Option<Value>,
    states: watch::Receiver<SessionState>,
    scribe: Scribe,
    rules: Rules,
    standing: Standing,

    phase: Phase,
    waiting: VecDeque<Words>,
    /// An interrupt that came while a turn began.
    postponed: Vec<u64>,

    asks: mpsc::Receiver<Asked>,
    /// A question that waits for the message with its tool call.
    held: Option<(Asked, Instant)>,
    open: BTreeMap<u64, Open>,

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
    /// Its result is told when the interrupts are answered.
    Ending(Box<TurnResult>),
}

enum Happened {
    Called(Done),
    Withdrawn(u64),
    Started(musher::Result<Turn>),
    Turn(Option<musher::Result<TurnEvent>>),
    Asked(Asked),
    HeldTooLong,
    Ended(musher::Error),
    /// A bug: the task of a call broke off.
    CallLost,
}

impl Live {
    pub(super) fn new(
        session: Session,
        scene: Scene,
        plan: Plan,
        asks: mpsc::Receiver<Asked>,
        notes: Vec<String>,
    ) -> Self {
        let wishes = Wishes { partial: plan.is_partial, echo: plan.echoes_user, max_turns: plan.max_turns };
        let states = session.watch_state();
        let first_model = scene.model.clone();
        Self {
            basis: Basis { session, first_model, may_bypass: plan.may_bypass, servers: plan.servers },
            schema: plan.schema,
            states,
            scribe: Scribe::new(scene, wishes, || Uuid::new_v4().to_string()),
            rules: plan.rules,
            standing: plan.mode.map_or(Standing::Ask, Standing::of),
            phase: Phase::Idle,
            waiting: VecDeque::new(),
            postponed: Vec::new(),
            asks,
            held: None,
            open: BTreeMap::new(),
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
                Happened::Called(done) => self.called(done),
                Happened::Withdrawn(key) => self.withdraw(key),
                Happened::Started(Ok(turn)) => self.started(turn),
                Happened::Started(Err(error)) | Happened::Turn(Some(Err(error))) => self.broken(&error)?,
                Happened::Turn(Some(Ok(event))) => self.event(event),
                Happened::Turn(None) => self.phase = Phase::Idle,
                Happened::Asked(asked) => self.asked(asked),
                Happened::HeldTooLong => self.release(),
                Happened::Ended(error) => return Err(gone(&error)),
                Happened::CallLost => {
                    self.interrupts = 0;
                    self.finish_if_ending();
                }
            }
        }
    }

    /// What is said already.
    pub(super) fn more(&mut self) -> Option<Event<u64>> {
        self.ready.pop_front()
    }

    pub(super) fn user(&mut self, said: Said) -> Result<(), String> {
        let words = Words::new(said)?;
        let bytes: usize = self.waiting.iter().map(Words::size).sum();
        if self.waiting.len() >= WAITING || bytes.saturating_add(words.size()) > WAITING_BYTES {
            return Err("too many messages wait for the running turn".to_owned());
        }
        self.waiting.push_back(words);
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
            timeout(STOP, session.interrupt()).await.ok();
        }
        // it says yes in any case
        session.close().await.ok();
    }

    /// Waits for the next thing that happens; loses nothing if dropped.
    async fn wait(&mut self) -> Happened {
        let is_idle = matches!(self.phase, Phase::Idle);
        let deadline = self.held.as_ref().map(|(_, deadline)| *deadline);
        let (session, states) = (&self.basis.session, &mut self.states);
        tokio::select! {
            biased;
            Some(done) = self.calls.join_next() => done.map_or(Happened::CallLost, Happened::Called),
            key = withdrawn(&mut self.open) => Happened::Withdrawn(key),
            happened = progress(&mut self.phase) => happened,
            Some(asked) = self.asks.recv(), if deadline.is_none() => Happened::Asked(asked),
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => Happened::HeldTooLong,
            error = ended(session, states), if is_idle => Happened::Ended(error),
        }
    }

    fn begin_turn(&mut self) {
        if !matches!(self.phase, Phase::Idle) {
            return;
        }
        let Some(words) = self.waiting.pop_front() else { return };
        let mut prompt = words.prompt(&self.basis.session);
        if let Some(schema) = &self.schema {
            prompt = prompt.output_schema(schema.clone());
        }
        self.phase = Phase::Starting(Box::pin(prompt.start()));
    }

    fn started(&mut self, turn: Turn) {
        self.learn();
        let init = self.scribe.begin(turn.id());
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
            event => {
                self.tell(&event);
                self.look_at_held();
                if self.scribe.is_spent()
                    && let Phase::Running(turn) = &self.phase
                {
                    self.scribe.stopping(Stopped::MaxTurns);
                    turn.cancel_token().cancel();
                }
            }
        }
    }

    /// The turn is over: its questions are, too.
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
        for message in self.scribe.failed(&describe(error)) {
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

    /// The result that was held back, when all interrupts are answered.
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
        for message in self.scribe.event(event) {
            self.ready.push_back(Event::Message(message));
        }
    }

    fn learn(&mut self) {
        let state = self.basis.session.state();
        if let Some(model) = state.settings.model_id {
            self.scribe.scene.model = model;
        }
        self.scribe.scene.session_id = state.id;
    }

    fn tell_mode(&mut self) {
        let settings = self.basis.session.state().settings;
        if let Some(message) = self.scribe.mode_is(modes::current(&settings, self.standing)) {
            self.ready.push_back(Event::Message(message));
        }
    }

    fn new_key(&mut self) -> u64 {
        self.made += 1;
        self.made
    }
}

async fn progress(phase: &mut Phase) -> Happened {
    match phase {
        Phase::Starting(starting) => Happened::Started(starting.await),
        Phase::Running(turn) => Happened::Turn(turn.next().await),
        Phase::Idle | Phase::Ending(_) => pending().await,
    }
}

/// Waits for the end of an agent that has nothing to do.
async fn ended(session: &Session, states: &mut watch::Receiver<SessionState>) -> musher::Error {
    while states.changed().await.is_ok() {}
    loop {
        // how it ended is known to whoever calls it
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
