//! The turn that runs and the tasks it has started. Starts none itself.

use std::collections::VecDeque;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::children::{Back, Input};
use super::port::Reply;
use super::prompt::Queued;
use super::turn::{Effect, Next, Turn};
use crate::SessionId;
use crate::event::{TurnCompleted, TurnEnd};

/// The turns of an agent, of which one runs at a time.
#[derive(Default)]
pub(super) struct Turns {
    running: Option<Running>,
    begun: u64,
    /// A turn that has handed its plan over to the one that runs, and its session.
    handed_over: Option<(SessionId, Box<TurnCompleted>)>,
}

impl Turns {
    /// Begins a turn. Nothing is asked yet.
    pub(super) fn begin(&mut self, turn: Turn) {
        self.begun += 1;
        self.running = Some(Running::new(self.begun, turn));
    }

    /// The turn that runs.
    pub(super) fn running(&self) -> Option<&Running> {
        self.running.as_ref()
    }

    /// The turn that runs, to change it.
    pub(super) fn running_mut(&mut self) -> Option<&mut Running> {
        self.running.as_mut()
    }

    /// The turn that runs, if it is this one.
    pub(super) fn numbered(&mut self, number: u64) -> Option<&mut Running> {
        self.running.as_mut().filter(|running| running.number == number)
    }

    /// Whether a turn runs.
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Ends the turn that runs and everything it has started, at once.
    pub(super) fn abort(&mut self) -> Option<Turn> {
        let running = self.running.take()?;
        running.cancel.cancel();
        Some(running.turn)
    }

    /// Takes the turn if it is decided and everything it started has ended, or had time enough to.
    pub(super) fn take_finished(&mut self, now: Instant) -> Option<(Turn, TurnEnd)> {
        let is_ready = |running: &mut Running| {
            running.finish.is_some_and(|(_, until)| running.children == 0 || now >= until)
        };
        let running = self.running.take_if(is_ready)?;
        running.finish.map(|(reason, _)| (running.turn, reason))
    }

    /// Keeps the end of a turn until the turn that carries out its plan has ended.
    pub(super) fn hand_over(&mut self, session: SessionId, completed: Box<TurnCompleted>) {
        self.handed_over = Some((session, completed));
    }

    /// Takes the end of the turn that has handed over its plan.
    pub(super) fn take_handed_over(&mut self) -> Option<(SessionId, Box<TurnCompleted>)> {
        self.handed_over.take()
    }
}

/// A turn and what it has started.
pub(super) struct Running {
    number: u64,
    pub(super) turn: Turn,
    /// Ends everything the turn has started.
    cancel: CancellationToken,
    /// Ends the model call.
    model: CancellationToken,
    /// How many tasks have not ended.
    children: usize,
    /// How it ends, once its tasks have ended or the time for that is over.
    finish: Option<(TurnEnd, Instant)>,
    /// Whether the log failed: nothing of the turn counts any more.
    is_broken: bool,
    /// How it goes on when the conversation is summed up.
    next: Option<Next>,
    /// Whether the conversation could not be summed up.
    cannot_shrink: bool,
    /// What the user said, while hooks have a say about it.
    prompt: Option<Queued>,
    /// The shape of the answer, for vendors that can enforce it.
    schema: Option<Value>,
    /// The call whose question to the user is open.
    asked: Option<(usize, Reply)>,
    /// Effects that are decided and not performed yet, in the order of the decisions. A turn decides a few for each tool call,
    /// so the answer of the model bounds this queue.
    effects: VecDeque<Effect>,
    /// Whether somebody is performing effects of this turn.
    is_performing: bool,
}

impl Running {
    fn new(number: u64, turn: Turn) -> Self {
        let cancel = CancellationToken::new();
        Self {
            number,
            turn,
            model: cancel.child_token(),
            cancel,
            children: 0,
            finish: None,
            is_broken: false,
            next: None,
            cannot_shrink: false,
            prompt: None,
            schema: None,
            asked: None,
            effects: VecDeque::new(),
            is_performing: false,
        }
    }

    /// Which turn of the agent it is.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Lets the turn decide. Returns whether the caller has to perform the effects: if somebody already does, they will see these, too.
    ///
    /// Performing an effect can lead to the next decision. With recursion, an answer with many tool calls would overflow the stack.
    #[must_use]
    pub(super) fn decide(&mut self, decide: impl FnOnce(&mut Turn, &mut Vec<Effect>)) -> bool {
        let mut decided = Vec::new();
        decide(&mut self.turn, &mut decided);
        self.effects.extend(decided);
        !std::mem::replace(&mut self.is_performing, true)
    }

    /// Takes the next effect from the queue. A turn whose log has failed has none. After the last one, nobody is performing.
    pub(super) fn next_effect(&mut self) -> Option<Effect> {
        if self.is_broken {
            self.effects.clear();
        }
        let effect = self.effects.pop_front();
        self.is_performing = effect.is_some();
        effect
    }

    /// Counts a task of the turn. Returns its way back and what cancels it.
    pub(super) fn child(&mut self, inputs: &mpsc::Sender<Input>) -> (Back, CancellationToken) {
        self.children += 1;
        (Back { turn: self.number, inputs: inputs.clone() }, self.cancel.child_token())
    }

    /// The same for a model call, which ends the one before.
    pub(super) fn model_call(&mut self, inputs: &mpsc::Sender<Input>) -> (Back, CancellationToken) {
        self.model.cancel();
        let (back, cancel) = self.child(inputs);
        self.model = cancel.clone();
        (back, cancel)
    }

    /// A task of the turn has ended.
    pub(super) fn child_ended(&mut self) {
        self.children = self.children.saturating_sub(1);
    }

    /// Cancelled when the turn ends.
    pub(super) fn cancelled(&self) -> CancellationToken {
        self.cancel.child_token()
    }

    /// The turn ends when its tasks have ended, but not later than this. The first reason counts.
    pub(super) fn finish(&mut self, reason: TurnEnd, until: Instant) {
        self.finish.get_or_insert((reason, until));
        self.cancel.cancel();
    }

    /// The log failed: the turn ends, and what it has decided is not performed.
    pub(super) fn log_failed(&mut self, until: Instant) {
        self.turn.interrupt(&mut Vec::new());
        self.is_broken = true;
        self.finish = Some((TurnEnd::CompletionPersistenceFailed, until));
        self.cancel.cancel();
    }

    /// When its tasks are not waited for any longer.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.finish.map(|(_, until)| until)
    }

    /// Keeps a prompt while hooks have a say about it.
    pub(super) fn hold_prompt(&mut self, prompt: Queued) {
        self.prompt = Some(prompt);
    }

    /// Takes it back.
    pub(super) fn take_prompt(&mut self) -> Option<Queued> {
        self.prompt.take()
    }

    /// Keeps how the turn goes on when the conversation is summed up.
    pub(super) fn hold(&mut self, next: Next) {
        self.next = Some(next);
    }

    /// Takes it back; nothing if the turn is over.
    pub(super) fn take_next(&mut self) -> Option<Next> {
        if self.turn.is_over() { None } else { self.next.take() }
    }

    /// Whether it is worth trying to sum up.
    pub(super) fn can_shrink(&self) -> bool {
        !self.cannot_shrink
    }

    /// Summing up has failed, and is not tried again in this turn.
    pub(super) fn shrinking_failed(&mut self) {
        self.cannot_shrink = true;
    }

    /// Sets the shape of the answer, for vendors that can enforce it.
    pub(super) fn set_schema(&mut self, schema: Option<Value>) {
        self.schema = schema;
    }

    /// That shape.
    pub(super) fn schema(&self) -> Option<&Value> {
        self.schema.as_ref()
    }

    /// A call asks the user. There is one question at a time.
    pub(super) fn ask(&mut self, index: usize, reply: Reply) {
        self.asked = Some((index, reply));
    }

    /// Takes whom the answer to the question of a call is for.
    pub(super) fn take_asked(&mut self, index: usize) -> Option<Reply> {
        self.asked.take_if(|(asked, _)| *asked == index).map(|(_, reply)| reply)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Limits;

    fn turns() -> Turns {
        let mut turns = Turns::default();
        let turn = Turn::new(
            "t".to_owned(),
            std::time::Instant::now(),
            Limits::default(),
            musher_tools::Registry::builtin(),
        );
        turns.begin(turn);
        turns
    }

    #[tokio::test]
    async fn a_turn_ends_with_its_last_task_or_at_its_deadline() {
        let (now, until) = (Instant::now(), Instant::now() + Duration::from_secs(9));
        let (inputs, _received) = mpsc::channel(1);
        let mut turns = turns();
        assert!(turns.take_finished(until).is_none(), "it is not decided");
        let running = turns.running_mut().unwrap();
        let (_, cancel) = running.child(&inputs);
        running.finish(TurnEnd::Cancelled, until);
        running.finish(TurnEnd::Error, until);
        assert!(cancel.is_cancelled() && turns.take_finished(now).is_none());
        turns.running_mut().unwrap().child_ended();
        assert_eq!(turns.take_finished(now).unwrap().1, TurnEnd::Cancelled);
        assert!(!turns.is_running());
    }

    #[tokio::test]
    async fn a_new_model_call_ends_the_one_before() {
        let (inputs, _received) = mpsc::channel(1);
        let mut turns = turns();
        let running = turns.running_mut().unwrap();
        let (_, first) = running.model_call(&inputs);
        let (_, second) = running.model_call(&inputs);
        assert!(first.is_cancelled() && !second.is_cancelled());
        assert!(turns.abort().is_some() && second.is_cancelled());
    }

    #[test]
    fn effects_are_performed_by_one_caller_and_by_nobody_after_the_log_has_failed() {
        let mut turns = turns();
        let running = turns.running_mut().unwrap();
        assert!(running.decide(Turn::call_model));
        assert!(!running.decide(|_, effects| effects.push(Effect::CallModel)), "somebody performs them");
        while running.next_effect().is_some() {}
        assert!(running.decide(|_, effects| effects.push(Effect::CallModel)));
        running.log_failed(Instant::now());
        assert!(running.next_effect().is_none());
    }
}
