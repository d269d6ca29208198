//! Questions for the client: permission requests, and questions of the agent.

use std::path::Path;

use musher_engine::permission::{Kind, Operation};
use musher_engine::{Choice, RequestedCall, UserQuestion, UserRequest};
use musher_wire as wire;
use musher_wire::{Json, PendingAskUser, PendingPermission, PermissionOption, PermissionToolUse};
use serde_json::{Value, json};

use super::count;

const PROCEED_COLOR: &str = "#d78700";
/// For options that stop the turn or allow everything.
const WARNING_COLOR: &str = "#d75f5f";

/// Returns the params of `request_permission`.
pub(super) fn permission(calls: &[RequestedCall], choices: &[Choice]) -> wire::RequestPermissionParams {
    wire::RequestPermissionParams::new(tool_uses(calls), options(calls, choices))
}

/// Returns the params of `ask_user`.
pub(super) fn ask(tool_call_id: &str, questions: &[UserQuestion]) -> wire::AskUserParams {
    wire::AskUserParams::new(tool_call_id, questions_for_client(questions))
}

/// Pending questions, for a client that loads the session.
pub(super) fn pending(requests: &[UserRequest]) -> (Vec<PendingPermission>, Vec<PendingAskUser>) {
    let (mut permissions, mut asks) = (Vec::new(), Vec::new());
    for request in requests {
        match request {
            UserRequest::Permission { id, calls, choices } => {
                permissions.push(PendingPermission::new(
                    id.as_str(),
                    tool_uses(calls),
                    options(calls, choices),
                ));
            }
            UserRequest::Questions { id, tool_call_id, questions } => {
                asks.push(PendingAskUser::new(
                    id.as_str(),
                    tool_call_id.as_str(),
                    questions_for_client(questions),
                ));
            }
        }
    }
    (permissions, asks)
}

fn tool_uses(calls: &[RequestedCall]) -> Vec<PermissionToolUse> {
    let one = |call: &RequestedCall| {
        let input = Json::new(&call.input).unwrap_or_else(|_| Json::empty_object());
        let tool_use = wire::ToolUse::standalone(call.id.as_str(), call.name.as_str(), input);
        let details = details(call);
        let kind = wire::ToolConfirmationType::from(details.tag());
        PermissionToolUse::new(tool_use, kind, details)
    };
    calls.iter().map(one).collect()
}

fn details(call: &RequestedCall) -> wire::PermissionDetails {
    let impact = || Some(call.request.impact().into());
    let path = |path: &Path| path.to_string_lossy().into_owned();
    match &call.request.kind {
        Kind::Exec { full_command, command, extracted_commands, reason } => {
            let mut it = wire::ExecDetails::new(full_command.as_str());
            it.command = Some(command.clone());
            it.extracted_commands = Some(extracted_commands.clone());
            it.impact_level = impact();
            it.risk_level_reason.clone_from(reason);
            it.leaves_sandbox = call.request.leaves_sandbox.then_some(true);
            it.into()
        }
        Kind::Create { path: file, file_name, content } => {
            let mut it = wire::CreateDetails::new(path(file));
            it.file_name = Some(file_name.clone());
            it.content = Some(content.clone());
            it.into()
        }
        Kind::Edit { path: file, file_name, old_content, new_content } => {
            let mut it = wire::EditDetails::new(path(file));
            it.file_name = Some(file_name.clone());
            it.old_content.clone_from(old_content);
            it.new_content.clone_from(new_content);
            it.into()
        }
        Kind::ApplyPatch { path: file, file_name, patch, files, old_content, new_content } => {
            let mut it = wire::ApplyPatchDetails::new(path(file));
            it.file_name = Some(file_name.clone());
            it.patch_content = Some(patch.clone());
            it.old_content.clone_from(old_content);
            it.new_content.clone_from(new_content);
            let all: Vec<_> = files.iter().map(|file| json!({"filePath": path(file)})).collect();
            it.files = Some(Json::from(Value::from(all)));
            it.into()
        }
        Kind::McpTool { tool_name, server, actual_tool } => {
            let mut it = wire::McpToolDetails::new(tool_name.as_str());
            it.impact_level = impact();
            it.server_name = Some(server.clone());
            it.actual_tool_name = Some(actual_tool.clone());
            it.into()
        }
        Kind::ExitSpecMode { plan, title, option_names } => {
            let mut it = wire::ExitSpecModeDetails::new(plan.as_str());
            it.title.clone_from(title);
            it.option_names = (!option_names.is_empty()).then(|| option_names.clone());
            it.into()
        }
        Kind::Beyond { tool, target, operation, reason } => {
            let violation = match operation {
                Operation::Read => wire::SandboxViolationType::FilesystemRead,
                Operation::Network => wire::SandboxViolationType::Network,
                Operation::Tool => wire::SandboxViolationType::Tool,
            };
            let it = wire::SandboxViolationDetails {
                violating_tool_name: Some(tool.clone()),
                target: Some(target.clone()),
                operation_type: Some(operation.name().into()),
                violation_type: Some(violation),
                reason: Some(reason.clone()),
                is_org_deny: Some(false),
                ..wire::SandboxViolationDetails::default()
            };
            it.into()
        }
    }
}

fn options(calls: &[RequestedCall], choices: &[Choice]) -> Vec<PermissionOption> {
    // of several calls, the riskiest determines the label of "always"
    let foremost = calls.iter().max_by_key(|call| call.request.risk);
    let one = |choice: &Choice| {
        let label = match (choice, calls.len()) {
            (Choice::ProceedOnce, 2..) => "Yes, all of them".to_owned(),
            (Choice::Cancel, 2..) => "No, none of them".to_owned(),
            _ => foremost.map_or_else(|| choice.name().to_owned(), |call| call.request.label(*choice)),
        };
        let mut option = PermissionOption::new(label, super::choice(*choice));
        let is_cancel = *choice == Choice::Cancel;
        let warns = is_cancel || matches!(choice, Choice::ProceedAutoRunHigh | Choice::ProceedNewSessionHigh);
        option.selected_color = Some(if warns { WARNING_COLOR } else { PROCEED_COLOR }.to_owned());
        option.selected_prefix = is_cancel.then(|| "✕ ".to_owned());
        option
    };
    choices.iter().map(one).collect()
}

fn questions_for_client(questions: &[UserQuestion]) -> Vec<wire::Question> {
    let one = |question: &UserQuestion| {
        let mut it = wire::Question::new(count(question.index), question.question.as_str());
        it.topic = Some(question.topic.clone());
        it.options = Some(question.options.clone());
        it.multi_select = question.multiple.then_some(true);
        it
    };
    questions.iter().map(one).collect()
}
