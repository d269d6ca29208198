//! Questions to the client: may these calls run, and what the model wants to know.

use musher_engine::{Choice, Question, QuestionedCall, UserQuestion};
use musher_wire as wire;
use musher_wire::{Json, PendingAskUser, PendingPermission, PermissionOption, PermissionToolUse};

use super::count;

const PROCEED_COLOR: &str = "#d78700";
const CANCEL_COLOR: &str = "#d75f5f";

/// The params of `request_permission`.
pub(super) fn permission(calls: &[QuestionedCall], choices: &[Choice]) -> wire::RequestPermissionParams {
    wire::RequestPermissionParams::new(tool_uses(calls), options(calls, choices))
}

/// The params of `ask_user`.
pub(super) fn ask(tool_call_id: &str, questions: &[UserQuestion]) -> wire::AskUserParams {
    wire::AskUserParams::new(tool_call_id, asked(questions))
}

/// Questions that wait, for a client that comes later.
pub(super) fn pending(questions: &[Question]) -> (Vec<PendingPermission>, Vec<PendingAskUser>) {
    let (mut permissions, mut asks) = (Vec::new(), Vec::new());
    for question in questions {
        match question {
            Question::Permission { id, calls, choices } => {
                permissions.push(PendingPermission::new(
                    id.as_str(),
                    tool_uses(calls),
                    options(calls, choices),
                ));
            }
            Question::Ask { id, tool_call_id, questions } => {
                asks.push(PendingAskUser::new(id.as_str(), tool_call_id.as_str(), asked(questions)));
            }
        }
    }
    (permissions, asks)
}

fn tool_uses(calls: &[QuestionedCall]) -> Vec<PermissionToolUse> {
    let one = |call: &QuestionedCall| {
        let input = Json::new(&call.input).unwrap_or_else(|_| Json::empty_object());
        let tool_use = wire::ToolUse::standalone(call.id.as_str(), call.name.as_str(), input);
        let details = details(call);
        let kind = wire::ToolConfirmationType::from(details.tag());
        PermissionToolUse::new(tool_use, kind, details)
    };
    calls.iter().map(one).collect()
}

fn details(call: &QuestionedCall) -> wire::PermissionDetails {
    wire::McpToolDetails::new(call.name.as_str()).into()
}

fn options(_calls: &[QuestionedCall], choices: &[Choice]) -> Vec<PermissionOption> {
    let one = |choice: &Choice| {
        let mut option = PermissionOption::new(format!("{choice:?}"), super::choice(*choice));
        let is_cancel = *choice == Choice::Cancel;
        option.selected_color = Some(if is_cancel { CANCEL_COLOR } else { PROCEED_COLOR }.to_owned());
        option.selected_prefix = is_cancel.then(|| "✕ ".to_owned());
        option
    };
    choices.iter().map(one).collect()
}

fn asked(questions: &[UserQuestion]) -> Vec<wire::Question> {
    let one = |question: &UserQuestion| {
        let mut it = wire::Question::new(count(question.index), question.question.as_str());
        it.topic = Some(question.topic.clone());
        it.options = Some(question.options.clone());
        it.multi_select = question.multiple.then_some(true);
        it
    };
    questions.iter().map(one).collect()
}
