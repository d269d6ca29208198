//! The way from a call that runs to its session: what it asks for, and what the actor does about it.

use std::fmt::Write as _;

use musher_tools::{Run, SessionPort, SessionRequest, ToolOutput, UserQuestion};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::actor::Actor;
use super::children::{Back, FromTurn};
use super::plan::Plan;
use super::tool_selection;
use super::turn::Decision;
use crate::event::Question;
use crate::{Autonomy, Choice};

/// The session as a call sees it.
#[derive(Debug)]
pub(super) struct Port {
    index: usize,
    call_id: String,
    decision: Option<Decision>,
    back: Back,
}

/// What a call wants of its session.
#[derive(Debug)]
pub(crate) struct CallRequest {
    pub(super) index: usize,
    pub(super) call_id: String,
    /// What the user has decided about the call, if they were asked.
    decision: Option<Decision>,
    request: SessionRequest,
    /// Gets the output. Dropped where the turn ends instead.
    pub(super) reply: Reply,
}

/// Where the output for a call goes.
pub(super) type Reply = oneshot::Sender<ToolOutput>;

impl Port {
    pub(super) fn new(index: usize, call_id: String, decision: Option<Decision>, back: Back) -> Self {
        Self { index, call_id, decision, back }
    }
}

impl SessionPort for Port {
    fn request(&self, request: SessionRequest) -> Run<'_> {
        Box::pin(async move {
            let (reply, output) = oneshot::channel();
            let (index, call_id, decision) = (self.index, self.call_id.clone(), self.decision.clone());
            let request = CallRequest { index, call_id, decision, request, reply };
            self.back.send(FromTurn::Request(Box::new(request))).await;
            // nobody replies once the turn is over
            output.await.unwrap_or_else(|_| ToolOutput::cancelled())
        })
    }
}

impl Actor {
    /// A call that runs wants something of the session.
    pub(super) fn call_request(&mut self, wanted: CallRequest) {
        let CallRequest { index, call_id, decision, request, reply } = wanted;
        match request {
            SessionRequest::AskUser { questions } => self.ask_user(index, call_id, questions, reply),
            SessionRequest::ExitSpecMode { plan, title } => {
                self.exit_spec_mode(index, plan, title, decision, reply);
            }
            SessionRequest::LoadSkill { name } => answer(reply, self.load_skill(&name)),
            SessionRequest::SearchTools { query } => answer(reply, self.search_tools(&query)),
            SessionRequest::StartSubagent(task) => self.task(index, &call_id, task, reply),
            SessionRequest::SubagentOutput { id, wait } => self.task_output(&id, wait, reply),
            SessionRequest::StopSubagent { id } => self.task_stop(&id, reply),
            other => {
                let text = format!("This session cannot do that: {other:?}");
                answer(reply, ToolOutput::error(&text, &text));
            }
        }
    }

    fn ask_user(&mut self, index: usize, call_id: String, questions: Vec<UserQuestion>, reply: Reply) {
        let Some(running) = self.turns.running_mut() else { return };
        if running.turn.question().is_some() {
            let text = "Another question is open. Ask again when it is answered.";
            return answer(reply, ToolOutput::error(text, text));
        }
        running.ask(index, reply);
        let question = Question::Ask { id: Uuid::new_v4().to_string(), tool_call_id: call_id, questions };
        self.with_turn(|turn, effects| turn.ask(index, question, effects));
    }

    /// The user has answered the question of a call.
    pub(super) fn question_answered(&mut self, index: usize, output: ToolOutput) {
        let Some(running) = self.turns.running_mut() else { return };
        if let Some(reply) = running.take_asked(index) {
            answer(reply, output);
        }
    }

    /// The plan was approved: it is saved, and carried out here or in a new session.
    fn exit_spec_mode(
        &mut self,
        index: usize,
        plan: String,
        title: Option<String>,
        decision: Option<Decision>,
        reply: Reply,
    ) {
        let Some(session) = &self.session else { return };
        let edited = decision.as_ref().and_then(|decision| decision.edited_plan.clone());
        let plan = Plan { is_edited: edited.is_some(), text: edited.unwrap_or(plan), title };
        let folder = session.config.settings.spec_save_dir.as_ref().map(|folder| session.cwd.join(folder));
        let saved = plan.save(&folder.unwrap_or_else(|| self.environment.home.join("specs")));
        let autonomy = decision.and_then(|decision| new_session(decision.choice));
        let output = plan.output(&saved, autonomy.is_some());
        match autonomy {
            None => answer(reply, output),
            Some(autonomy) => {
                let plan = Box::new(plan);
                self.with_turn(|turn, effects| turn.hand_over(index, output, plan, autonomy, effects));
            }
        }
    }

    fn load_skill(&self, name: &str) -> ToolOutput {
        let skill = self.session.as_ref().and_then(|session| session.library.skill(name));
        match skill.filter(|skill| skill.is_enabled && skill.is_model_invocable) {
            Some(skill) => ToolOutput::text(skill.activation()),
            None => ToolOutput::error("Failed to load skill", &format!("Skill \"{name}\" not found")),
        }
    }

    fn search_tools(&mut self, query: &str) -> ToolOutput {
        let Some(session) = &mut self.session else { return ToolOutput::cancelled() };
        let found = tool_selection::search(query, &self.environment.tools, &session.settings.tools);
        if found.is_empty() {
            return ToolOutput::text("No matching tools found");
        }
        let mut text = String::from("These tools can be called now:\n");
        for spec in found {
            // writing to a String cannot fail
            let _ = write!(text, "\n## {}\n{}\n{}\n", spec.name, spec.description, spec.schema);
            session.loaded_tools.insert(spec.name);
        }
        ToolOutput::text(text)
    }
}

/// Gives a call its output. A call that has ended takes none.
pub(super) fn answer(reply: Reply, output: ToolOutput) {
    reply.send(output).ok();
}

/// The autonomy of the new session that carries out a plan, if one does.
fn new_session(choice: Choice) -> Option<Autonomy> {
    match choice {
        Choice::ProceedNewSession => Some(Autonomy::Off),
        Choice::ProceedNewSessionLow => Some(Autonomy::Low),
        Choice::ProceedNewSessionMedium => Some(Autonomy::Medium),
        Choice::ProceedNewSessionHigh => Some(Autonomy::High),
        _ => None,
    }
}
