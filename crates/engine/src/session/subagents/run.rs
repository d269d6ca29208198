//! What the actor does with subagents: starts them, asks for them, ends them, and takes in their news.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use musher_tools::{SubagentTask, ToolOutput};
use tokio::sync::watch;

use super::drive::{Home, Pictures, Work};
use super::task_result::{self, Outcome};
use super::watch::{News, Watch};
use super::{Asked, Worker, open};
use crate::agent::start_with;
use crate::command::{Answer, Reply};
use crate::event::WorkingState;
use crate::session::actor::Actor;
use crate::session::children::FromTurn;
use crate::session::port;
use crate::session::running::Running;
use crate::session::state::sum;
use crate::{Choice, Error, Happening, Question, SessionId, Usage};

/// A subagent that was started.
enum Started {
    /// It works in the background; this is the output of the call.
    Background(ToolOutput),
    /// The call waits until its work is over.
    Waits(SessionId, Pin<Box<dyn Future<Output = Outcome> + Send>>),
}

impl Actor {
    /// Starts a subagent. The call gets its output when the subagent has ended, or at once if it works in the background.
    pub(in crate::session) fn task(
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
            Ok(Started::Waits(id, work)) => {
                let Some((back, _)) = self.child() else { return };
                back.clone().spawn(async move {
                    let outcome = work.await;
                    let output = outcome.output(&id);
                    if outcome == Outcome::Refused {
                        back.send(FromTurn::Refused { index, output }).await;
                    } else {
                        port::answer(reply, output);
                    }
                });
            }
        }
    }

    fn start_subagent(&mut self, call_id: &str, task: SubagentTask) -> Result<Started, Error> {
        let limits = self.environment.limits;
        let Some(parent) = &self.session else { return Err(Error::NoSession) };
        if parent.subagents.running() >= limits.subagents {
            let text =
                format!("{} subagents are at work already; wait for one, or end one", limits.subagents);
            return Err(Error::Invalid(text));
        }
        if let Some(id) = &task.resume
            && parent.subagents.find(id).is_some_and(Worker::is_running)
        {
            return Err(Error::Invalid(format!("The subagent \"{id}\" is still at work")));
        }
        let session = open::open(&self.environment, parent, &task, call_id)?;
        let droid = session.subagent.as_ref().map(|subagent| subagent.droid.name.clone()).unwrap_or_default();
        let (id, watch) = (session.id.clone(), Watch::new(session.usage));
        let pictures = Pictures {
            paths: task.images,
            policy: session.policy.clone(),
            tools: self.environment.tools.clone(),
            context: session.tools.clone(),
        };
        let home =
            Home { session: parent.number, inputs: self.inputs.clone(), is_closed: parent.cancel.clone() };
        let of_session = parent.cancel.child_token();
        let tasks = parent.subagents.tasks.clone();
        let turn = self.turns.running().map(Running::number);
        let of_turn = self.turns.running().map(Running::cancelled);
        let waited_for = if task.is_background { None } else { of_turn };
        let cancel = waited_for.clone().unwrap_or(of_session);
        let (agent, events) = start_with(Arc::clone(&self.environment), session);
        let (ended, outcome) = watch::channel(None);
        let worker = Worker {
            id: id.clone(),
            call: call_id.to_owned(),
            name: droid.clone(),
            description: task.description.clone(),
            turn: turn.filter(|_| waited_for.is_some()),
            agent: agent.clone(),
            cancel: cancel.clone(),
            outcome,
            is_told: Arc::default(),
        };
        if let Some(session) = &mut self.session {
            session.subagents.add(worker);
        }
        let launched = task_result::launched(&id, &droid, &task.description);
        self.emit(Happening::Child {
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
            stop: limits.stop,
            home,
        };
        let (subagent, home) = (id.clone(), work.home.clone());
        let work = async move {
            let outcome = work.run(&cancel).await;
            ended.send_replace(Some(outcome.clone()));
            home.tell(&subagent, News::Ended).await;
            outcome
        };
        Ok(match waited_for {
            None => {
                tasks.spawn(work);
                Started::Background(launched)
            }
            Some(_) => Started::Waits(id, Box::pin(tasks.track_future(work))),
        })
    }

    /// What came of a subagent in the background.
    pub(in crate::session) fn task_output(&mut self, id: &str, wait: Duration, reply: port::Reply) {
        let wanted = |worker: &Worker| (worker.outcome.clone(), Arc::clone(&worker.is_told));
        let Some((mut outcome, is_told)) = self.worker(id).map(wanted) else {
            return port::answer(reply, task_result::unknown_task(id));
        };
        let Some((back, cancel)) = self.child() else { return };
        back.spawn(async move {
            let ended = async { outcome.wait_for(Option::is_some).await.is_ok() };
            let waited = tokio::select! {
                biased;
                () = cancel.cancelled() => return,
                waited = tokio::time::timeout(wait, ended) => waited,
            };
            let known = match waited {
                Err(_elapsed) => None,
                Ok(true) => outcome.borrow().clone(),
                // whoever would have said it is gone
                Ok(false) => Some(Outcome::Stopped),
            };
            is_told.fetch_or(known.is_some(), Ordering::Relaxed);
            port::answer(reply, known.map_or_else(task_result::still_running, |outcome| outcome.report()));
        });
    }

    /// Ends a subagent.
    pub(in crate::session) fn task_stop(&mut self, id: &str, reply: port::Reply) {
        let wanted =
            |worker: &Worker| (worker.outcome.clone(), worker.cancel.clone(), Arc::clone(&worker.is_told));
        let Some((mut outcome, cancel, is_told)) = self.worker(id).map(wanted) else {
            return port::answer(reply, task_result::unknown_task(id));
        };
        is_told.store(true, Ordering::Relaxed);
        if outcome.borrow().is_some() {
            return port::answer(reply, ToolOutput::text("The task has ended already"));
        }
        cancel.cancel();
        let Some((back, cancel)) = self.child() else { return };
        back.spawn(async move {
            let ended = async { outcome.wait_for(Option::is_some).await.is_ok() };
            tokio::select! {
                () = cancel.cancelled() => {}
                _ = ended => port::answer(reply, ToolOutput::text("Task stopped")),
            }
        });
    }

    /// A subagent of the session, by the id of its own session.
    fn worker(&self, id: &str) -> Option<&Worker> {
        self.session.as_ref().and_then(|session| session.subagents.find(id))
    }

    /// Ends a subagent, for a client.
    pub(in crate::session) fn kill_worker(&self, id: &str) -> Result<Reply, Error> {
        let session = self.session.as_ref().ok_or(Error::NoSession)?;
        match session.subagents.find(id).filter(|worker| worker.is_running()) {
            Some(worker) => {
                worker.cancel.cancel();
                Ok(Reply::Done)
            }
            // the words of droid
            None => Err(Error::Internal("No active execution to interrupt".to_owned())),
        }
    }

    /// A subagent has news.
    pub(in crate::session) fn subagent_news(&mut self, id: &SessionId, news: News) {
        match news {
            News::Asks(question) => self.subagent_asks(id, question),
            News::Settled { question, tool_use_ids, choice } => {
                self.subagent_answered(&question, tool_use_ids, choice);
            }
            News::Used(usage) => self.subagent_used(id, usage),
            News::Step(step) => {
                let worker = self.session.as_ref().and_then(|session| session.subagents.find(id.as_str()));
                if let Some(worker) = worker.filter(|worker| worker.turn.is_some()) {
                    let (call, session) = (worker.call.clone(), id.clone());
                    self.progress(Happening::ChildProgress { id: call, session, step });
                }
            }
            News::Hook(what) => self.emit(*what),
            News::Ended => self.subagent_ended(id),
        }
    }

    /// Asks in the name of the session, which is the one clients know.
    fn subagent_asks(&mut self, id: &SessionId, question: Question) {
        let Some(session) = &mut self.session else { return };
        session.subagents.questions.push(Asked { worker: id.clone(), question: question.clone() });
        if self.is_draining() {
            return self.refuse_subagents();
        }
        if self.turns.is_running() {
            self.emit(Happening::State(WorkingState::Waiting));
        }
        self.emit(Happening::ChildQuestion { session: id.clone(), question });
    }

    /// Passes on an answer to a question of a subagent. Gives it back if it is none.
    pub(in crate::session) fn answer_subagent(&self, question: &str, answer: Answer) -> Option<Answer> {
        let subagents = self.session.as_ref().map(|session| &session.subagents)?;
        let is_asked = |asked: &&Asked| crate::session::turn::id_of(&asked.question) == question;
        let Some(asked) = subagents.questions.iter().find(is_asked) else { return Some(answer) };
        let worker = subagents.find(asked.worker.as_str())?;
        if worker.agent.answer(question.to_owned(), answer).is_err() {
            // nothing that waits for an answer may wait for ever
            worker.cancel.cancel();
        }
        None
    }

    /// Nobody can answer any more.
    pub(in crate::session) fn refuse_subagents(&self) {
        let Some(session) = &self.session else { return };
        for question in session.subagents.questions() {
            let id = crate::session::turn::id_of(question);
            self.answer_subagent(id, Answer::Refused { reason: None });
        }
    }

    /// A question of a subagent is settled. What was agreed to for longer than this call holds for the session, too: it was asked there.
    fn subagent_answered(&mut self, question: &str, tool_use_ids: Vec<String>, choice: Choice) {
        let Some(asked) = self.take_question(question) else { return };
        self.go_on_after_question();
        self.emit(Happening::PermissionResolved { question: question.to_owned(), tool_use_ids, choice });
        if let (Question::Permission { calls, .. }, true) = (asked, choice != Choice::Cancel) {
            for call in calls {
                self.consented(&call.request, choice);
            }
        }
    }

    fn take_question(&mut self, question: &str) -> Option<Question> {
        let questions = &mut self.session.as_mut()?.subagents.questions;
        let place =
            questions.iter().position(|asked| crate::session::turn::id_of(&asked.question) == question)?;
        Some(questions.remove(place).question)
    }

    fn go_on_after_question(&mut self) {
        let is_asked = self.session.as_ref().is_some_and(|session| !session.subagents.questions.is_empty());
        let turn = self.turns.running().map(|running| &running.turn);
        let is_running = turn.is_some_and(|turn| !turn.is_over() && turn.question().is_none());
        if is_running && !is_asked && self.out.state() == WorkingState::Waiting {
            self.emit(Happening::State(WorkingState::Executing));
        }
    }

    fn subagent_used(&mut self, id: &SessionId, usage: Usage) {
        let Some(session) = &mut self.session else { return };
        session.child_usage = sum(session.child_usage, usage);
        let of_one = session.subagents.usage.entry(id.as_str().to_owned()).or_default();
        *of_one = sum(*of_one, usage);
        let turn = session.subagents.find(id.as_str()).and_then(|worker| worker.turn);
        if let Some(running) = turn.and_then(|turn| self.turns.numbered(turn)) {
            running.turn.child_usage = sum(running.turn.child_usage, usage);
        }
        let what = Happening::Usage {
            total: session.usage,
            inclusive: session.inclusive_usage(),
            last_call: session.last_call,
        };
        self.emit(what);
    }

    /// A subagent has ended; nothing of it runs any more.
    fn subagent_ended(&mut self, id: &SessionId) {
        let Some(session) = &mut self.session else { return };
        let questions = &mut session.subagents.questions;
        let open = questions.extract_if(.., |asked| asked.worker == *id).collect::<Vec<_>>();
        session.save();
        self.go_on_after_question();
        for asked in open {
            let question = crate::session::turn::id_of(&asked.question).to_owned();
            let (tool_use_ids, choice) = (Vec::new(), Choice::Cancel);
            self.emit(Happening::PermissionResolved { question, tool_use_ids, choice });
        }
    }
}
