//! The calls of the tools `Task`, `TaskOutput` and `TaskStop`.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use musher_tools::{SubagentTask, ToolOutput};
use tokio::sync::watch;

use super::drive::{Parent, Pictures, Work};
use super::task_result::{self, Outcome};
use super::watch::{SubagentReport, Watch};
use super::{Worker, open};
use crate::agent::start_with;
use crate::session::active_turn::ActiveTurn;
use crate::session::port;
use crate::session::tasks::{SessionSender, TurnInput};
use crate::{Error, Event, SessionId};

/// A subagent that was started.
enum Started {
    /// It runs in the background; this is the output of the call.
    Background(ToolOutput),
    /// The call waits until it has ended.
    Awaited(SessionId, Pin<Box<dyn Future<Output = Outcome> + Send>>),
}

impl ActiveTurn<'_> {
    /// Starts a subagent. The call gets its output when the subagent has ended, or at once if it runs in the background.
    pub(in crate::session) fn start_task(
        &mut self,
        index: usize,
        call_id: &str,
        task: SubagentTask,
        reply: port::Reply,
    ) {
        match self.start_subagent(call_id, task) {
            Err(problem) => {
                let text = problem.to_string();
                port::answer(reply, ToolOutput::error(&text, &text));
            }
            Ok(Started::Background(launched)) => port::answer(reply, launched),
            Ok(Started::Awaited(id, work)) => {
                let (sender, _) = self.task();
                sender.clone().spawn(async move {
                    let outcome = work.await;
                    let output = outcome.output(&id);
                    if outcome == Outcome::Denied {
                        sender.send(TurnInput::Denied { index, output }).await;
                    } else {
                        port::answer(reply, output);
                    }
                });
            }
        }
    }

    fn start_subagent(&mut self, call_id: &str, task: SubagentTask) -> Result<Started, Error> {
        let limits = self.environment.limits;
        let parent = &*self.session;
        self.check_can_start(&task)?;
        let session = open::open(self.environment, parent, &task, call_id)?;
        let droid = session.subagent().map(|subagent| subagent.droid.name.clone()).unwrap_or_default();
        let (id, watch) =
            (session.id().clone(), Watch::new(session.usage().own(), session.usage().own_cost()));
        let pictures = Pictures {
            paths: task.images,
            policy: session.policy().clone(),
            tools: self.environment.tools.clone(),
            context: session.tools().clone(),
        };
        let parent_link = Parent {
            sender: SessionSender::new(parent.number(), self.inputs.clone()),
            is_closed: parent.cancelled().clone(),
        };
        let tasks = parent.subagents().tasks.clone();
        let turn = (!task.is_background).then(|| self.running.number());
        let cancel = match turn {
            Some(_) => self.running.cancelled(),
            None => parent.cancelled().child_token(),
        };
        let (agent, events) = start_with(Arc::clone(self.environment), session);
        let (ended, outcome) = watch::channel(None);
        let worker = Worker {
            id: id.clone(),
            call: call_id.to_owned(),
            name: droid.clone(),
            description: task.description.clone(),
            turn,
            agent: agent.clone(),
            cancel: cancel.clone(),
            outcome,
            is_reported: Arc::default(),
        };
        self.session.subagents_mut().add(worker);
        let launched = task_result::launched(&id, &droid, &task.description);
        self.emit(Event::SubagentStarted {
            session: id.clone(),
            tool_use_id: Some(call_id.to_owned()),
            subagent: droid,
            description: task.description,
        });
        let work = Work {
            id: id.clone(),
            agent,
            events,
            watch,
            prompt: task.prompt,
            pictures,
            stop_timeout: limits.stop,
            parent: parent_link,
        };
        let (subagent, parent) = (id.clone(), work.parent.clone());
        let work = async move {
            let outcome = work.run(&cancel).await;
            ended.send_replace(Some(outcome.clone()));
            parent.report(&subagent, SubagentReport::Ended).await;
            outcome
        };
        Ok(match turn {
            None => {
                tasks.spawn(work);
                Started::Background(launched)
            }
            Some(_) => Started::Awaited(id, Box::pin(tasks.track_future(work))),
        })
    }

    fn check_can_start(&self, task: &SubagentTask) -> Result<(), Error> {
        let (subagents, max) = (self.session.subagents(), self.environment.limits.subagents);
        if subagents.running() >= max {
            let text = format!("{max} subagents are running already; wait for one, or stop one");
            return Err(Error::Invalid(text));
        }
        match &task.resume {
            Some(id) if subagents.find(id).is_some_and(Worker::is_running) => {
                Err(Error::Invalid(format!("The subagent \"{id}\" is still running")))
            }
            _ => Ok(()),
        }
    }

    /// Gives a call the outcome of a background subagent, if it ends in time.
    pub(in crate::session) fn task_output(&mut self, id: &str, timeout: Duration, reply: port::Reply) {
        let wanted = |worker: &Worker| (worker.outcome.clone(), Arc::clone(&worker.is_reported));
        let Some((mut outcome, is_reported)) = self.session.subagents().find(id).map(wanted) else {
            return port::answer(reply, task_result::unknown_task(id));
        };
        let (sender, cancel) = self.task();
        sender.spawn(async move {
            let ended = async { outcome.wait_for(Option::is_some).await.is_ok() };
            let waited = tokio::select! {
                biased;
                () = cancel.cancelled() => return,
                waited = tokio::time::timeout(timeout, ended) => waited,
            };
            let known = match waited {
                Err(_elapsed) => None,
                Ok(true) => outcome.borrow().clone(),
                // the task that runs it is gone
                Ok(false) => Some(Outcome::Stopped),
            };
            is_reported.fetch_or(known.is_some(), Ordering::Relaxed);
            port::answer(reply, known.map_or_else(task_result::still_running, |outcome| outcome.report()));
        });
    }

    /// Stops a subagent. The call gets its output when the subagent has ended.
    pub(in crate::session) fn stop_task(&mut self, id: &str, reply: port::Reply) {
        let wanted = |worker: &Worker| {
            (worker.outcome.clone(), worker.cancel.clone(), Arc::clone(&worker.is_reported))
        };
        let Some((mut outcome, cancel, is_reported)) = self.session.subagents().find(id).map(wanted) else {
            return port::answer(reply, task_result::unknown_task(id));
        };
        is_reported.store(true, Ordering::Relaxed);
        if outcome.borrow().is_some() {
            return port::answer(reply, ToolOutput::text("The task has ended already"));
        }
        cancel.cancel();
        let (sender, cancel) = self.task();
        sender.spawn(async move {
            let ended = async { outcome.wait_for(Option::is_some).await.is_ok() };
            tokio::select! {
                () = cancel.cancelled() => {}
                _ = ended => port::answer(reply, ToolOutput::text("Task stopped")),
            }
        });
    }
}
