//! The running turn and the tasks it has started.

use std::collections::VecDeque;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::plan::Plan;
use super::port::{self, Reply};
use super::queued_prompt::Queued;
use super::result_limit::ResultLimit;
use super::tasks::{Input, TurnSender};
use super::turn::{Effect, Next, Turn};
use crate::event::{TurnCompleted, TurnEnd};
use crate::{Autonomy, SessionId};
use musher_tools::ToolOutput;

/// The turns of an agent, of which one runs at a time.
#[derive(Default)]
pub(super) struct Turns {
    running: Option<Running>,
    begun: u64,
    /// The end of a turn that has handed its plan over to the running one, and its session.
    handed_over: Option<(SessionId, Box<TurnCompleted>)>,
}

impl Turns {
    /// Begins a turn.
    pub(super) fn begin(&mut self, turn: Turn) {
        self.begun += 1;
        self.running = Some(Running::new(self.begun, turn));
    }

    /// Returns the running turn.
    pub(super) fn running(&self) -> Option<&Running> {
        self.running.as_ref()
    }

    /// Returns the running turn, to change it.
    pub(super) fn running_mut(&mut self) -> Option<&mut Running> {
        self.running.as_mut()
    }

    /// Returns the running turn, if it has this number.
    pub(super) fn numbered(&mut self, number: u64) -> Option<&mut Running> {
        self.running.as_mut().filter(|running| running.number == number)
    }

    /// Returns whether a turn runs.
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Ends the running turn and cancels its tasks, at once.
    pub(super) fn abort(&mut self) -> Option<Turn> {
        let running = self.running.take()?;
        running.cancel.cancel();
        Some(running.turn)
    }

    /// Takes the turn if it has finished and its tasks have ended or are past their deadline.
    pub(super) fn take_finished(&mut self, now: Instant) -> Option<(Turn, TurnEnd)> {
        let is_ready = |running: &mut Running| {
            running.finish.is_some_and(|(_, until)| running.tasks == 0 || now >= until)
        };
        let running = self.running.take_if(is_ready)?;
        running.finish.map(|(reason, _)| (running.turn, reason))
    }

    /// Takes a turn that hands its plan over to a new session, with the plan and the autonomy level of that session.
    pub(super) fn take_hand_over(&mut self) -> Option<(Turn, Box<Plan>, Autonomy)> {
        let (plan, autonomy) = self.running.as_mut()?.hand_over.take()?;
        Some((self.abort()?, plan, autonomy))
    }

    /// Keeps the end of a turn that has handed over its plan until the turn that carries out the plan has ended.
    pub(super) fn set_handed_over(&mut self, session: SessionId, completed: Box<TurnCompleted>) {
        self.handed_over = Some((session, completed));
    }

    /// Takes the end of the turn that has handed over its plan.
    pub(super) fn take_handed_over(&mut self) -> Option<(SessionId, Box<TurnCompleted>)> {
        self.handed_over.take()
    }
}

/// A turn and its tasks.
pub(super) struct Running {
    number: u64,
    pub(super) turn: Turn,
    /// Cancels all tasks of the turn.
    cancel: CancellationToken,
    /// Cancels the model call.
    model: CancellationToken,
    /// The number of tasks that have not ended.
    tasks: usize,
    /// How the turn ends, and the deadline of its tasks.
    finish: Option<(TurnEnd, Instant)>,
    /// Whether the log has failed: decisions are not performed any more.
    has_log_failed: bool,
    /// How the turn continues after a compaction.
    after_compaction: Option<Next>,
    /// Whether a compaction has failed.
    has_compaction_failed: bool,
    /// The prompt, while its hooks run.
    prompt: Option<Queued>,
    /// The schema of the answer, for vendors that enforce it.
    schema: Option<Value>,
    /// The limit for the results of a message, and the number of the model call that gave it.
    result_limit: Option<(usize, ResultLimit)>,
    /// The call whose question to the user is open.
    question: Option<(usize, Reply)>,
    /// The plan to carry out in a new session, and its autonomy level.
    hand_over: Option<(Box<Plan>, Autonomy)>,
    /// Effects that are decided and not performed yet, in order. A turn decides a few for each tool call, so the answer of the model
    /// bounds this queue.
    effects: VecDeque<Effect>,
    /// Whether a caller is performing effects of this turn.
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
            tasks: 0,
            finish: None,
            has_log_failed: false,
            after_compaction: None,
            has_compaction_failed: false,
            prompt: None,
            schema: None,
            result_limit: None,
            question: None,
            hand_over: None,
            effects: VecDeque::new(),
            is_performing: false,
        }
    }

    /// Returns the number of the turn, counted by the agent.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Lets the turn decide. Returns whether the caller has to perform the effects. If a caller already does, it performs these too.
    ///
    /// Performing an effect can lead to the next decision. With recursion, an answer with many tool calls would overflow the stack.
    #[must_use]
    pub(super) fn decide(&mut self, decide: impl FnOnce(&mut Turn, &mut Vec<Effect>)) -> bool {
        let mut decided = Vec::new();
        decide(&mut self.turn, &mut decided);
        self.effects.extend(decided);
        !std::mem::replace(&mut self.is_performing, true)
    }

    /// Takes the next effect from the queue. There is none after the log has failed.
    pub(super) fn next_effect(&mut self) -> Option<Effect> {
        if self.has_log_failed {
            self.effects.clear();
        }
        let effect = self.effects.pop_front();
        self.is_performing = effect.is_some();
        effect
    }

    /// Registers a task of the turn. Returns how it reports, and what cancels it.
    pub(super) fn task(&mut self, inputs: &mpsc::Sender<Input>) -> (TurnSender, CancellationToken) {
        self.tasks += 1;
        (TurnSender { turn: self.number, inputs: inputs.clone() }, self.cancel.child_token())
    }

    /// Registers a model call, and cancels the one before.
    pub(super) fn model_call(&mut self, inputs: &mpsc::Sender<Input>) -> (TurnSender, CancellationToken) {
        self.model.cancel();
        let (sender, cancel) = self.task(inputs);
        self.model = cancel.clone();
        (sender, cancel)
    }

    /// A task of the turn has ended.
    pub(super) fn task_ended(&mut self) {
        self.tasks = self.tasks.saturating_sub(1);
    }

    /// Cancelled when the turn ends.
    pub(super) fn cancelled(&self) -> CancellationToken {
        self.cancel.child_token()
    }

    /// Ends the turn when its tasks have ended, at the deadline at the latest. The first reason counts.
    pub(super) fn finish(&mut self, reason: TurnEnd, until: Instant) {
        self.finish.get_or_insert((reason, until));
        self.cancel.cancel();
    }

    /// Ends the turn because its log has failed. Decided effects are not performed.
    pub(super) fn log_failed(&mut self, until: Instant) {
        self.turn.interrupt(&mut Vec::new());
        self.has_log_failed = true;
        self.finish = Some((TurnEnd::CompletionPersistenceFailed, until));
        self.cancel.cancel();
    }

    /// Returns the deadline of the tasks of a turn that ends.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.finish.map(|(_, until)| until)
    }

    /// Holds a prompt while its hooks run.
    pub(super) fn hold_prompt(&mut self, prompt: Queued) {
        self.prompt = Some(prompt);
    }

    /// Takes the held prompt.
    pub(super) fn take_prompt(&mut self) -> Option<Queued> {
        self.prompt.take()
    }

    /// Holds how the turn continues after a compaction.
    pub(super) fn hold_for_compaction(&mut self, next: Next) {
        self.after_compaction = Some(next);
    }

    /// Takes how the turn continues, unless it is over.
    pub(super) fn take_after_compaction(&mut self) -> Option<Next> {
        if self.turn.is_over() { None } else { self.after_compaction.take() }
    }

    /// Returns whether no compaction has failed in this turn.
    pub(super) fn can_compact(&self) -> bool {
        !self.has_compaction_failed
    }

    /// Records that a compaction has failed: this turn tries no other.
    pub(super) fn compaction_failed(&mut self) {
        self.has_compaction_failed = true;
    }

    /// Sets the schema of the answer, for vendors that enforce it.
    pub(super) fn set_schema(&mut self, schema: Option<Value>) {
        self.schema = schema;
    }

    /// Returns the schema of the answer, for vendors that enforce it.
    pub(super) fn schema(&self) -> Option<&Value> {
        self.schema.as_ref()
    }

    /// Returns the limit that the results of the current message share.
    pub(super) fn result_limit(&mut self, new: impl FnOnce() -> ResultLimit) -> ResultLimit {
        let message = self.turn.model_calls();
        match &self.result_limit {
            Some((of, limit)) if *of == message => limit.clone(),
            _ => self.result_limit.insert((message, new())).1.clone(),
        }
    }

    /// Holds the reply for a call that asks the user. There is one question at a time.
    pub(super) fn hold_question(&mut self, index: usize, reply: Reply) {
        self.question = Some((index, reply));
    }

    /// Gives a call the answer to its question.
    pub(super) fn answer_question(&mut self, index: usize, output: ToolOutput) {
        if let Some((_, reply)) = self.question.take_if(|(asking, _)| *asking == index) {
            port::answer(reply, output);
        }
    }

    /// Marks the turn as one whose plan a new session carries out.
    pub(super) fn hand_over(&mut self, plan: Box<Plan>, autonomy: Autonomy) {
        self.hand_over = Some((plan, autonomy));
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
    async fn turn_ends_with_its_last_task_or_at_its_deadline() {
        let (now, until) = (Instant::now(), Instant::now() + Duration::from_secs(9));
        let (inputs, _received) = mpsc::channel(1);
        let mut turns = turns();
        assert!(turns.take_finished(until).is_none(), "it has not finished");
        let running = turns.running_mut().unwrap();
        let (_, cancel) = running.task(&inputs);
        running.finish(TurnEnd::Cancelled, until);
        running.finish(TurnEnd::Error, until);
        assert!(cancel.is_cancelled() && turns.take_finished(now).is_none());
        turns.running_mut().unwrap().task_ended();
        assert_eq!(turns.take_finished(now).unwrap().1, TurnEnd::Cancelled);
        assert!(!turns.is_running());
    }

    #[tokio::test]
    async fn new_model_call_ends_the_one_before() {
        let (inputs, _received) = mpsc::channel(1);
        let mut turns = turns();
        let running = turns.running_mut().unwrap();
        let (_, first) = running.model_call(&inputs);
        let (_, second) = running.model_call(&inputs);
        assert!(first.is_cancelled() && !second.is_cancelled());
        assert!(turns.abort().is_some() && second.is_cancelled());
    }

    #[test]
    fn effects_are_performed_by_one_caller_and_not_at_all_after_the_log_has_failed() {
        let mut turns = turns();
        let running = turns.running_mut().unwrap();
        assert!(running.decide(Turn::call_model));
        assert!(
            !running.decide(|_, effects| effects.push(Effect::CallModel)),
            "another caller performs them"
        );
        while running.next_effect().is_some() {}
        assert!(running.decide(|_, effects| effects.push(Effect::CallModel)));
        running.log_failed(Instant::now());
        assert!(running.next_effect().is_none());
    }
}
