//! Prompts: on disk before they are acknowledged, delivered once, in order, when a turn may run.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use musher_engine::store::shared::{QueuedPrompt, Receipt};
use musher_wire::{Extra, Json, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::actor::{Actor, AgentCall, Waiting};
use super::{Call, Caller};
use crate::daemon::error;

/// How often a prompt is delivered to an agent that ends before it begins with it.
const MAX_ATTEMPTS: u32 = 2;
/// Clients that wait for the acknowledgement of one prompt.
const MAX_CALLERS: usize = 8;

/// A prompt that is on disk.
pub(super) struct Prompt {
    message_id: String,
    /// The id of the client's request, which clients see in notifications.
    request_id: String,
    fields: Extra,
    /// The `_meta` of the request, such as the trace that the turn belongs to.
    meta: Option<Json>,
    /// The clients that wait for the acknowledgement: the first has sent the prompt, the others the same prompt again.
    callers: Vec<Caller>,
    attempts: u32,
}

/// A prompt that the agent has acknowledged and not begun.
pub(super) struct Acknowledged {
    message_id: String,
    /// The id of the request as the agent knows it.
    agent_id: String,
    attempts: u32,
}

/// What is known about the prompt of the running turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnPrompt {
    /// No turn runs, or one without a prompt.
    None,
    /// The turn is for the oldest prompt of the agent, which has not said so. Some agents never do.
    Expected,
    /// The agent has begun with a prompt.
    Begun,
}

/// A prompt as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredPrompt {
    request_id: String,
    params: Extra,
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    meta: Option<Json>,
}

impl Prompt {
    /// Creates a prompt from disk, for which no client waits.
    fn restored(queued: QueuedPrompt) -> Option<Self> {
        let StoredPrompt { request_id, params, meta } = serde_json::from_str(&queued.request).ok()?;
        let message_id = queued.message_id;
        Some(Self { message_id, request_id, fields: params, meta, callers: Vec::new(), attempts: 0 })
    }

    /// Answers the clients that wait, once.
    pub(super) fn answer(&mut self, outcome: &Result<Json, RpcError>) {
        for (caller, outcome) in self.take_answers(outcome) {
            caller.respond(outcome);
        }
    }

    /// Returns the clients that wait, each with its answer.
    pub(super) fn take_answers(
        &mut self,
        outcome: &Result<Json, RpcError>,
    ) -> Vec<(Caller, Result<Json, RpcError>)> {
        let callers = std::mem::take(&mut self.callers).into_iter().enumerate();
        let answers = callers.map(|(at, caller)| match outcome {
            Ok(_) if at > 0 => (caller, Ok(duplicate())),
            outcome => (caller, outcome.clone()),
        });
        answers.collect()
    }
}

/// Returns the answer to a prompt that was sent again.
fn duplicate() -> Json {
    Json::from(json!({"duplicate": true}))
}

impl Actor {
    /// Takes a prompt of a client.
    pub(super) async fn prompt(&mut self, call: Call) {
        let mut fields = call.fields.clone();
        let given = fields.get("messageId").and_then(|id| id.to::<String>().ok()).filter(|id| !id.is_empty());
        let message_id = given.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        fields.insert("messageId", Value::from(message_id.as_str()));
        if fields.get("queuePlacement").is_none() {
            fields.insert("queuePlacement", Value::from("end_of_turn"));
        }
        for name in ["sessionId", "token"] {
            fields.remove(name);
        }
        let request_id = call.request.id.as_str().unwrap_or_default().to_owned();
        let meta = call.request.envelope.meta.clone();
        let stored =
            StoredPrompt { request_id: request_id.clone(), params: fields.clone(), meta: meta.clone() };
        let request = serde_json::to_string(&stored).unwrap_or_default();
        let queued = QueuedPrompt { message_id: message_id.clone(), request };
        match self.hub.options.shared.accept(&self.id, &queued) {
            Ok(Receipt::New) => {}
            Ok(Receipt::Duplicate) => {
                self.hub.metrics.duplicate_prompts.add(1);
                return self.prompt_again(&message_id, call.caller());
            }
            Err(failure) => {
                let refusal = error::internal(format!("cannot store the prompt: {failure}"));
                return super::refuse(&call, refusal);
            }
        }
        self.hub.metrics.prompts.add(1);
        let callers = vec![call.caller()];
        self.prompts.push_back(Prompt { message_id, request_id, fields, meta, callers, attempts: 0 });
        self.ensure_agent();
        self.deliver().await;
    }

    /// A client has sent a prompt again. If its acknowledgement is not certain yet, the client waits for it with the first one.
    fn prompt_again(&mut self, message_id: &str, caller: Caller) {
        let sent = self.calls.values_mut().filter_map(|waiting| match waiting {
            Waiting::Prompt(prompt) => Some(prompt),
            _ => None,
        });
        let uncertain = self.prompts.iter_mut().chain(sent).find(|prompt| prompt.message_id == message_id);
        match uncertain {
            // without clients that wait, it is acknowledged
            Some(prompt) if !prompt.callers.is_empty() && prompt.callers.len() < MAX_CALLERS => {
                prompt.callers.push(caller);
            }
            _ => caller.respond(Ok(duplicate())),
        }
    }

    /// Finds the prompts that a former task or daemon has accepted, and opens the agent for them.
    pub(super) fn restore_prompts(&mut self) {
        let waiting = match self.hub.options.shared.waiting(&self.id) {
            Ok(waiting) => waiting,
            Err(failure) => {
                return tracing::error!(error = %failure.with_causes(), session = %self.id, "cannot read waiting prompts");
            }
        };
        for queued in waiting {
            if let Some(prompt) = Prompt::restored(queued) {
                self.prompts.push_back(prompt);
            } else {
                tracing::warn!(session = %self.id, "skipped a damaged prompt");
            }
        }
        if !self.prompts.is_empty() {
            self.ensure_agent();
        }
    }

    /// Returns the ids of prompts that a former agent may have begun.
    pub(super) fn restored_prompts(&self) -> Vec<String> {
        let restored = self.prompts.iter().filter(|prompt| prompt.callers.is_empty());
        restored.map(|prompt| prompt.message_id.clone()).collect()
    }

    /// The agent has loaded the session: prompts that it has already must not be delivered again.
    pub(super) fn forget_delivered(&mut self, loaded: &Json) {
        if self.prompts.is_empty() {
            return;
        }
        let loaded = loaded.to_value().unwrap_or_default();
        let ids = |list: &Value, key: &str| -> Vec<String> {
            let items = list.as_array().into_iter().flatten();
            items.filter_map(|item| item[key].as_str().map(str::to_owned)).collect()
        };
        let begun = ids(&loaded["session"]["messages"], "id");
        let mut known = begun.clone();
        known.extend(ids(&loaded["queuedMessages"], "messageId"));
        let (delivered, waiting): (VecDeque<Prompt>, VecDeque<Prompt>) = std::mem::take(&mut self.prompts)
            .into_iter()
            .partition(|prompt| known.contains(&prompt.message_id));
        self.prompts = waiting;
        for mut prompt in delivered {
            if begun.contains(&prompt.message_id) {
                self.note_delivered(&prompt.message_id);
            } else {
                let agent_id = prompt.request_id.clone();
                self.acknowledge(&prompt, agent_id);
            }
            prompt.answer(&Ok(Json::empty_object()));
        }
    }

    /// The agent has a prompt, which stays on disk until its turn begins: until then it may be lost with the agent's queue.
    fn acknowledge(&mut self, prompt: &Prompt, agent_id: String) {
        let (message_id, attempts) = (prompt.message_id.clone(), prompt.attempts);
        self.acknowledged.push(Acknowledged { message_id, agent_id, attempts });
    }

    /// A message of the session: if it is a prompt, the agent has begun with it.
    pub(super) fn message_created(&mut self, line: &str) {
        #[derive(Deserialize)]
        struct Line<'a> {
            #[serde(borrow)]
            message: Message<'a>,
        }
        #[derive(Deserialize)]
        struct Message<'a> {
            #[serde(borrow)]
            id: Cow<'a, str>,
        }
        if self.acknowledged.is_empty() {
            return;
        }
        if let Ok(Line { message: Message { id } }) = serde_json::from_str(line) {
            self.prompt_begun(&id);
        }
    }

    /// The end of a turn: its prompt was begun, also if the agent does not say which one it was.
    pub(super) fn turn_completed(&mut self, line: &str) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Line<'a> {
            #[serde(borrow, default)]
            turn_id: Option<Cow<'a, str>>,
        }
        match serde_json::from_str(line) {
            Ok(Line { turn_id: Some(id) }) => self.prompt_begun(&id),
            // an agent that does not repeat ids runs prompts in their order
            _ => self.first_prompt_begun(),
        }
    }

    /// The agent has begun with the oldest prompt that it has.
    fn first_prompt_begun(&mut self) {
        if let Some(first) = self.acknowledged.first() {
            let id = first.message_id.clone();
            self.prompt_begun(&id);
        }
    }

    fn prompt_begun(&mut self, message_id: &str) {
        let Some(at) = self.acknowledged.iter().position(|it| it.message_id == message_id) else { return };
        self.acknowledged.remove(at);
        self.turn_prompt = TurnPrompt::Begun;
        self.note_delivered(message_id);
    }

    /// A turn has started.
    pub(super) fn turn_begins(&mut self) {
        let is_sent = self.calls.values().any(|waiting| matches!(waiting, Waiting::Prompt(_)));
        if self.turn_prompt == TurnPrompt::None && (is_sent || !self.acknowledged.is_empty()) {
            self.turn_prompt = TurnPrompt::Expected;
        }
    }

    /// The agent has discarded prompts that waited: this one, or all of them.
    pub(super) fn prompts_discarded(&mut self, agent_id: Option<&str>) {
        let is_known = |it: &Acknowledged| agent_id.is_none_or(|id| it.agent_id == id);
        let (discarded, others) = std::mem::take(&mut self.acknowledged).into_iter().partition(is_known);
        self.acknowledged = others;
        let discarded: Vec<Acknowledged> = discarded;
        for prompt in discarded {
            self.note_delivered(&prompt.message_id);
        }
    }

    /// Delivers the prompts that wait, when the agent is ready and a turn may run.
    pub(super) async fn deliver(&mut self) {
        if !self.is_ready() || self.prompts.is_empty() || self.is_stopping {
            return;
        }
        if self.hub.is_paused() {
            // they are on disk, and the next daemon delivers them
            for prompt in &mut self.prompts {
                prompt.answer(&Ok(Json::empty_object()));
            }
            return;
        }
        if self.turn.is_none() {
            match Arc::clone(&self.hub.turns).try_acquire_owned() {
                Ok(permit) if self.turn_wait.is_none() => self.turn = Some(permit),
                _ => return self.await_turn(),
            }
        }
        if let Some(refusal) = self.over_budget() {
            return self.refuse_prompts(&refusal);
        }
        while let Some(mut prompt) = self.prompts.pop_front() {
            prompt.attempts += 1;
            // a prompt that waits behind a turn begins later
            if !self.shared.info().is_working() {
                self.delivered_at = Some(Instant::now());
            }
            let mut call = AgentCall::new("droid.add_user_message", &prompt.fields);
            call.meta.clone_from(&prompt.meta);
            call.id = Some(prompt.request_id.clone()).filter(|id| !id.is_empty());
            self.send_call(call, Waiting::Prompt(prompt)).await;
        }
    }

    /// The budget is exhausted: prompts do not run, and their clients get the reason.
    fn refuse_prompts(&mut self, refusal: &RpcError) {
        for mut prompt in std::mem::take(&mut self.prompts) {
            if prompt.callers.is_empty() {
                // it was acknowledged: the session says why it does not run
                let notice = json!({"type": "error", "message": refusal.message, "errorType": "BudgetError"});
                self.publish(&[&notice.to_string()]);
            }
            self.prompt_rejected(&prompt);
            prompt.answer(&Err(refusal.clone()));
        }
        if !self.shared.info().is_working() {
            self.end_turn();
        }
    }

    /// Waits for the right to run a turn. The clients need not: their prompts are on disk.
    fn await_turn(&mut self) {
        for prompt in &mut self.prompts {
            prompt.answer(&Ok(Json::empty_object()));
        }
        if self.turn_wait.is_none() {
            let turns = Arc::clone(&self.hub.turns);
            self.turn_wait = Some(tokio::spawn(async move { turns.acquire_owned().await.ok() }));
        }
    }

    pub(super) async fn turn_granted(&mut self, permit: Option<OwnedSemaphorePermit>) {
        if self.prompts.is_empty() || self.hub.is_paused() {
            return;
        }
        self.turn = permit;
        self.deliver().await;
    }

    /// A turn has ended: another session may run one.
    pub(super) fn end_turn(&mut self) {
        if let Some(started) = self.turn_started.take() {
            self.hub.metrics.turn_ended(started.elapsed());
            if self.hub.options.continues_turns {
                self.hub.questions.turn_is_over(&self.id);
            }
        }
        self.turn_prompt = TurnPrompt::None;
        self.delivered_at = None;
        let is_pending = self.calls.values().any(|waiting| matches!(waiting, Waiting::Prompt(_)));
        if !is_pending {
            self.turn = None;
            self.hub.turns_changed.notify_waiters();
        }
        self.idle_since = Instant::now();
    }

    /// The agent has answered a prompt.
    pub(super) fn prompt_answered(
        &mut self,
        prompt: &Prompt,
        agent_id: &str,
        outcome: &Result<Json, RpcError>,
    ) {
        if outcome.is_ok() {
            return self.acknowledge(prompt, agent_id.to_owned());
        }
        self.prompt_rejected(prompt);
    }

    /// A prompt does not run, and its id can be used again.
    fn prompt_rejected(&mut self, prompt: &Prompt) {
        if let Err(failure) = self.hub.options.shared.rejected(&self.id, &prompt.message_id) {
            tracing::error!(error = %failure.with_causes(), "a rejected prompt stays in the queue");
        }
        if !self.shared.info().is_working() {
            self.end_turn();
        }
    }

    fn note_delivered(&self, message_id: &str) {
        if let Err(failure) = self.hub.options.shared.delivered(&self.id, message_id) {
            // found among the messages of the session when it is loaded again
            tracing::error!(error = %failure.with_causes(), "a delivered prompt stays in the queue");
        }
    }

    /// The agent is gone, and with it the prompts that it had not begun: they wait again, in the order in which they were accepted.
    ///
    /// `sent` was not acknowledged: the agent may have it, which shows when the session is loaded.
    pub(super) fn requeue_prompts(&mut self, sent: Vec<Prompt>, was_working: bool, refusal: &RpcError) {
        if was_working && self.turn_prompt == TurnPrompt::Expected {
            // its turn ran, although the agent did not say so: again would be twice
            self.first_prompt_begun();
        }
        let lost = std::mem::take(&mut self.acknowledged);
        let mut known: HashMap<String, Prompt> = sent
            .into_iter()
            .chain(std::mem::take(&mut self.prompts))
            .map(|prompt| (prompt.message_id.clone(), prompt))
            .collect();
        let waiting = match self.hub.options.shared.waiting(&self.id) {
            Ok(waiting) => waiting,
            Err(failure) => {
                // what clients wait for must be answered; the rest is on disk
                tracing::error!(error = %failure.with_causes(), session = %self.id, "cannot read waiting prompts");
                let known = known.into_values();
                known.for_each(|mut prompt| prompt.answer(&Err(refusal.clone())));
                return;
            }
        };
        for queued in waiting {
            let attempts = lost.iter().find(|it| it.message_id == queued.message_id).map(|it| it.attempts);
            let prompt = match known.remove(&queued.message_id) {
                Some(prompt) => Some(prompt),
                None => Prompt::restored(queued),
            };
            let Some(mut prompt) = prompt else { continue };
            prompt.attempts = attempts.unwrap_or(prompt.attempts);
            if prompt.attempts < MAX_ATTEMPTS {
                self.prompts.push_back(prompt);
            } else if attempts.is_some() {
                tracing::warn!(session = %self.id, "an accepted prompt waits until the session is opened again");
            } else {
                self.prompt_rejected(&prompt);
                prompt.answer(&Err(refusal.clone()));
            }
        }
    }

    /// The session cannot be opened: prompts whose clients wait are refused. Those that were acknowledged stay on disk for the next try.
    pub(super) fn reject_prompts(&mut self, refusal: &RpcError) {
        for mut prompt in std::mem::take(&mut self.prompts) {
            if prompt.callers.is_empty() {
                tracing::warn!(session = %self.id, %refusal, "an accepted prompt waits until the session can be opened");
            } else {
                self.prompt_rejected(&prompt);
                prompt.answer(&Err(refusal.clone()));
            }
        }
    }
}
