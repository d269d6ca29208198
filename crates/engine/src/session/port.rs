//! Requests of running calls to their session, such as a question to the user.

use musher_tools::{Run, SessionPort, SessionRequest, ToolOutput, UserQuestion};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::active_turn::ActiveTurn;
use super::plan::Plan;
use super::tasks::{TurnInput, TurnSender};
use super::tool_selection;
use crate::event::UserRequest;
use crate::permission::Decision;
use crate::{Autonomy, Choice};

/// The session as a running call sees it.
#[derive(Debug)]
pub(super) struct Port {
    index: usize,
    call_id: String,
    decision: Option<Decision>,
    sender: TurnSender,
}

/// A request of a running call.
#[derive(Debug)]
pub(crate) struct CallRequest {
    index: usize,
    call_id: String,
    /// What the user has decided about the call, if they were asked.
    decision: Option<Decision>,
    request: SessionRequest,
    /// Whether it has waited for MCP servers that were not connected.
    has_waited: bool,
    /// Takes the output. Dropped if the turn ends first.
    reply: Reply,
}

/// Takes the output for a call.
pub(super) type Reply = oneshot::Sender<ToolOutput>;

impl Port {
    pub(super) fn new(index: usize, call_id: String, decision: Option<Decision>, sender: TurnSender) -> Self {
        Self { index, call_id, decision, sender }
    }
}

impl SessionPort for Port {
    fn request(&self, request: SessionRequest) -> Run<'_> {
        Box::pin(async move {
            let (reply, output) = oneshot::channel();
            let (index, call_id, decision) = (self.index, self.call_id.clone(), self.decision.clone());
            let request = CallRequest { index, call_id, decision, request, has_waited: false, reply };
            self.sender.send(TurnInput::Request(Box::new(request))).await;
            // a turn that is over drops the reply
            output.await.unwrap_or_else(|_| ToolOutput::cancelled())
        })
    }
}

impl ActiveTurn<'_> {
    /// Handles a request of a running call.
    pub(super) fn call_request(&mut self, request: CallRequest) {
        if matches!(request.request, SessionRequest::SearchTools { .. }) && !request.has_waited {
            return self.wait_for_all_servers(request);
        }
        let CallRequest { index, call_id, decision, request, has_waited: _, reply } = request;
        match request {
            SessionRequest::AskUser { questions } => self.ask_questions(index, call_id, questions, reply),
            SessionRequest::ExitSpecMode { plan, title } => {
                self.exit_spec_mode(index, plan, title, decision, reply);
            }
            SessionRequest::LoadSkill { name } => answer(reply, self.load_skill(&name)),
            SessionRequest::SearchTools { query, max_results } => {
                answer(reply, self.search_tools(&query, max_results));
            }
            SessionRequest::StartSubagent(task) => self.start_task(index, &call_id, task, reply),
            SessionRequest::SubagentOutput { id, wait } => self.task_output(&id, wait, reply),
            SessionRequest::StopSubagent { id } => self.stop_task(&id, reply),
            other => {
                let text = format!("This session cannot do that: {other:?}");
                answer(reply, ToolOutput::error(&text, &text));
            }
        }
    }

    fn ask_questions(&mut self, index: usize, call_id: String, questions: Vec<UserQuestion>, reply: Reply) {
        if self.running.turn.open_request().is_some() {
            let text = "Another question is open. Ask again when it is answered.";
            return answer(reply, ToolOutput::error(text, text));
        }
        self.running.hold_question(index, reply);
        let id = Uuid::new_v4().to_string();
        let request = UserRequest::Questions { id, tool_call_id: call_id, questions };
        self.step(|turn, effects| turn.ask(index, request, effects));
    }

    /// The plan is approved: saves it, and carries it out here or in a new session.
    fn exit_spec_mode(
        &mut self,
        index: usize,
        plan: String,
        title: Option<String>,
        decision: Option<Decision>,
        reply: Reply,
    ) {
        let edited = decision.as_ref().and_then(|decision| decision.edited_plan.clone());
        let plan = Plan { is_edited: edited.is_some(), text: edited.unwrap_or(plan), title };
        let folder = self.session.config().settings.spec_save_dir.as_ref();
        let folder = folder.map(|folder| self.session.cwd().join(folder));
        let saved = plan.save(&folder.unwrap_or_else(|| self.environment.home.join("specs")));
        let autonomy = decision.and_then(|decision| new_session_level(decision.choice));
        let output = plan.output(&saved, autonomy.is_some());
        match autonomy {
            None => answer(reply, output),
            Some(autonomy) => {
                let plan = Box::new(plan);
                self.step(|turn, effects| turn.hand_over(index, output, plan, autonomy, effects));
            }
        }
    }

    fn load_skill(&self, name: &str) -> ToolOutput {
        let skill = self.session.library().skill(name);
        match skill.filter(|skill| skill.is_enabled && skill.is_model_invocable) {
            Some(skill) => ToolOutput::text(skill.activation()),
            None => ToolOutput::error("Failed to load skill", &format!("Skill \"{name}\" not found")),
        }
    }

    /// Handles a search again when all servers are connected or have failed: their tools are part of what is searched.
    fn wait_for_all_servers(&mut self, request: CallRequest) {
        let mcp = self.session.mcp().clone();
        let request = CallRequest { has_waited: true, ..request };
        let (sender, cancel) = self.task();
        sender.clone().spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = mcp.settled() => { sender.send(TurnInput::Request(Box::new(request))).await; }
            }
        });
    }

    fn search_tools(&mut self, query: &str, max_results: usize) -> ToolOutput {
        let found = tool_selection::search(query, max_results, &self.environment.tools, self.session);
        if found.is_empty() {
            let text =
                "No matching tools found. Use other words, or `select:Name` with a name from the reminder.";
            return ToolOutput::text(text);
        }
        let names: Vec<String> = found.into_iter().map(|spec| spec.name).collect();
        let text = format!("These tools can be called now: {}", names.join(", "));
        for name in names {
            self.session.load_tool(name);
        }
        ToolOutput::text(text)
    }
}

/// Gives a call its output. A call that has ended takes none.
pub(super) fn answer(reply: Reply, output: ToolOutput) {
    reply.send(output).ok();
}

/// Returns the autonomy level of the new session that carries out a plan, or `None` if this session does.
fn new_session_level(choice: Choice) -> Option<Autonomy> {
    match choice {
        Choice::ProceedNewSession => Some(Autonomy::Off),
        Choice::ProceedNewSessionLow => Some(Autonomy::Low),
        Choice::ProceedNewSessionMedium => Some(Autonomy::Medium),
        Choice::ProceedNewSessionHigh => Some(Autonomy::High),
        _ => None,
    }
}
