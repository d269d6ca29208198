//! Prompts: on disk before they are acknowledged, delivered once, in order, when a turn may run.

use std::collections::VecDeque;
use std::sync::Arc;

use musher_engine::store::shared::{QueuedPrompt, Receipt};
use musher_wire::{Extra, Json, RpcError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::actor::{Actor, Waiting};
use super::{Call, Caller};
use crate::daemon::error;

/// How often a prompt is delivered to an agent that ends before it acknowledges it.
const MAX_ATTEMPTS: u32 = 2;

/// A prompt that is on disk.
pub(super) struct Prompt {
    message_id: String,
    /// The id of the client's request, which clients see in notifications.
    request_id: String,
    fields: Extra,
    /// The client that waits for the acknowledgement.
    caller: Option<Caller>,
    attempts: u32,
}

/// A prompt as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredPrompt {
    request_id: String,
    params: Extra,
}

impl Prompt {
    /// Answers the client that waits, once.
    pub(super) fn answer(&mut self, outcome: Result<Json, RpcError>) {
        if let Some(caller) = self.caller.take() {
            caller.respond(outcome);
        }
    }

    pub(super) fn take_caller(&mut self) -> Option<Caller> {
        self.caller.take()
    }
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
        let stored = StoredPrompt { request_id: request_id.clone(), params: fields.clone() };
        let request = serde_json::to_string(&stored).unwrap_or_default();
        let queued = QueuedPrompt { message_id: message_id.clone(), request };
        match self.hub.options.shared.accept(&self.id, &queued) {
            Ok(Receipt::New) => {}
            Ok(Receipt::Duplicate) => {
                self.hub.metrics.duplicate_prompts.add(1);
                return call.caller().respond(Ok(Json::from(json!({"duplicate": true}))));
            }
            Err(failure) => {
                let refusal = error::internal(format!("cannot store the prompt: {failure}"));
                return super::refuse(&call, refusal);
            }
        }
        self.hub.metrics.prompts.add(1);
        let caller = Some(call.caller());
        self.prompts.push_back(Prompt { message_id, request_id, fields, caller, attempts: 0 });
        self.ensure_agent();
        self.deliver().await;
    }

    /// Finds the prompts that a former task or daemon has accepted, and opens the agent for them.
    pub(super) fn restore_prompts(&mut self) {
        let waiting = match self.hub.options.shared.waiting(&self.id) {
            Ok(waiting) => waiting,
            Err(failure) => {
                return tracing::error!(error = %failure, session = %self.id, "cannot read waiting prompts");
            }
        };
        for queued in waiting {
            let Ok(StoredPrompt { request_id, params }) = serde_json::from_str(&queued.request) else {
                tracing::warn!(session = %self.id, "skipped a damaged prompt");
                continue;
            };
            let message_id = queued.message_id;
            self.prompts.push_back(Prompt {
                message_id,
                request_id,
                fields: params,
                caller: None,
                attempts: 0,
            });
        }
        if !self.prompts.is_empty() {
            self.ensure_agent();
        }
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
                self.acknowledged.push(prompt.message_id.clone());
            }
            prompt.answer(Ok(Json::empty_object()));
        }
    }

    /// A message or the end of a turn shows that the agent has begun with a prompt.
    pub(super) fn prompt_begun(&mut self, line: &str, is_end_of_turn: bool) {
        let found = self.acknowledged.iter().position(|id| line.contains(id.as_str()));
        // agents that do not repeat ids run prompts in their order
        let Some(at) = found.or((is_end_of_turn && !self.acknowledged.is_empty()).then_some(0)) else {
            return;
        };
        let id = self.acknowledged.remove(at);
        self.note_delivered(&id);
    }

    /// The agent has discarded the prompts that waited.
    pub(super) fn prompts_discarded(&mut self) {
        for id in std::mem::take(&mut self.acknowledged) {
            self.note_delivered(&id);
        }
    }

    /// Delivers the prompts that wait, when the agent is ready and a turn may run.
    pub(super) async fn deliver(&mut self) {
        if !self.is_ready() || self.prompts.is_empty() || self.is_stopping {
            return;
        }
        if self.turn.is_none() {
            match Arc::clone(&self.hub.turns).try_acquire_owned() {
                Ok(permit) if self.turn_wait.is_none() => self.turn = Some(permit),
                _ => return self.await_turn(),
            }
        }
        while let Some(mut prompt) = self.prompts.pop_front() {
            prompt.attempts += 1;
            let (fields, id) = (prompt.fields.clone(), prompt.request_id.clone());
            let id = Some(id.as_str()).filter(|id| !id.is_empty());
            self.send_call("droid.add_user_message", &fields, false, id, Waiting::Prompt(prompt)).await;
        }
    }

    /// Waits for the right to run a turn. The clients need not: their prompts are on disk.
    fn await_turn(&mut self) {
        for prompt in &mut self.prompts {
            prompt.answer(Ok(Json::empty_object()));
        }
        if self.turn_wait.is_none() {
            let turns = Arc::clone(&self.hub.turns);
            self.turn_wait = Some(tokio::spawn(async move { turns.acquire_owned().await.ok() }));
        }
    }

    pub(super) async fn turn_granted(&mut self, permit: Option<OwnedSemaphorePermit>) {
        if self.prompts.is_empty() {
            return;
        }
        self.turn = permit;
        self.deliver().await;
    }

    /// A turn has ended: another session may run one.
    pub(super) fn end_turn(&mut self) {
        if let Some(started) = self.turn_started.take() {
            self.hub.metrics.turn_ended(started.elapsed());
        }
        let is_pending = self.calls.values().any(|waiting| matches!(waiting, Waiting::Prompt(_)));
        if !is_pending {
            self.turn = None;
        }
        self.idle_since = Instant::now();
    }

    /// The agent has answered a prompt.
    pub(super) fn prompt_answered(&mut self, prompt: &mut Prompt, outcome: &Result<Json, RpcError>) {
        if outcome.is_ok() {
            // it stays on disk until its turn begins: until then it may be lost with the agent's queue
            return self.acknowledged.push(prompt.message_id.clone());
        }
        if let Err(failure) = self.hub.options.shared.rejected(&self.id, &prompt.message_id) {
            tracing::error!(error = %failure, "a rejected prompt stays in the queue");
        }
        if !self.shared.info().is_working() {
            self.end_turn();
        }
    }

    fn note_delivered(&self, message_id: &str) {
        if let Err(failure) = self.hub.options.shared.delivered(&self.id, message_id) {
            // found among the messages of the session when it is loaded again
            tracing::error!(error = %failure, "a delivered prompt stays in the queue");
        }
    }

    /// The agent has ended before it acknowledged these prompts: it may have them, which shows when the session is loaded.
    pub(super) fn retry_prompts(&mut self, prompts: Vec<Prompt>, refusal: &RpcError) {
        for mut prompt in prompts {
            if prompt.attempts < MAX_ATTEMPTS {
                self.prompts.push_back(prompt);
            } else {
                self.prompt_answered(&mut prompt, &Err(refusal.clone()));
                prompt.answer(Err(refusal.clone()));
            }
        }
    }

    /// The session cannot be opened: prompts whose clients wait are refused. Those that were acknowledged stay on disk for the next try.
    pub(super) fn reject_prompts(&mut self, refusal: &RpcError) {
        for mut prompt in std::mem::take(&mut self.prompts) {
            if prompt.caller.is_some() {
                self.prompt_answered(&mut prompt, &Err(refusal.clone()));
                prompt.answer(Err(refusal.clone()));
            } else {
                tracing::warn!(session = %self.id, %refusal, "an accepted prompt waits until the session can be opened");
            }
        }
    }
}
