//! The messages of the agent: notifications go to the journal, responses to their callers, questions to the inbox.

use std::collections::VecDeque;

use musher_wire::{Frame, Id, Json, Notification, Request, Response, RpcError};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::IDLE;
use super::actor::{Actor, Agent, Waiting};
use crate::daemon::hub::now_ms;
use crate::daemon::questions::{self, Body, Question};
use crate::daemon::rewrite::{self, Payload};

impl Actor {
    /// Handles messages of the agent in order. Notifications are written together as far as nothing else comes between them.
    pub(super) async fn agent_frames(&mut self, frames: &mut VecDeque<Frame>) {
        let mut lines: Vec<String> = Vec::new();
        while let Some(frame) = frames.pop_front() {
            match frame {
                Frame::Notification(notification) => {
                    let Some(line) = self.notification(&notification) else { continue };
                    let usage = line.contains("\"session_token_usage_changed\"").then(|| line.clone());
                    lines.push(line);
                    if let Some(usage) = usage {
                        self.write(&mut lines);
                        self.usage_changed(&usage).await;
                    }
                }
                other => {
                    self.write(&mut lines);
                    match other {
                        Frame::Response(response) => self.response(response).await,
                        Frame::Request(request) => self.question(request).await,
                        Frame::Malformed(malformed) => {
                            tracing::warn!(session = %self.id, reason = %malformed.reason, "the agent sent what is not a message");
                        }
                        Frame::Notification(_) => {}
                    }
                }
            }
        }
        self.write(&mut lines);
        self.deliver().await;
    }

    fn write(&mut self, lines: &mut Vec<String>) {
        let payloads: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.publish(&payloads);
        lines.clear();
    }

    /// Reads what the daemon has to know, and returns the line for the journal.
    fn notification(&mut self, notification: &Notification) -> Option<String> {
        if notification.method != "droid.session_notification" {
            tracing::debug!(method = %notification.method, "ignored a notification of the agent");
            return None;
        }
        let Payload { line, head } = rewrite::payload(notification.params.as_ref()?)?;
        // before a session is open, clients do not know it; only errors are worth keeping
        if matches!(self.agent, Agent::Opening(..)) && head.kind != "error" {
            return None;
        }
        if self.delivered_at.is_some()
            && head.kind.ends_with("_delta")
            && let Some(delivered) = self.delivered_at.take()
        {
            self.hub.metrics.first_text.observe(delivered.elapsed());
        }
        match &*head.kind {
            "droid_working_state_changed" => {
                let state = head.new_state.as_deref().unwrap_or(IDLE).to_owned();
                self.working_state(state);
                self.tell_bystanders(&line);
            }
            "session_title_updated" => {
                let title = head.title.map(std::borrow::Cow::into_owned);
                self.shared.update(|info| info.title = title);
                self.tell_bystanders(&line);
            }
            "create_message" => {
                self.shared.update(|info| info.messages += 1);
                self.message_created(&line);
            }
            // prompts that the agent leaves because the daemon stops are on disk, and run with the next daemon
            "queued_messages_discarded" if self.is_stopping => return None,
            "queued_messages_discarded" => self.prompts_discarded(head.request_id.as_deref()),
            "permission_resolved" => {
                if let Some(id) = head.request_id.as_deref() {
                    let known = self.asked_again.remove(id);
                    self.hub.questions.close(known.as_deref().unwrap_or(id));
                    if let Some(known) = known
                        && let Ok(mut value) = serde_json::from_str::<Value>(&line)
                    {
                        value["requestId"] = known.into();
                        return Some(value.to_string());
                    }
                }
            }
            "agent_turn_completed" => {
                self.turn_completed(&line);
                self.count_tokens(&line);
                self.turn_spent(&line);
            }
            _ => {}
        }
        Some(line.into_owned())
    }

    fn working_state(&mut self, state: String) {
        let is_idle = state == IDLE;
        self.shared.update(|info| info.state = state);
        if !is_idle {
            if self.turn_started.is_none() {
                self.turn_started = Some(Instant::now());
                self.turn_begins();
                if self.hub.options.continues_turns {
                    self.hub.questions.turn_runs(&self.id);
                }
                self.hub.metrics.turns_started.add(1);
            }
            return;
        }
        self.end_turn();
        self.early_answers.clear();
        self.asked_again.clear();
        // what the turn asked needs no answer any more; subagents in the background still ask
        for question in self.hub.questions.of_session(&self.id) {
            if question.subagent().is_none() {
                self.hub.questions.close(&question.id);
            }
        }
    }

    fn count_tokens(&self, line: &str) {
        let Ok(value) = serde_json::from_str::<Value>(line) else { return };
        let tokens = |name: &str| value["tokenUsage"][name].as_u64().unwrap_or_default();
        self.hub.metrics.input_tokens.add(tokens("inputTokens"));
        self.hub.metrics.output_tokens.add(tokens("outputTokens"));
    }

    async fn response(&mut self, response: Response) {
        let id = response.id.as_str().unwrap_or_default();
        let Some(waiting) = self.calls.remove(id) else {
            tracing::debug!(session = %self.id, id = %response.id, "ignored a response of the agent");
            return;
        };
        match waiting {
            Waiting::Call(caller, reply) => {
                Box::pin(self.call_answered(caller, reply, response.outcome)).await;
            }
            Waiting::Load => match response.outcome {
                Ok(result) => {
                    self.learn(&result);
                    self.learn_spending(&result, false);
                    self.forget_delivered(&result);
                    Box::pin(self.ready()).await;
                }
                Err(refusal) => {
                    let refusal = self.refusal(refusal);
                    self.open_failed(None, &refusal);
                }
            },
            Waiting::Prompt(mut prompt) => {
                self.prompt_answered(&prompt, id, &response.outcome);
                for (caller, outcome) in prompt.take_answers(&response.outcome) {
                    self.hub.metrics.calls.observe(caller.since.elapsed());
                    self.respond(&caller, outcome);
                }
            }
            Waiting::Ignored => {}
        }
    }

    /// A request of the agent: a question for a person, or nothing that the daemon knows.
    async fn question(&mut self, request: Request) {
        if !Question::is_known(&request.method) {
            let refusal = RpcError::new(
                RpcError::METHOD_NOT_FOUND,
                format!("the daemon does not support `{}`", request.method),
            );
            return self.send_to_agent(Frame::Response(Response::new(request.id, Err(refusal)))).await;
        }
        let Id::Text(id) = &request.id else {
            tracing::warn!(session = %self.id, "ignored a question without a text as its id");
            return;
        };
        let info = self.shared.info();
        let mut question = Question {
            id: id.to_string(),
            agent_id: Some(id.to_string()),
            session: self.id.clone(),
            body: Body {
                method: request.method.into_owned(),
                params: request.params.unwrap_or_else(Json::empty_object),
                created_at: now_ms(),
                cwd: info.cwd,
                title: info.title,
            },
        };
        let calls = question.calls();
        if let Some(at) = self.early_answers.iter().position(|(former, _)| former.calls() == calls) {
            let (former, outcome) = self.early_answers.remove(at);
            self.asked_again.insert(question.id.clone(), former.id);
            return self.send_to_agent(questions::answer(&question.id, outcome)).await;
        }
        if let Some(former) = self.hub.questions.former(&question) {
            // clients know it under the id of the former daemon
            self.asked_again.insert(question.id.clone(), former.id.clone());
            question.id = former.id;
            question.body.created_at = former.body.created_at;
        }
        let frame = question.frame();
        self.hub.questions.put(question);
        self.hub.turns_changed.notify_waiters();
        self.shared.send_to_all(&frame);
    }

    /// A former daemon may have been killed during a turn: then the journal does not end with an idle session.
    pub(super) fn report_interrupted_turn(&mut self) {
        let last = self.shared.topic.last();
        let (mut state, mut turn) = (None, None);
        let mut step = 256;
        // backwards in growing steps, until a state is found
        while state.is_none() && last > 0 {
            let after = last.saturating_sub(step);
            let mut position = after;
            while let Ok(events) = self.shared.topic.read(position, 1024 * 1024)
                && let Some(newest) = events.last()
            {
                position = newest.sequence;
                for event in &events {
                    let Ok(value) = serde_json::from_str::<Value>(&event.payload) else { continue };
                    match value["type"].as_str() {
                        Some("droid_working_state_changed") => {
                            state = value["newState"].as_str().map(str::to_owned);
                        }
                        Some("create_message") if value["message"]["role"] == "user" => {
                            turn = value["message"]["id"].as_str().map(str::to_owned);
                        }
                        Some("session_closed" | "session_process_exited") => state = Some(IDLE.to_owned()),
                        _ => {}
                    }
                }
            }
            if after == 0 {
                break;
            }
            step *= 8;
        }
        // whatever a former agent has asked, it is gone; the next one may ask again
        for question in self.hub.questions.of_session(&self.id) {
            if !question.may_return() || !self.hub.options.agents.continues_turns() {
                self.hub.questions.close(&question.id);
            }
        }
        if state.is_none_or(|state| state == IDLE) {
            return;
        }
        tracing::info!(session = %self.id, "a former daemon has ended during a turn");
        self.shared.update(|info| "interrupted".clone_into(&mut info.state));
        let mut completed = json!({"type": "agent_turn_completed", "reason": "process_exit"});
        if let Some(turn) = turn {
            completed["turnId"] = turn.into();
        }
        if let Err(failure) = self.shared.topic.publish(&[&completed.to_string()]) {
            tracing::error!(error = %failure.with_causes(), session = %self.id, "cannot report an interrupted turn");
        }
        self.was_interrupted = true;
        super::report_end(&self.hub, &self.id, &self.shared, "The daemon ended during this turn");
    }
}
