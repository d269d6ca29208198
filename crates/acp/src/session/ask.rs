//! Asks the person, through the editor: for permission, and the agent's questions.
//!
//! A question ends with its turn: when that is cancelled, it is withdrawn and counts as a no.

use agent_client_protocol::v1::schema::{ContentBlock, ContentChunk, PermissionOption};
use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, ElicitationAction, ElicitationFormMode, ElicitationSchema, ElicitationScope,
    ElicitationSessionScope, RequestPermissionOutcome, RequestPermissionRequest, SessionUpdate, ToolCallId,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use musher::wire::{Question, ToolConfirmationOutcome as Outcome};
use musher::{CancellationToken, Decision, Permission, Questions, Reply};

use super::{Session, lock};
use crate::convert::tool_call::words;
use crate::convert::{changed_plan, permission, question};

/// So often somebody may wish to change a plan and not do it: an editor that answers by itself must come to an end.
const MOST_CHANGES: usize = 20;

impl Session {
    /// Asks for permission. Everything but a choice of the person is a no.
    pub(super) async fn ask_permission(&self, asked: Permission) -> Decision {
        let mut call = None;
        self.tell(|scribe| {
            let (updates, about) = scribe.asked(&asked.tool_uses);
            call = about;
            updates
        });
        let Some(call) = call else { return Decision::deny() };
        let plan = asked.plan().filter(|_| self.has_forms());
        let options = permission::options(&asked.options, plan.is_some());
        for _ in 0..MOST_CHANGES {
            let Some(outcome) = self.choose_one(call.clone(), options.clone()).await else { break };
            let decision = permission::decision(&outcome);
            let Some(plan) = plan.filter(|_| *decision.outcome() == Outcome::ProceedEdit) else {
                return decision;
            };
            // who does not change it after all is asked again
            if let Some(changed) = self.change_plan(&call.tool_call_id, plan).await {
                self.tell(|scribe| scribe.changed_plan(&call.tool_call_id.0, &changed));
                return Decision::edit_plan(changed);
            }
        }
        Decision::deny()
    }

    /// Lets the person change a plan; nothing if that was not done.
    async fn change_plan(&self, call: &ToolCallId, plan: &str) -> Option<String> {
        let form = changed_plan::form(plan);
        let answered = self.fill_in(form, Some(call.clone()), changed_plan::MESSAGE.to_owned()).await?;
        changed_plan::changed(&answered)
    }

    /// Asks the agent's questions: in a form, or one by one, or not at all if the editor has no way to.
    pub(super) async fn ask_questions(&self, asked: Questions) -> Reply {
        let asked = asked.questions;
        let answers = if self.has_forms() {
            self.ask_form(&asked).await
        } else if asked.iter().all(|asked| !question::buttons(asked).is_empty()) {
            self.ask_one_by_one(&asked).await
        } else {
            let text = format!("I need to know:\n{}", question::as_text(&asked));
            self.send(SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::from(text))));
            None
        };
        answers.map_or(Reply::Declined, Reply::Answers)
    }

    async fn ask_form(&self, asked: &[Question]) -> Option<Vec<String>> {
        let message = match asked {
            [only] => only.question.clone(),
            _ => "The agent has some questions".to_owned(),
        };
        let call = self.question_call().map(ToolCallId::new);
        let answered = self.fill_in(question::form(asked), call, message).await?;
        question::answers(asked, &answered)
    }

    /// Shows a form; nothing if the turn was cancelled meanwhile, or the editor cannot answer.
    async fn fill_in(
        &self,
        form: ElicitationSchema,
        call: Option<ToolCallId>,
        message: String,
    ) -> Option<ElicitationAction> {
        let scope = ElicitationSessionScope::new(self.id().clone()).tool_call_id(call);
        let form = ElicitationFormMode::new(ElicitationScope::Session(scope), form);
        let token = self.running();
        let request = self.cx.send_request(CreateElicitationRequest::new(form, message));
        tokio::select! {
            answered = request.block_task() => answered.ok().map(|answered| answered.action),
            () = token.cancelled() => None,
        }
    }

    fn has_forms(&self) -> bool {
        self.desk.client().elicitation.is_some_and(|can| can.supports_form())
    }

    async fn ask_one_by_one(&self, asked: &[Question]) -> Option<Vec<String>> {
        let mut answers = Vec::new();
        let id = self.question_call().unwrap_or_else(|| "question".to_owned());
        for one in asked {
            let fields = ToolCallUpdateFields::new()
                .title(one.question.clone())
                .kind(ToolKind::Other)
                .status(ToolCallStatus::Pending)
                .content(vec![words(one.question.clone())]);
            let call = ToolCallUpdate::new(id.clone(), fields);
            match self.choose_one(call, question::buttons(one)).await? {
                RequestPermissionOutcome::Selected(selected) => {
                    answers.push(question::chosen(one, &selected.option_id.0)?);
                }
                _ => return None,
            }
        }
        Some(answers)
    }

    /// Shows a choice; nothing if the turn was cancelled meanwhile, or the editor cannot answer.
    async fn choose_one(
        &self,
        call: ToolCallUpdate,
        options: Vec<PermissionOption>,
    ) -> Option<RequestPermissionOutcome> {
        let token = self.running();
        let request = RequestPermissionRequest::new(self.id().clone(), call, options);
        // letting go of the request withdraws it
        let request = self.cx.send_request(request).block_task();
        tokio::select! {
            answered = request => answered.ok().map(|answered| answered.outcome),
            () = token.cancelled() => None,
        }
    }

    fn question_call(&self) -> Option<String> {
        lock(&self.scribe).open_call("AskUser").map(str::to_owned)
    }

    /// What tells that the running turn is cancelled.
    fn running(&self) -> CancellationToken {
        lock(&self.running).clone()
    }
}
