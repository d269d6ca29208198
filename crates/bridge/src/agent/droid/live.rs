//! A session at work: turns one after the other, questions, calls. The thin shell around what is pure.
//!
//! Messages that come while a turn runs wait for its end. What is said stands in the order of the agent: a question after the
//! tool call it is about, the answer to an interrupt before the result of the turn.

use std::collections::{BTreeMap, VecDeque};
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use musher::wire::PermissionToolUse;
use musher::{
    Decision, ErrorKind, Event as TurnEvent, Permission, Questions, Reply, Session, SessionState, Turn,
    TurnResult,
};
use musher_claude::{Call, Permission as Verdict, PermissionMode};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};
use uuid::Uuid;

use super::ask::{self, Told, Update};
use super::calls::{self, Basis, Done, Effect};
use super::describe;
use super::desk::Asked;
use super::modes::{self, Standing};
use super::plan::Plan;
use super::scribe::{Scene, Scribe, Stopped, Wishes};
use super::tools::{ASK_USER, Rules};
use super::words::Words;
use crate::agent::{Answer, Event, Gone, QuestionKind, ended_details};
use crate::wire::request::Said;

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

/// A question of the agent that the front end has to answer.
enum Open {
    /// Several tools are asked for one by one; one no is enough.
    Tools {
        asked: Permission,
        at: usize,
        reply: oneshot::Sender<Decision>,
    },
    Questions {
        asked: Questions,
        told: Told,
        reply: oneshot::Sender<Reply>,
    },
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
            if let Some(event) = self.ready.pop_front() {
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

    pub(super) fn answer(&mut self, key: u64, answer: &Answer) -> Result<(), String> {
        let Answer::Permission(verdict) = answer else {
            return Err("this is no answer to a hook".to_owned());
        };
        let open = self.open.remove(&key).ok_or("there is no such question any more")?;
        if matches!(verdict, Verdict::Deny { interrupt: Some(true), .. }) {
            self.scribe.stopping(Stopped::Refusal);
        }
        match open {
            Open::Tools { asked, at, reply } => self.rule(asked, at, reply, verdict),
            Open::Questions { asked, told, reply } => {
                let answered = ask::reply(&asked.questions, verdict);
                if answered == Reply::Declined {
                    self.scribe.denied(&told);
                }
                // a question that was withdrawn meanwhile needs no answer
                reply.send(answered).ok();
                Ok(())
            }
        }
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

    fn close_questions(&mut self) {
        self.held = None;
        for key in std::mem::take(&mut self.open).into_keys() {
            self.ready.push_back(Event::Cancelled { key });
        }
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

    /// A question came; it has to wait until the front end knows the tool call.
    fn asked(&mut self, asked: Asked) {
        if matches!(self.phase, Phase::Running(_)) && !self.is_known(&asked) {
            self.held = Some((asked, Instant::now() + HELD));
            return;
        }
        self.take_up(asked);
    }

    fn is_known(&self, asked: &Asked) -> bool {
        match asked {
            Asked::Permission(asked, _) => {
                asked.tool_uses.iter().all(|asked| self.scribe.knows_call(&asked.tool_use.id))
            }
            Asked::Questions(..) => self.scribe.open_call(ASK_USER).is_some(),
        }
    }

    fn look_at_held(&mut self) {
        if self.held.as_ref().is_some_and(|(asked, _)| self.is_known(asked)) {
            self.release();
        }
    }

    fn release(&mut self) {
        if let Some((asked, _)) = self.held.take() {
            self.take_up(asked);
        }
    }

    fn take_up(&mut self, asked: Asked) {
        match asked {
            Asked::Permission(asked, reply) => self.ask_for(asked, 0, reply),
            Asked::Questions(asked, reply) => {
                let told = ask::questions_told(&asked.questions, self.scribe.open_call(ASK_USER));
                if self.standing == Standing::DenyAll {
                    self.scribe.denied(&told);
                    reply.send(Reply::Declined).ok();
                    return;
                }
                let payload = ask::questions(&told);
                self.question(payload, Open::Questions { asked, told, reply });
            }
        }
    }

    /// Asks for the tools from the one at `at` on; those that are allowed already are not asked for.
    fn ask_for(&mut self, asked: Permission, at: usize, reply: oneshot::Sender<Decision>) {
        let Some((at, next)) = self.next_to_ask(&asked, at) else {
            reply.send(Decision::allow_once()).ok();
            return;
        };
        if self.standing == Standing::DenyAll {
            self.scribe.denied(&ask::told(next));
            reply.send(Decision::deny()).ok();
            return;
        }
        let payload = ask::permission(next);
        self.question(payload, Open::Tools { asked, at, reply });
    }

    fn next_to_ask<'a>(&self, asked: &'a Permission, at: usize) -> Option<(usize, &'a PermissionToolUse)> {
        if self.standing == Standing::AllowAll {
            return None;
        }
        let mut rest = asked.tool_uses.iter().enumerate().skip(at);
        rest.find(|(_, tool_use)| !self.rules.allow(tool_use))
    }

    fn question(&mut self, payload: musher_claude::Extra, open: Open) {
        let key = self.new_key();
        self.open.insert(key, open);
        self.ready.push_back(Event::Question { key, kind: QuestionKind::Permission, payload });
    }

    /// The front end has decided about the tool at `at`.
    fn rule(
        &mut self,
        asked: Permission,
        at: usize,
        reply: oneshot::Sender<Decision>,
        verdict: &Verdict,
    ) -> Result<(), String> {
        let Some(tool_use) = asked.tool_uses.get(at) else {
            return Err("bug: the question is about no tool".to_owned());
        };
        let ruling = ask::ruling(&asked.options, tool_use, verdict);
        for update in ruling.updates {
            self.update(update);
        }
        if ruling.is_no {
            self.scribe.denied(&ask::told(tool_use));
        }
        if ruling.is_no || at + 1 >= asked.tool_uses.len() {
            reply.send(ruling.decision).ok();
        } else {
            self.ask_for(asked, at + 1, reply);
        }
        ruling.complaint.map_or(Ok(()), Err)
    }

    fn update(&mut self, update: Update) {
        match update {
            Update::Allow { tool, content } => {
                if !self.rules.add_parts(&tool, content.as_deref()) {
                    let note = format!("the rule for `{tool}` is not understood: it is asked for as before");
                    self.ready.push_back(Event::Note(note));
                }
            }
            Update::Mode(PermissionMode::BypassPermissions) if !self.basis.may_bypass => {
                let note = "the session was not started with `allow_dangerously_skip_permissions`";
                self.ready.push_back(Event::Note(note.to_owned()));
            }
            Update::Mode(mode) => {
                // nobody waits for this one
                let key = self.new_key();
                self.carry_out(key, Call::SetPermissionMode(mode));
            }
            Update::Unknown(text) => {
                self.ready
                    .push_back(Event::Note(format!("this agent cannot change its permissions by {text}")));
            }
        }
    }

    fn withdraw(&mut self, key: u64) {
        if self.open.remove(&key).is_some() {
            self.ready.push_back(Event::Cancelled { key });
        }
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

/// Waits until an open question is taken back by the agent.
async fn withdrawn(open: &mut BTreeMap<u64, Open>) -> u64 {
    poll_fn(|context| {
        for (key, open) in open.iter_mut() {
            let closed = match open {
                Open::Tools { reply, .. } => reply.poll_closed(context),
                Open::Questions { reply, .. } => reply.poll_closed(context),
            };
            if closed.is_ready() {
                return Poll::Ready(*key);
            }
        }
        Poll::Pending
    })
    .await
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
