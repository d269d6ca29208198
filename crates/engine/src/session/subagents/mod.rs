//! Subagents: agents of their own in this process, each with a session on disk, started for one task by a call of `Task`.
//!
//! - `task_result` words results, `watch` understands the events of a subagent; both are pure.
//! - `open` makes its session: no more autonomy, mode, tools and servers than the session that starts it.
//! - `drive` is the task that lets it work and ends it; `run` is what the actor does with calls and news.
//!
//! One that is waited for ends with its turn, one in the background with its session. A subagent has no subagents.

mod drive;
mod open;
mod run;
mod task_result;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use musher_model::Usage;
use tokio::sync::watch::Receiver;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::turn::message as turn_message;
use crate::skills::Droid;
use crate::{AgentHandle, Autonomy, Command, Mode, Question, SessionId, SettingsChange, Ticket};
use musher_message::{Content, Message, Role, Visibility};
use task_result::Outcome;

pub(crate) use watch::News;

/// How the id of a message begins that tells what came of a subagent in the background. Clients know it.
pub(crate) const COMPLETION: &str = "task-completion:";

/// So many that have ended are remembered.
const REMEMBERED: usize = 64;

/// What a session is that was started by another.
#[derive(Debug, Clone)]
pub(crate) struct Subagent {
    /// What it may use.
    pub(crate) droid: Droid,
}

/// The subagents of a session.
#[derive(Debug, Default)]
pub(crate) struct Subagents {
    workers: Vec<Worker>,
    /// Questions of theirs that wait for an answer.
    questions: Vec<Asked>,
    /// What each has used, those of earlier processes too.
    pub(crate) usage: BTreeMap<String, Usage>,
    /// The tasks that let them work.
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
    /// The turn that waits for it; none if it is in the background.
    turn: Option<u64>,
    agent: AgentHandle,
    /// Ends it.
    cancel: CancellationToken,
    outcome: Receiver<Option<Outcome>>,
    /// Whether the model was told what came of it.
    is_told: Arc<AtomicBool>,
}

/// A question of a subagent.
#[derive(Debug)]
struct Asked {
    worker: SessionId,
    question: Question,
}

impl Worker {
    fn is_running(&self) -> bool {
        self.outcome.borrow().is_none()
    }
}

impl Subagents {
    fn find(&self, id: &str) -> Option<&Worker> {
        // the latest first: one that goes on has the id of the one before
        self.workers.iter().rev().find(|worker| worker.id.as_str() == id)
    }

    fn running(&self) -> usize {
        self.workers.iter().filter(|worker| worker.is_running()).count()
    }

    fn add(&mut self, worker: Worker) {
        while self.workers.len() >= REMEMBERED {
            let Some(oldest) = self.workers.iter().position(|worker| !worker.is_running()) else { break };
            self.workers.remove(oldest);
        }
        self.workers.push(worker);
    }

    /// Questions that wait for an answer.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().map(|asked| &asked.question)
    }

    /// What the model has to be told, once: what came of those in the background that have ended since.
    pub(crate) fn completions(&self, mode: Mode) -> Vec<Message> {
        let mode = if mode == Mode::Spec { "spec" } else { "auto" };
        let completion = |worker: &Worker| {
            let outcome = worker.outcome.borrow().clone().filter(|_| worker.turn.is_none())?;
            let is_new = !worker.is_told.swap(true, Ordering::Relaxed);
            let text = is_new.then(|| outcome.completion(&worker.id, &worker.name, &worker.description))?;
            let id = format!("{COMPLETION}{}", Uuid::new_v4());
            let mut message = turn_message(id, Role::System, vec![Content::Text(text)], Visibility::LlmOnly);
            message.extra.insert("interactionMode".to_owned(), mode.into());
            Some(message)
        };
        self.workers.iter().filter_map(completion).collect()
    }

    /// The session has this autonomy and mode from now on, and so have they, unless their own most is less.
    pub(crate) fn follow(&self, autonomy: Autonomy, mode: Mode) {
        for worker in self.workers.iter().filter(|worker| worker.is_running()) {
            let change =
                SettingsChange { autonomy: Some(autonomy), mode: Some(mode), ..SettingsChange::default() };
            let ticket = Ticket("follow".into());
            if worker.agent.submit(ticket, Command::ChangeSettings(Box::new(change))).is_err() {
                worker.cancel.cancel();
            }
        }
    }

    /// Waits until all have ended. They have to be told before.
    pub(crate) async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}
