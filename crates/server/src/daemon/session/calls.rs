//! The calls of clients: which ones the agent answers, and what the daemon adds.

use std::time::Duration;

use musher_wire::{Extra, Frame, Json, Response, RpcError};
use serde_json::{Value, json};

use super::actor::{Actor, Agent, AgentCall, Reply, Waiting};
use super::{Call, Caller, Control, refuse};
use crate::daemon::error;
use crate::daemon::params;
use crate::daemon::questions;

/// The calls that go to the agent of a session.
pub(crate) const FORWARDED: &[&str] = &[
    "daemon.update_session_settings",
    "daemon.fork_session",
    "daemon.compact_session",
    "daemon.rename_session",
    "daemon.kill_worker_session",
    "daemon.get_rewind_info",
    "daemon.execute_rewind",
    "daemon.get_context_breakdown",
    "daemon.list_skills",
    "daemon.set_skill_disabled",
    "daemon.list_commands",
    "daemon.list_mcp_servers",
    "daemon.list_mcp_tools",
    "daemon.list_mcp_registry",
    "daemon.add_mcp_server",
    "daemon.remove_mcp_server",
    "daemon.toggle_mcp_server",
    "daemon.toggle_mcp_tool",
    "daemon.authenticate_mcp_server",
    "daemon.cancel_mcp_auth",
    "daemon.clear_mcp_auth",
    "daemon.submit_mcp_auth_code",
];

/// The fields with which a client has opened a session that the next agent needs, too.
const ATTACHED: [&str; 9] = [
    "mcpServers",
    "skipPermissionsUnsafe",
    "autoRejectPermissionRequests",
    "disableBuiltinSkills",
    "additionalDirectories",
    "enabledToolIds",
    "disabledToolIds",
    "additionalToolIds",
    "restrictToolIds",
];

impl Actor {
    pub(super) async fn control(&mut self, control: Control) {
        match control {
            Control::Answer { id, outcome, reply } => self.answer(&id, outcome, reply).await,
            Control::Interrupt(call) => self.interrupt(call).await,
            Control::Wake => {
                self.ensure_agent();
                self.deliver().await;
            }
            Control::Look | Control::Stop => {}
            #[cfg(test)]
            Control::Panic => panic!("a bug in the task of a session"),
        }
    }

    /// An answer to a question: the first one counts.
    async fn answer(&mut self, id: &str, outcome: Result<Json, RpcError>, reply: Option<Caller>) {
        let question = self.hub.questions.close(id);
        let is_first = question.is_some();
        if let Some(reply) = reply {
            reply.respond(Ok(Json::from(json!({"accepted": is_first}))));
        }
        let Some(question) = question else { return };
        let is_permission = question.is_permission();
        if let Some(agent_id) = &question.agent_id {
            self.send_to_agent(questions::answer(agent_id, outcome)).await;
        } else {
            // the agent is gone with a former daemon: it gets the answer when it asks again
            self.early_answers.push((question, outcome));
            self.ensure_agent();
        }
        if !is_permission {
            // the agent announces the decision about a permission, but not that it got an answer
            let notice = json!({"type": "ask_user_resolved", "requestId": id}).to_string();
            self.publish(&[&notice]);
        }
    }

    async fn interrupt(&mut self, call: Call) {
        if !self.is_ready() {
            return refuse(&call, error::not_open());
        }
        self.forward(call, Reply::Plain).await;
    }

    /// Takes a call of a client.
    pub(super) async fn call(&mut self, call: Call) {
        match &*call.request.method {
            "daemon.initialize_session" => self.initialize(call).await,
            "daemon.close_session" => self.close(call).await,
            "daemon.add_user_message" => self.prompt(call).await,
            "daemon.load_session" => self.load_session(call).await,
            _ if self.is_ready() => self.forward(call, Reply::Plain).await,
            _ => self.defer(call),
        }
    }

    fn defer(&mut self, call: Call) {
        self.ensure_agent();
        self.deferred.push_back(call);
    }

    async fn forward(&mut self, call: Call, reply: Reply) {
        let caller = call.caller();
        let keeps_session = matches!(reply, Reply::Loaded { .. } | Reply::Initialized | Reply::Reopened)
            || matches!(&*call.request.method, "daemon.get_rewind_info" | "daemon.execute_rewind");
        let call = AgentCall {
            id: call.request.id.as_str().map(str::to_owned),
            method: call.request.method.into_owned(),
            fields: call.fields,
            meta: call.request.envelope.meta,
            keeps_session,
        };
        self.send_call(call, Waiting::Call(caller, reply)).await;
    }

    /// Creates the session, or loads it if it is open already.
    async fn initialize(&mut self, mut call: Call) {
        self.remember(&call.fields);
        match &self.agent {
            Agent::Absent => self.start_agent(Some(call)),
            Agent::Ready(_) => {
                // as the real daemon: the id is taken by this session, and its client gets it
                call.request.method = "daemon.load_session".into();
                self.forward(call, Reply::Reopened).await;
            }
            Agent::Starting(..) | Agent::Opening(..) => self.deferred.push_back(call),
        }
    }

    async fn load_session(&mut self, call: Call) {
        let after = match params::optional::<u64>(&call.fields, "afterSequence", "number") {
            Ok(after) => after,
            Err(problem) => return refuse(&call, problem),
        };
        match &self.agent {
            Agent::Ready(_) => self.forward(call, Reply::Loaded { after }).await,
            Agent::Absent => {
                self.remember(&call.fields);
                self.start_agent(Some(call));
            }
            Agent::Starting(..) | Agent::Opening(..) => self.deferred.push_back(call),
        }
    }

    /// Returns which turn of a former daemon the agent continues when it opens the session: any if questions of it wait, or if turns are to
    /// continue; otherwise only one for a prompt that was acknowledged, and of which no client has seen anything.
    pub(super) fn continues_turn(&self, is_asked_for: bool) -> Option<Value> {
        let has_former = || self.hub.questions.of_session(&self.id).iter().any(|it| it.agent_id.is_none());
        let prompts = self.restored_prompts();
        let continues = is_asked_for || self.hub.options.continues_turns;
        if continues && (self.was_interrupted || !prompts.is_empty())
            || !self.early_answers.is_empty()
            || has_former()
        {
            return Some(true.into());
        }
        (!prompts.is_empty()).then(|| prompts.into())
    }

    /// The agent was started for this call, which opens the session.
    pub(super) async fn open_with(&mut self, mut call: Call) {
        let asks = call.fields.get("resumeTurn").is_some_and(|it| it.text() == "true");
        if call.request.method == "daemon.load_session"
            && let Some(which) = self.continues_turn(asks)
        {
            call.fields.insert("musher.continueTurn", which);
        }
        let reply = if call.request.method == "daemon.load_session" {
            Reply::Loaded { after: call.fields.get("afterSequence").and_then(|after| after.to().ok()) }
        } else {
            Reply::Initialized
        };
        self.forward(call, reply).await;
    }

    /// Closes the session: its agent ends, the next message revives it.
    async fn close(&mut self, mut call: Call) {
        match &self.agent {
            Agent::Absent => call.caller().respond(Ok(Json::empty_object())),
            Agent::Starting(..) | Agent::Opening(..) => self.deferred.push_back(call),
            Agent::Ready(_) => {
                if call.fields.get("reason").is_none() {
                    call.fields.insert("reason", Value::from("other"));
                }
                self.forward(call, Reply::Closed).await;
            }
        }
    }

    /// Keeps what the next agent of the session needs.
    fn remember(&mut self, fields: &Extra) {
        let mut attach = Extra::default();
        for (name, value) in fields.iter().filter(|(name, _)| ATTACHED.contains(name)) {
            attach.insert(name, value.clone());
        }
        self.attach = attach;
        if let Some(Ok(milliseconds)) = fields.get("inactivityTimeoutMs").map(Json::to::<u64>) {
            self.idle_timeout = Some(Duration::from_millis(milliseconds));
        }
        if fields.get("disableInactivityTimeout").is_some_and(|it| it.text() == "true") {
            self.idle_timeout = None;
        }
        self.worktree = fields.get("worktree").cloned().or(self.worktree.take());
        if let Some(Ok(cwd)) = fields.get("cwd").map(Json::to::<String>) {
            let tags = fields.get("tags").cloned();
            self.shared.update(|info| {
                info.cwd = Some(cwd);
                info.tags = tags;
            });
        }
    }

    /// Responds to a client after the events that came before the response.
    pub(super) fn respond(&self, caller: &Caller, outcome: Result<Json, RpcError>) {
        let response = Frame::Response(Response::new(caller.id.clone(), outcome));
        if let Err(response) = self.shared.send_in_order(caller.client.id, response) {
            caller.client.respond(response);
        }
    }

    /// The agent has answered a client's call.
    pub(super) async fn call_answered(
        &mut self,
        caller: Caller,
        reply: Reply,
        outcome: Result<Json, RpcError>,
    ) {
        self.hub.metrics.calls.observe(caller.since.elapsed());
        let is_opening = matches!(self.agent, Agent::Opening(..));
        match (reply, outcome) {
            (Reply::Initialized | Reply::Reopened, Ok(mut result)) => {
                if reply == Reply::Reopened {
                    result = Self::only(&result, &["session", "settings", "availableModels"]);
                }
                let mut fields = vec![
                    ("sessionId", Value::from(self.id.as_str())),
                    ("hostId", self.hub.options.host_id.as_str().into()),
                    ("lastSequence", self.shared.topic.last().into()),
                ];
                if let Some(worktree) = self.worktree.as_ref().and_then(|it| it.to_value().ok()) {
                    fields.push(("worktree", worktree));
                }
                self.learn(&result);
                self.learn_spending(&result, reply == Reply::Initialized);
                self.follow(&caller, None, &Self::with_fields(&result, &fields));
                if is_opening {
                    self.ready().await;
                }
            }
            (Reply::Loaded { after }, Ok(result)) => {
                self.learn(&result);
                self.learn_spending(&result, false);
                self.loaded(&caller, after, &result);
                if is_opening {
                    self.forget_delivered(&result);
                    self.ready().await;
                }
            }
            (Reply::Initialized | Reply::Reopened | Reply::Loaded { .. }, Err(refusal)) => {
                let refusal = self.refusal(refusal);
                self.respond(&caller, Err(refusal.clone()));
                if is_opening {
                    self.open_failed(None, &refusal);
                }
            }
            (Reply::Closed, Ok(_)) => {
                let was_working = self.shared.info().is_working();
                self.close_is_done();
                self.await_end().await;
                // the next message opens the session for them, too
                self.requeue_prompts(Vec::new(), was_working, &error::internal("the session is closed"));
                self.end_turn();
                // after the agent has ended: nothing of the session runs any more
                self.respond(&caller, Ok(Json::empty_object()));
            }
            (_, outcome) => self.respond(&caller, outcome),
        }
    }

    /// Answers `load_session`, and sends what the client has missed.
    fn loaded(&mut self, caller: &Caller, after: Option<u64>, result: &Json) {
        let topic = &self.shared.topic;
        let (first, last) = (topic.first(), topic.last());
        let questions = self.hub.questions.of_session(&self.id);
        let (permissions, asks): (Vec<_>, Vec<_>) = questions.iter().partition(|it| it.is_permission());
        let pending = |list: &[&questions::Question]| {
            Value::from(list.iter().map(|it| it.pending()).collect::<Vec<_>>())
        };
        let mut fields = vec![
            ("sessionId", Value::from(self.id.as_str())),
            ("hostId", self.hub.options.host_id.as_str().into()),
            ("lastSequence", last.into()),
        ];
        if !permissions.is_empty() {
            fields.push(("pendingPermissions", pending(&permissions)));
        }
        if !asks.is_empty() {
            fields.push(("pendingAskUserRequests", pending(&asks)));
        }
        let oldest = first.saturating_sub(1);
        if let Some(after) = after
            && after < oldest
        {
            fields.push(("missedEvents", (oldest - after).into()));
        }
        let after = after.map(|after| after.clamp(oldest, last.max(oldest)).min(last));
        self.follow(caller, after, &Self::with_fields(result, &fields));
        for question in &questions {
            self.shared.send_in_order(caller.client.id, question.frame()).ok();
        }
    }

    /// Returns the result of a call with these fields only.
    fn only(result: &Json, names: &[&str]) -> Json {
        let mut fields = Extra::default();
        for (name, value) in result.to::<Extra>().unwrap_or_default().iter() {
            if names.contains(&name) {
                fields.insert(name, value.clone());
            }
        }
        Json::new(&fields).unwrap_or_else(|_| Json::empty_object())
    }

    fn follow(&self, caller: &Caller, after: Option<u64>, result: &Json) {
        let after = after.unwrap_or_else(|| self.shared.topic.last());
        let response = Frame::Response(Response::new(caller.id.clone(), Ok(result.clone())));
        self.shared.follow(&caller.client, after, response);
    }

    /// Reads what lists show from the answer of the agent.
    pub(super) fn learn(&self, result: &Json) {
        let Ok(value) = result.to_value() else { return };
        self.shared.update(|info| {
            if let Some(cwd) = value["cwd"].as_str() {
                info.cwd = Some(cwd.to_owned());
            }
            if let Some(title) = value["session"]["title"].as_str() {
                info.title = Some(title.to_owned());
            }
            if let Some(messages) = value["session"]["messages"].as_array() {
                info.messages = messages.len() as u64;
            }
            if let Some(state) = value["workingState"].as_str() {
                state.clone_into(&mut info.state);
            }
        });
    }

    /// Records that the session is closed.
    pub(super) fn close_is_done(&mut self) {
        for question in self.hub.questions.of_session(&self.id) {
            self.hub.questions.close(&question.id);
        }
        let was_working = self.shared.info().is_working();
        self.shared.update(|info| super::IDLE.clone_into(&mut info.state));
        let notice = json!({"type": "session_closed", "timestamp": crate::daemon::hub::now_ms()}).to_string();
        if let Err(failure) = self.shared.topic.publish(&[&notice]) {
            tracing::error!(error = %failure.with_causes(), session = %self.id, "cannot record that a session is closed");
        }
        if was_working {
            let idle = json!({"type": "droid_working_state_changed", "newState": super::IDLE});
            self.tell_bystanders(&idle.to_string());
        }
    }

    /// Returns an error of the agent, as clients of a daemon know it.
    pub(super) fn refusal(&self, mut refusal: RpcError) -> RpcError {
        if refusal.code == RpcError::NOT_FOUND {
            refusal.message = error::no_session(self.id.as_str()).message;
        }
        refusal
    }
}
