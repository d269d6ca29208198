//! Questions and answers as they are in captures of droid 0.225.2.

use musher::wire::{AskUserParams, RequestPermissionParams};

use super::*;

/// Returns the request of the agent in a capture.
fn asked<T: serde::de::DeserializeOwned>(capture: &str, method: &str) -> T {
    let path = format!("{}/../../fixtures/wire/droid-0.225.2/{capture}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = fs_err::read_to_string(path).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["msg"].clone());
    let request = lines.find(|message| message["method"] == method).unwrap();
    serde_json::from_value(request["params"].clone()).unwrap()
}

fn permission_in(capture: &str) -> RequestPermissionParams {
    asked(capture, "droid.request_permission")
}

fn told_of(capture: &str) -> Value {
    serde_json::to_value(permission(&permission_in(capture).tool_uses[0])).unwrap()
}

fn allow(updated_input: Value, updated_permissions: Value) -> Verdict {
    let some = |value: Value| (!value.is_null()).then(|| Json::from(value));
    Verdict::Allow { updated_input: some(updated_input), updated_permissions: some(updated_permissions) }
}

fn rule(capture: &str, verdict: &Verdict) -> Ruling {
    let asked = permission_in(capture);
    ruling(&asked.options, &asked.tool_uses[0], verdict)
}

#[test]
fn command_is_asked_for_with_its_input_and_why() {
    let command = "echo one > perm.txt";
    assert_eq!(
        told_of("tool_permission_allow"),
        json!({
            "callback_type": "can_use_tool",
            "tool_name": "Execute",
            "tool_input": {
                "command": command, "timeout": 60, "riskLevel": "medium", "riskLevelReason": "writes a file",
                "summary": "write file"
            },
            "tool_use_id": "call_1a1e07525a0_0",
            "display_name": "Execute",
            "decision_reason": "writes a file",
            "description": "write file",
            "suggestions": [
                {"type": "addRules", "rules": [{"toolName": "Execute", "ruleContent": command}], "behavior": "allow", "destination": "session"},
                {"type": "setMode", "mode": "auto", "destination": "session"}
            ]
        })
    );
    let file = told_of("create_file");
    assert_eq!(
        (&file["tool_name"], &file["blocked_path"]),
        (&json!("Create"), &json!("/workspace/new_file.txt"))
    );
    assert_eq!(file["suggestions"][0]["mode"], "acceptEdits");
    let tool = told_of("mcp_tool");
    assert_eq!(tool["suggestions"][0]["rules"][0]["toolName"], tool["tool_name"]);
    assert!(tool["tool_name"].as_str().unwrap().starts_with("mcp__probe__"));
}

#[test]
fn agent_that_describes_another_call_is_exposed_and_no_rule_is_suggested() {
    for (capture, field, expected) in [
        (
            "tool_permission_allow",
            "command",
            "The agent describes another command than the one in its call: echo one > perm.txt",
        ),
        ("create_file", "content", "The agent describes another content than the one in its call"),
        ("edit_file", "new_str", "The agent describes another change than the one in its call"),
    ] {
        let mut asked = permission_in(capture).tool_uses.remove(0);
        let mut input = asked.tool_use.input.to_value().unwrap();
        input[field] = json!("rm -rf ~");
        asked.tool_use.input = input.into();
        let told = serde_json::to_value(permission(&asked)).unwrap();
        assert_eq!((&told["decision_reason"], &told["suggestions"]), (&json!(expected), &json!([])));
        assert_eq!(told["tool_input"][field], "rm -rf ~");
    }
}

#[test]
fn allow_and_deny_are_kept_with_the_reason() {
    let yes = rule("tool_permission_allow", &Verdict::allow());
    assert_eq!((yes.decision, yes.is_denial, yes.complaint), (Decision::allow_once(), false, None));
    let no = rule("tool_permission_allow", &Verdict::deny("not here"));
    assert_eq!((no.decision, no.is_denial), (Decision::deny().comment("not here"), true));
}

#[test]
fn another_input_is_refused_and_the_same_input_is_not() {
    let input = told_of("create_file")["tool_input"].clone();
    assert!(!rule("create_file", &allow(input, json!(null))).is_denial);
    let other = rule("create_file", &allow(json!({"file_path": "/elsewhere"}), json!(null)));
    assert!(other.is_denial && other.complaint.is_some());
}

#[test]
fn permission_updates_are_read_in_the_form_of_the_suggestions() {
    let given = json!([
        {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}], "behavior": "allow", "destination": "session"},
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        {"type": "addDirectories", "directories": ["/x"], "destination": "session"},
        {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "deny", "destination": "session"}
    ]);
    let updates = rule("create_file", &allow(json!(null), given)).updates;
    let content = Some("ls:*".to_owned());
    assert_eq!(
        updates[..2],
        [Update::Allow { tool: "Bash".to_owned(), content }, Update::Mode(Mode::AcceptEdits)]
    );
    assert!(matches!(updates[2..], [Update::Unknown(_), Update::Unknown(_)]));
}

#[test]
fn plan_is_approved_as_it_is_edited_or_with_a_mode() {
    let told = told_of("spec_mode_exit");
    assert_eq!(
        (&told["tool_name"], &told["requires_user_interaction"]),
        (&json!("ExitPlanMode"), &json!(true))
    );
    assert_eq!(told["tool_input"]["plan"], "# Plan\n1. Create a file.\n");
    assert_eq!(rule("spec_mode_exit", &Verdict::allow()).decision, Decision::allow_once());
    let changed = rule("spec_mode_exit", &allow(json!({"plan": "Other"}), json!(null)));
    assert_eq!(changed.decision, Decision::edit_plan("Other"));
    let freely = allow(json!(null), told["suggestions"].clone());
    let freely = rule("spec_mode_exit", &freely);
    assert_eq!((freely.decision.outcome(), freely.updates.len()), (&Outcome::ProceedAutoRunLow, 0));
}

#[test]
fn questions_are_those_of_the_tool_that_front_ends_know() {
    let asked: AskUserParams = asked("ask_user", "droid.ask_user");
    let told = questions_told(&asked.questions, Some(&asked.tool_call_id));
    let payload = serde_json::to_value(questions(&told)).unwrap();
    assert_eq!(
        (&payload["tool_name"], &payload["tool_use_id"]),
        (&json!("AskUserQuestion"), &json!(asked.tool_call_id))
    );
    assert_eq!(
        payload["tool_input"]["questions"][0],
        json!({
            "question": "Which color?", "header": "Color", "multiSelect": false,
            "options": [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]
        })
    );
    let answered = json!({"answers": {"Which color?": "Blue", "Which size?": ["S", "L"]}});
    let expected = Answers::Given(vec!["Blue".to_owned(), "S, L".to_owned()]);
    assert_eq!(reply(&asked.questions, &allow(answered, json!(null))), expected);
    for nothing in [Verdict::allow(), Verdict::deny("no"), allow(json!({"answers": {}}), json!(null))] {
        assert_eq!(reply(&asked.questions, &nothing), Answers::Declined);
    }
}
