//! Questions of the agent as the front end knows them, and its answers as the agent takes them. Pure.
//!
//! A plan is `ExitPlanMode`, a question to the user `AskUserQuestion`: the tools that the front end's protocol
//! has for them.

use musher::wire::{
    PermissionDetails, PermissionOption, PermissionToolUse, Question, ToolConfirmationOutcome as Outcome,
};
use musher::{Answers, Decision, Mismatch};
use musher_claude::{Extra, Json, Permission as Verdict, PermissionMode as Mode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::tools;

/// A tool call with the names of the front end's protocol.
#[derive(Debug, Clone)]
pub(super) struct ToolCall {
    pub(super) name: String,
    pub(super) input: Json,
    pub(super) id: String,
}

/// Returns the tool call of a permission request.
pub(super) fn told(asked: &PermissionToolUse) -> ToolCall {
    let call = &asked.tool_use;
    ToolCall { name: tools::told_name(&call.name), input: call.input.clone(), id: call.id.clone() }
}

/// Builds the payload of a permission request.
pub(super) fn permission(asked: &PermissionToolUse) -> Extra {
    let told = told(asked);
    let mut payload = payload(&told);
    let (reason, path) = match &asked.details {
        PermissionDetails::Exec(exec) => (exec.risk_level_reason.clone(), None),
        PermissionDetails::Create(create) => (None, Some(&create.file_path)),
        PermissionDetails::Edit(edit) => (None, Some(&edit.file_path)),
        PermissionDetails::ApplyPatch(patch) => (None, Some(&patch.file_path)),
        PermissionDetails::SandboxViolation(violation) => {
            (violation.reason.clone(), violation.target.as_ref())
        }
        PermissionDetails::DroidShieldViolation(violation) => (violation.reason.clone(), None),
        _ => (None, None),
    };
    // the front end shows the call, so it is the description that it does not show
    let reason = match (Mismatch::of(asked).first(), &asked.details) {
        (Some(mismatch), PermissionDetails::Exec(exec)) => Some(format!("{mismatch}: {}", exec.full_command)),
        (Some(mismatch), _) => Some(mismatch.to_string()),
        (None, _) => reason,
    };
    let summary = told.input.to_value().ok().and_then(|input| Some(input["summary"].as_str()?.to_owned()));
    for (name, value) in
        [("decision_reason", reason), ("description", summary), ("blocked_path", path.cloned())]
    {
        if let Some(value) = value {
            payload.insert(name, json!(value));
        }
    }
    if matches!(asked.details, PermissionDetails::ExitSpecMode(_)) {
        payload.insert("requires_user_interaction", json!(true));
    }
    payload.insert("suggestions", suggestions(asked, &told.name));
    payload
}

/// Builds the payload of questions to the user.
pub(super) fn questions(told: &ToolCall) -> Extra {
    let mut payload = payload(told);
    payload.insert("requires_user_interaction", json!(true));
    payload
}

/// Returns questions to the user as a tool call.
pub(super) fn questions_told(asked: &[Question], call: Option<&str>) -> ToolCall {
    let questions: Vec<_> = asked
        .iter()
        .map(|asked| {
            let options = asked.options.iter().flatten();
            let options: Vec<_> = options.map(|label| json!({"label": label, "description": ""})).collect();
            json!({
                "question": asked.question,
                "header": asked.topic.as_deref().unwrap_or_default(),
                "options": options,
                "multiSelect": asked.multi_select.unwrap_or_default(),
            })
        })
        .collect();
    ToolCall {
        name: tools::told_name(tools::ASK_USER),
        input: json!({"questions": questions}).into(),
        id: call.unwrap_or_default().to_owned(),
    }
}

fn payload(told: &ToolCall) -> Extra {
    let mut payload = Extra::default();
    payload.insert("callback_type", json!("can_use_tool"));
    payload.insert("tool_name", json!(told.name));
    payload.insert("tool_input", told.input.clone());
    if !told.id.is_empty() {
        payload.insert("tool_use_id", json!(told.id));
    }
    payload.insert("display_name", json!(told.name));
    payload
}

/// Returns grants that the front end can answer with, so that later calls need no request.
fn suggestions(asked: &PermissionToolUse, name: &str) -> Value {
    let rule = |rule: Value| json!({"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"});
    let mode = |mode: Mode| json!({"type": "setMode", "mode": mode.as_str(), "destination": "session"});
    match &asked.details {
        _ if !Mismatch::of(asked).is_empty() => json!([]),
        PermissionDetails::Exec(exec) => {
            json!([rule(json!({"toolName": name, "ruleContent": exec.full_command})), mode(Mode::Auto)])
        }
        PermissionDetails::ExitSpecMode(_) => json!([mode(Mode::AcceptEdits), mode(Mode::Auto)]),
        PermissionDetails::Create(_) | PermissionDetails::Edit(_) | PermissionDetails::ApplyPatch(_) => {
            json!([mode(Mode::AcceptEdits)])
        }
        PermissionDetails::McpTool(tool) => {
            let server =
                tool.server_name.as_ref().map(|server| rule(json!({"toolName": format!("mcp__{server}")})));
            let all: Vec<_> = std::iter::once(rule(json!({"toolName": name}))).chain(server).collect();
            json!(all)
        }
        _ => json!([]),
    }
}

/// The effect of the front end's answer.
#[derive(Debug, PartialEq)]
pub(super) struct Ruling {
    pub(super) decision: Decision,
    /// Whether the request is denied.
    pub(super) is_denial: bool,
    /// Permission changes for later calls.
    pub(super) updates: Vec<Update>,
    /// Why the answer could not be carried out as it is.
    pub(super) complaint: Option<String>,
}

/// A permission change for later calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Update {
    Allow { tool: String, content: Option<String> },
    Mode(Mode),
    Unknown(String),
}

/// Returns the answer to a permission request with these options, for its tool call `asked`.
pub(super) fn ruling(options: &[PermissionOption], asked: &PermissionToolUse, verdict: &Verdict) -> Ruling {
    let no = |complaint: Option<String>| Ruling {
        decision: Decision::deny(),
        is_denial: true,
        updates: Vec::new(),
        complaint,
    };
    let (updated_input, updated_permissions) = match verdict {
        Verdict::Allow { updated_input, updated_permissions } => (updated_input, updated_permissions),
        Verdict::Deny { message, .. } => {
            return Ruling { decision: Decision::deny().comment(message.clone()), ..no(None) };
        }
    };
    let mut updates = updated_permissions.as_ref().map(read_updates).unwrap_or_default();
    let is_changed = updated_input.as_ref().is_some_and(|input| *input != asked.tool_use.input);
    let decision = match &asked.details {
        PermissionDetails::ExitSpecMode(_) => {
            let plan = updated_input.as_ref().and_then(|input| input.to_value().ok());
            let plan = plan.and_then(|input| Some(input["plan"].as_str()?.to_owned()));
            match plan.filter(|_| is_changed) {
                Some(plan) => Decision::edit_plan(plan),
                None => plan_outcome(options, &mut updates).into(),
            }
        }
        // running an input that was not approved would be worse than running nothing
        _ if is_changed => {
            return no(Some("this agent cannot run a tool with another input: it was refused".to_owned()));
        }
        _ => Decision::allow_once(),
    };
    Ruling { decision, is_denial: false, updates, complaint: None }
}

/// Returns the approval of a plan, with the autonomy level that the answer sets, if any.
fn plan_outcome(options: &[PermissionOption], updates: &mut Vec<Update>) -> Outcome {
    let outcome = updates.iter().find_map(|update| match update {
        Update::Mode(Mode::AcceptEdits) => Some(Outcome::ProceedAutoRunLow),
        Update::Mode(Mode::Auto) => Some(Outcome::ProceedAutoRunMedium),
        _ => None,
    });
    match outcome.filter(|outcome| options.iter().any(|option| option.value == *outcome)) {
        Some(outcome) => {
            updates.retain(|update| !matches!(update, Update::Mode(_)));
            outcome
        }
        None => Outcome::ProceedOnce,
    }
}

fn read_updates(given: &Json) -> Vec<Update> {
    #[derive(Deserialize)]
    #[serde(tag = "type", rename_all = "camelCase")]
    enum UpdateInput {
        AddRules {
            rules: Vec<Rule>,
            behavior: String,
        },
        SetMode {
            mode: String,
        },
        #[serde(other)]
        Other,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Rule {
        tool_name: String,
        rule_content: Option<String>,
    }
    let mut all = Vec::new();
    for one in given.to::<Vec<Json>>().unwrap_or_default() {
        match one.to::<UpdateInput>() {
            Ok(UpdateInput::AddRules { rules, behavior }) if behavior == "allow" => {
                let rules = rules.into_iter();
                all.extend(
                    rules.map(|rule| Update::Allow { tool: rule.tool_name, content: rule.rule_content }),
                );
            }
            Ok(UpdateInput::SetMode { mode }) if Mode::named(&mode).is_some() => {
                all.extend(Mode::named(&mode).map(Update::Mode));
            }
            _ => all.push(Update::Unknown(one.text().to_owned())),
        }
    }
    all
}

/// Returns the answers to questions: those in `answers` of the input, by the text of the question.
pub(super) fn reply(asked: &[Question], verdict: &Verdict) -> Answers {
    let Verdict::Allow { updated_input: Some(input), .. } = verdict else { return Answers::Declined };
    let input = input.to_value().unwrap_or_default();
    let Some(answers) = input["answers"].as_object().filter(|answers| !answers.is_empty()) else {
        return Answers::Declined;
    };
    Answers::Given(asked.iter().map(|asked| answer(answers, &asked.question)).collect())
}

fn answer(answers: &Map<String, Value>, question: &str) -> String {
    match answers.get(question) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(several)) => {
            several.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
