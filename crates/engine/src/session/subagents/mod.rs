//! Subagents: agents in this process, each with its own session, started for one task by a call of `Task`.
//!
//! - `task_result` words results, `watch` turns the events of a subagent into reports; both are pure.
//! - `open` makes its session: with no more autonomy, mode, tools and servers than the session that starts it.
//! - `drive` is the task that runs it and ends it; `calls` handles calls of the `Task` tools, `reports` handles its reports.
//!
//! A subagent ends with the turn that waits for it, or with the session if it runs in the background. A subagent has no subagents.

mod calls;
mod drive;
mod open;
mod reports;
mod task_result;
mod watch;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::watch::Receiver;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::turn::message as turn_message;
use crate::command::{Reply, UserResponse};
use crate::skills::Droid;
use crate::{AgentHandle, Autonomy, Command, CommandId, Error, Mode, SessionId, SettingsChange, UserRequest};
use musher_message::{Content, Message, Role, Visibility};
use task_result::Outcome;

pub(super) use reports::SubagentReports;
pub(crate) use watch::SubagentReport;

/// The prefix of the id of a message with the result of a background subagent. Clients know it.
pub(crate) const COMPLETION: &str = "task-completion:";

/// The maximum number of ended subagents that are remembered.
const MAX_REMEMBERED: usize = 64;

/// What makes a session a subagent of another.
#[derive(Debug, Clone)]
pub(crate) struct Subagent {
    /// What it may use.
    pub(crate) droid: Droid,
}

/// The subagents of a session, and their requests to the user.
#[derive(Debug, Default)]
pub(crate) struct Subagents {
    workers: Vec<Worker>,
    requests: Vec<OpenRequest>,
    /// The tasks that run them.
    tasks: TaskTracker,
}

/// One subagent.
#[derive(Debug)]
struct Worker {
    id: SessionId,
    /// The call that started it.
    call: String,
    name: String,
    description: String,
    /// The turn that waits for it; `None` in the background.
    turn: Option<u64>,
    agent: AgentHandle,
    /// Ends it.
    cancel: CancellationToken,
    outcome: Receiver<Option<Outcome>>,
    /// Whether the model knows the outcome.
    is_reported: Arc<AtomicBool>,
}

/// A request of a subagent that waits for a response.
#[derive(Debug)]
struct OpenRequest {
    worker: SessionId,
    request: UserRequest,
}

impl Worker {
    fn is_running(&self) -> bool {
        self.outcome.borrow().is_none()
    }
}

impl Subagents {
    fn find(&self, id: &str) -> Option<&Worker> {
        // the latest first: a resumed subagent has the id of the one before
        self.workers.iter().rev().find(|worker| worker.id.as_str() == id)
    }

    fn running(&self) -> usize {
        self.workers.iter().filter(|worker| worker.is_running()).count()
    }

    fn add(&mut self, worker: Worker) {
        while self.workers.len() >= MAX_REMEMBERED {
            let Some(oldest) = self.workers.iter().position(|worker| !worker.is_running()) else { break };
            self.workers.remove(oldest);
        }
        self.workers.push(worker);
    }

    /// Ends a subagent, for a client.
    pub(crate) fn kill(&self, id: &str) -> Result<Reply, Error> {
        let is_killable = |worker: &&Worker| worker.is_running() && !worker.cancel.is_cancelled();
        match self.find(id).filter(is_killable) {
            Some(worker) => {
                worker.cancel.cancel();
                Ok(Reply::Done)
            }
            // droid's words
            None => Err(Error::Internal("No active execution to interrupt".to_owned())),
        }
    }

    /// Requests that wait for a response.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &UserRequest> {
        self.requests.iter().map(|open| &open.request)
    }

    /// Passes a response to the subagent whose request it answers. Returns it if no subagent has made the request.
    pub(crate) fn respond(&self, request: &str, response: UserResponse) -> Option<UserResponse> {
        let Some(open) = self.requests.iter().find(|open| open.request.id() == request) else {
            return Some(response);
        };
        let worker = self.find(open.worker.as_str())?;
        if worker.agent.respond(request.to_owned(), response).is_err() {
            // a request must not wait forever
            worker.cancel.cancel();
        }
        None
    }

    /// Denies all open requests.
    pub(crate) fn deny_requests(&self) {
        for request in self.requests() {
            self.respond(request.id(), UserResponse::Denied { reason: None });
        }
    }

    fn take_request(&mut self, id: &str) -> Option<UserRequest> {
        let place = self.requests.iter().position(|open| open.request.id() == id)?;
        Some(self.requests.remove(place).request)
    }

    fn take_requests_of(&mut self, worker: &SessionId) -> Vec<UserRequest> {
        let taken = self.requests.extract_if(.., |open| open.worker == *worker);
        taken.map(|open| open.request).collect()
    }

    /// Returns messages with the results of background subagents that have ended, each once.
    pub(crate) fn completions(&self, mode: Mode) -> Vec<Message> {
        let mode = if mode == Mode::Spec { "spec" } else { "auto" };
        let completion = |worker: &Worker| {
            let outcome = worker.outcome.borrow().clone().filter(|_| worker.turn.is_none())?;
            let is_new = !worker.is_reported.swap(true, Ordering::Relaxed);
            let text = is_new.then(|| outcome.completion(&worker.id, &worker.name, &worker.description))?;
            let id = format!("{COMPLETION}{}", Uuid::new_v4());
            let mut message = turn_message(id, Role::System, vec![Content::Text(text)], Visibility::LlmOnly);
            message.extra.insert("interactionMode".to_owned(), mode.into());
            Some(message)
        };
        self.workers.iter().filter_map(completion).collect()
    }

    /// Returns whether background subagents have ended whose results the model does not know.
    pub(crate) fn has_completions(&self) -> bool {
        let is_new = |worker: &Worker| !worker.is_running() && !worker.is_reported.load(Ordering::Relaxed);
        self.workers.iter().any(|worker| worker.turn.is_none() && is_new(worker))
    }

    /// Sets the autonomy level and mode of running subagents. Their own maximum level still applies.
    pub(crate) fn follow(&self, autonomy: Autonomy, mode: Mode) {
        for worker in self.workers.iter().filter(|worker| worker.is_running()) {
            let change =
                SettingsChange { autonomy: Some(autonomy), mode: Some(mode), ..SettingsChange::default() };
            let command_id = CommandId("follow".into());
            if worker.agent.submit(command_id, Command::ChangeSettings(Box::new(change))).is_err() {
                worker.cancel.cancel();
            }
        }
    }

    /// Waits until all have ended. They have to be cancelled before.
    pub(crate) async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
