//! Asks the person, through the editor: for permission, and the agent's questions.
//!
//! A question ends with its turn: when that is cancelled, it is withdrawn and counts as a no.

use agent_client_protocol::v1::schema::{ContentBlock, ContentChunk, PermissionOption};
use agent_client_protocol::v1::schema::{
    CreateElicitationRequest, ElicitationFormMode, ElicitationScope, ElicitationSessionScope,
    RequestPermissionOutcome, RequestPermissionRequest, SessionUpdate, ToolCallId, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use musher::wire::Question;
use musher::{CancellationToken, Decision, Permission, Questions, Reply};

use super::{Session, lock};
use crate::convert::tool_call::words;
use crate::convert::{permission, question};

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
        match self.choose_one(call, permission::options(&asked.options)).await {
            Some(outcome) => permission::decision(&outcome),
            None => Decision::deny(),
        }
    }

    /// Asks the agent's questions: in a form, or one by one, or not at all if the editor has no way to.
    pub(super) async fn ask_questions(&self, asked: Questions) -> Reply {
        let asked = asked.questions;
        let has_forms = self.desk.client().elicitation.is_some_and(|can| can.supports_form());
        let answers = if has_forms {
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
        let scope = ElicitationSessionScope::new(self.id().clone());
        let scope = match self.question_call() {
            Some(call) => scope.tool_call_id(ToolCallId::new(call)),
            None => scope,
        };
        let form = ElicitationFormMode::new(ElicitationScope::Session(scope), question::form(asked));
        let message = match asked {
            [only] => only.question.clone(),
            _ => "The agent has some questions".to_owned(),
        };
        let token = self.running();
        let request = self.cx.send_request(CreateElicitationRequest::new(form, message));
        let answered = tokio::select! {
            answered = request.block_task() => answered,
            () = token.cancelled() => return None,
        };
        question::answers(asked, &answered.ok()?.action)
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
