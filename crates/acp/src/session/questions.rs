//! Asks the user through the editor: for permission, and the agent's questions.
//!
//! A question ends with its turn: when the turn is cancelled, the question is withdrawn and counts as denied.

use agent_client_protocol::v1::schema::PermissionOption;
use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, ElicitationAction, ElicitationFormMode, ElicitationSchema, ElicitationScope,
    ElicitationSessionScope, RequestPermissionOutcome, RequestPermissionRequest, ToolCallId, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use musher::wire::{Question, ToolConfirmationOutcome as Outcome};
use musher::{Answers, Decision, PermissionRequest, QuestionRequest, SessionGrant};

use super::SessionPort;
use super::command::{Command, TurnContext};
use crate::convert::tool_call::words;
use crate::convert::{changed_plan, permission, question};

/// The id of the option that grants.
const GRANT: &str = "always_like_this";
/// The maximum number of times a plan is offered for editing without a change: stops editors that answer automatically.
const MAX_PLAN_EDITS: usize = 20;

/// The user, or an editor that approves everything, wants the questions as text.
struct AsText;

/// Asks the user of one session.
#[derive(Debug, Clone)]
pub(super) struct Questioner {
    port: SessionPort,
    has_forms: bool,
}

impl Questioner {
    pub(super) fn new(port: SessionPort, has_forms: bool) -> Self {
        Self { port, has_forms }
    }

    /// Asks for permission. Everything but a choice of the user is a denial.
    pub(super) async fn decide(&self, request: PermissionRequest) -> Decision {
        if self.port.grants().await.cover(&request) {
            return Decision::allow_once();
        }
        let Some(call) = self.port.permission_request(request.tool_uses.clone()).await else {
            return Decision::deny();
        };
        let grant = SessionGrant::suggested(&request);
        let plan = request.plan().filter(|_| self.has_forms);
        let narrow = grant.as_ref().map(|grant| (GRANT, grant.label()));
        let options = permission::options(&request.choices(), plan.is_some(), narrow);
        for _ in 0..MAX_PLAN_EDITS {
            let Some(outcome) = self.choose_one(call.clone(), options.clone()).await else { break };
            if let (Some(grant), RequestPermissionOutcome::Selected(chosen)) = (&grant, &outcome)
                && &*chosen.option_id.0 == GRANT
            {
                self.port.send(Command::Grant(grant.clone())).await;
                return Decision::allow_once();
            }
            let decision = permission::decision(&outcome);
            let Some(plan) = plan.filter(|_| *decision.outcome() == Outcome::ProceedEdit) else {
                return decision;
            };
            // a plan that was left unchanged leads back to the choice
            if let Some(edited) = self.edit_plan(&call.tool_call_id, plan).await {
                let call = call.tool_call_id.0.to_string();
                self.port.send(Command::PlanEdited { call, plan: edited.clone() }).await;
                return Decision::edit_plan(edited);
            }
        }
        Decision::deny()
    }

    /// Lets the user edit a plan. Returns nothing if it was left unchanged.
    async fn edit_plan(&self, call: &ToolCallId, plan: &str) -> Option<String> {
        let form = changed_plan::form(plan);
        let action = self.fill_in(form, Some(call.clone()), changed_plan::MESSAGE.to_owned()).await?;
        changed_plan::changed(&action)
    }

    /// Asks the agent's questions: in a form, or one by one, or as text if the editor has neither for them.
    pub(super) async fn answer(&self, request: QuestionRequest) -> Answers {
        let questions = request.questions;
        let answers = if self.has_forms {
            self.ask_form(&questions).await
        } else if questions.iter().all(|question| !question::buttons(question).is_empty()) {
            match self.ask_one_by_one(&questions).await {
                Ok(answers) => answers,
                Err(AsText) => self.ask_as_text(&questions).await,
            }
        } else {
            self.ask_as_text(&questions).await
        };
        answers.map_or(Answers::Declined, Answers::Given)
    }

    async fn ask_form(&self, questions: &[Question]) -> Option<Vec<String>> {
        let message = match questions {
            [only] => only.question.clone(),
            _ => "The agent has some questions".to_owned(),
        };
        let call = self.context().await?.question_call.map(ToolCallId::new);
        let action = self.fill_in(question::form(questions), call, message).await?;
        question::answers(questions, &action)
    }

    /// Shows a form. Returns nothing if the turn was cancelled meanwhile, or the editor cannot answer.
    async fn fill_in(
        &self,
        form: ElicitationSchema,
        call: Option<ToolCallId>,
        message: String,
    ) -> Option<ElicitationAction> {
        let TurnContext { editor, cancelled, .. } = self.context().await?;
        let scope = ElicitationSessionScope::new(editor.session_id()).tool_call_id(call);
        let form = ElicitationFormMode::new(ElicitationScope::Session(scope), form);
        tokio::select! {
            response = editor.request(CreateElicitationRequest::new(form, message)) => {
                response.ok().map(|response| response.action)
            }
            () = cancelled.cancelled() => None,
        }
    }

    /// Asks in a message. The user answers with the next prompt.
    async fn ask_as_text(&self, questions: &[Question]) -> Option<Vec<String>> {
        let text = format!("I need to know:\n{}", question::as_text(questions));
        self.port.agent_message(text).await;
        None
    }

    async fn ask_one_by_one(&self, questions: &[Question]) -> Result<Option<Vec<String>>, AsText> {
        let mut answers = Vec::new();
        let Some(context) = self.context().await else { return Ok(None) };
        let id = context.question_call.unwrap_or_else(|| "question".to_owned());
        for one in questions {
            let fields = ToolCallUpdateFields::new()
                .title(one.question.clone())
                .kind(ToolKind::Other)
                .status(ToolCallStatus::Pending)
                .content(vec![words(one.question.clone())]);
            let call = ToolCallUpdate::new(id.clone(), fields);
            let Some(RequestPermissionOutcome::Selected(selected)) =
                self.choose_one(call, question::buttons(one)).await
            else {
                return Ok(None);
            };
            if &*selected.option_id.0 == question::AS_TEXT {
                return Err(AsText);
            }
            match question::chosen(one, &selected.option_id.0) {
                Some(answer) => answers.push(answer),
                None => return Ok(None),
            }
        }
        Ok(Some(answers))
    }

    /// Shows a choice. Returns nothing if the turn was cancelled meanwhile, or the editor cannot answer.
    async fn choose_one(
        &self,
        call: ToolCallUpdate,
        options: Vec<PermissionOption>,
    ) -> Option<RequestPermissionOutcome> {
        let TurnContext { editor, cancelled, .. } = self.context().await?;
        // dropping the request withdraws it
        tokio::select! {
            response = editor.request(RequestPermissionRequest::new(editor.session_id(), call, options)) => {
                response.ok().map(|response| response.outcome)
            }
            () = cancelled.cancelled() => None,
        }
    }

    async fn context(&self) -> Option<TurnContext> {
        self.port.turn_context().await.ok()
    }
}
