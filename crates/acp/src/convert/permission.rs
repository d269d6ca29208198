//! The agent's requests for permission as the editor's, and the answers back.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, ToolCallContent,
};
use musher::wire::{PermissionDetails, PermissionToolUse, ToolConfirmationOutcome as Outcome};
use musher::{Decision, Mismatch, PermissionChoice};
use serde_json::Value;

use super::tool_call::{absolute, diff, fenced, show, words};

/// Returns every answer the agent offers, and `narrow`, an id with a label, which allows less than the agent's "always". It stands first
/// of what
/// is allowed for good, and the agent's "always" for all calls of a kind last: editors that show words of their own take the first.
///
/// Changing the plan is offered if there is a way to: agents take a changed plan, whether they offer that or not.
pub(crate) fn options(
    offered: &[PermissionChoice],
    can_change_plan: bool,
    narrow: Option<(&str, String)>,
) -> Vec<PermissionOption> {
    let is_change = |choice: &&PermissionChoice| choice.outcome == Outcome::ProceedEdit;
    let option = |outcome: &Outcome, label: &str| {
        PermissionOption::new(outcome.as_str().to_owned(), label.to_owned(), kind(outcome))
    };
    let button = |choice: &PermissionChoice| option(&choice.outcome, &choice.label);
    let mut options: Vec<_> = offered.iter().filter(|option| !is_change(option)).map(button).collect();
    let is_broad = |option: &PermissionOption| &*option.option_id.0 == Outcome::ProceedAlways.as_str();
    if let Some(broad) = options.iter().position(is_broad) {
        let broad = options.remove(broad);
        let is_allowed = |option: &PermissionOption| option.kind != PermissionOptionKind::RejectOnce;
        let last_yes = options.iter().rposition(is_allowed).map_or(0, |last| last + 1);
        options.insert(last_yes, broad);
    }
    if let Some((id, label)) = narrow {
        let is_always = |option: &PermissionOption| option.kind == PermissionOptionKind::AllowAlways;
        let at = options.iter().position(is_always).unwrap_or(options.len());
        options.insert(at, PermissionOption::new(id.to_owned(), label, PermissionOptionKind::AllowAlways));
    }
    if can_change_plan {
        let change = offered.iter().find(is_change).map(button);
        let change = change.unwrap_or_else(|| option(&Outcome::ProceedEdit, "Yes, with changes"));
        let is_cancel = |option: &PermissionOption| &*option.option_id.0 == Outcome::Cancel.as_str();
        let last_yes = options.iter().position(is_cancel).unwrap_or(options.len());
        options.insert(last_yes, change);
    }
    if offered.iter().all(|choice| choice.outcome != Outcome::Cancel) {
        // saying no is always possible, and must be possible to see
        options.push(option(&Outcome::Cancel, "No"));
    }
    options
}

/// Returns the user's decision for the agent. Everything but a choice is a denial.
pub(crate) fn decision(outcome: &RequestPermissionOutcome) -> Decision {
    match outcome {
        RequestPermissionOutcome::Selected(selected) => Outcome::from(selected.option_id.0.as_ref()).into(),
        _ => Decision::deny(),
    }
}

/// Returns what a call would do, as the agent describes it, and the call itself where the description shows something else or nothing.
pub(crate) fn content(asked: &PermissionToolUse, cwd: &Path) -> Vec<ToolCallContent> {
    let mut content = described(asked, cwd);
    for mismatch in Mismatch::of(asked) {
        content.push(words(format!("**{mismatch}:**")));
        content.push(fenced(&mismatch.called));
    }
    content
}

fn described(asked: &PermissionToolUse, cwd: &Path) -> Vec<ToolCallContent> {
    let input = asked.tool_use.input.to_value().unwrap_or_default();
    let call = || {
        let shown = show(&asked.tool_use.name, &input, cwd).content;
        let command = input["command"].as_str().map(fenced);
        let is_empty = input.as_object().is_none_or(serde_json::Map::is_empty);
        match (shown.is_empty(), command) {
            (false, _) => shown,
            (true, Some(command)) => vec![command],
            (true, None) if is_empty => Vec::new(),
            (true, None) => vec![fenced(&serde_json::to_string_pretty(&input).unwrap_or_default())],
        }
    };
    match &asked.details {
        PermissionDetails::Edit(edit) => match &edit.new_content {
            Some(new) => vec![diff(&absolute(cwd, &edit.file_path), edit.old_content.clone(), new)],
            None => call(),
        },
        PermissionDetails::Create(create) => match &create.content {
            Some(new) => vec![diff(&absolute(cwd, &create.file_path), None, new)],
            None => call(),
        },
        PermissionDetails::ApplyPatch(patch) => {
            let text = patch.patch_content.clone().map_or_else(|| input.clone(), Value::from);
            let shown = show("ApplyPatch", &text, cwd);
            match &patch.new_content {
                // the whole file, if there is no other in the patch
                Some(new) if shown.locations.len() < 2 => {
                    vec![diff(&absolute(cwd, &patch.file_path), patch.old_content.clone(), new)]
                }
                _ => shown.content,
            }
        }
        PermissionDetails::Exec(exec) => {
            let command = fenced(&exec.full_command);
            let why = exec.risk_level_reason.as_ref().map(|reason| words(reason.clone()));
            std::iter::once(command).chain(why).collect()
        }
        PermissionDetails::ExitSpecMode(plan) => vec![words(plan.plan.clone())],
        PermissionDetails::ProposeMission(mission) => vec![words(mission.proposal.clone())],
        PermissionDetails::SandboxViolation(violation) => {
            let why = violation.reason.iter().chain(&violation.target).map(|text| words(text.clone()));
            why.chain(call()).collect()
        }
        PermissionDetails::DroidShieldViolation(violation) => violation
            .command
            .iter()
            .map(|command| fenced(command))
            .chain(violation.reason.clone().map(words))
            .collect(),
        _ => call(),
    }
}

fn kind(outcome: &Outcome) -> PermissionOptionKind {
    match outcome {
        Outcome::Cancel => PermissionOptionKind::RejectOnce,
        Outcome::ProceedOnce | Outcome::ProceedEdit | Outcome::ProceedNewSession => {
            PermissionOptionKind::AllowOnce
        }
        // also what a newer agent offers: a button that may mean more must not look like less
        _ => PermissionOptionKind::AllowAlways,
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::SelectedPermissionOutcome;
    use musher::PermissionRequest;
    use musher::wire::PermissionOption as Offered;
    use serde_json::json;

    use super::*;

    fn offered(options: &[(&str, &str)]) -> Vec<PermissionChoice> {
        let options = options.iter().map(|(label, value)| Offered::new(*label, Outcome::from(*value)));
        PermissionRequest::new(Vec::new(), options.collect()).choices()
    }

    /// Returns what is shown of a call before the decision.
    fn shown(name: &str, input: Value, details: Value) -> Value {
        let mut asked = json!({
            "toolUse": {"type": "tool_use", "id": "t", "name": name},
            "confirmationType": details["type"],
        });
        asked["toolUse"]["input"] = input;
        asked["details"] = details;
        let asked = serde_json::from_value(asked).unwrap();
        serde_json::to_value(content(&asked, Path::new("/w"))).unwrap()
    }

    #[test]
    fn each_answer_has_its_kind() {
        for (value, expected) in [
            ("proceed_once", "allow_once"),
            ("proceed_new_session", "allow_once"),
            ("proceed_always", "allow_always"),
            ("proceed_always_file", "allow_always"),
            ("proceed_always_tools", "allow_always"),
            ("proceed_always_server", "allow_always"),
            ("proceed_auto_run_low", "allow_always"),
            ("proceed_auto_run_high", "allow_always"),
            ("proceed_with_something_new", "allow_always"),
            ("cancel", "reject_once"),
        ] {
            assert_eq!(serde_json::to_value(kind(&Outcome::from(value))).unwrap(), expected, "{value}");
        }
    }

    #[test]
    fn every_offer_but_editing_is_passed_on_and_a_no_is_always_there() {
        let offered = offered(&[
            ("Yes, allow", "proceed_once"),
            ("Yes, with changes", "proceed_edit"),
            ("Always allow it", "proceed_always"),
        ]);
        let options = options(&offered, false, None);
        let told: Vec<_> = options.iter().map(|option| (&*option.option_id.0, &*option.name)).collect();
        let expected =
            [("proceed_once", "Yes, allow"), ("proceed_always", "Always allow it"), ("cancel", "No")];
        assert_eq!(told, expected);
    }

    #[test]
    fn changing_a_plan_is_offered_before_the_no_where_it_can_be_done() {
        let choices = offered(&[("Yes", "proceed_once"), ("No", "cancel")]);
        let ids = |options: &[PermissionOption]| -> Vec<String> {
            options.iter().map(|option| option.option_id.0.to_string()).collect()
        };
        assert_eq!(ids(&options(&choices, true, None)), ["proceed_once", "proceed_edit", "cancel"]);
        let labelled = offered(&[("Proceed, let me change it", "proceed_edit")]);
        let told = options(&labelled, true, None);
        assert_eq!((&*told[0].name, told.len()), ("Proceed, let me change it", 2));
    }

    #[test]
    fn narrow_grant_stands_before_the_broad_one() {
        let choices = offered(&[("Yes", "proceed_once"), ("Always", "proceed_always"), ("No", "cancel")]);
        let options = options(&choices, false, Some(("narrow", "Yes, this".to_owned())));
        let ids: Vec<_> = options.iter().map(|option| &*option.option_id.0).collect();
        assert_eq!(ids, ["proceed_once", "narrow", "proceed_always", "cancel"]);
    }

    #[test]
    fn broad_grant_stands_after_all_others() {
        let choices = offered(&[
            ("Yes", "proceed_once"),
            ("Always allow it", "proceed_always"),
            ("Always allow the tool", "proceed_always_tools"),
            ("Always allow the server", "proceed_always_server"),
            ("No", "cancel"),
        ]);
        let options = options(&choices, false, None);
        let ids: Vec<_> = options.iter().map(|option| &*option.option_id.0).collect();
        assert_eq!(
            ids,
            ["proceed_once", "proceed_always_tools", "proceed_always_server", "proceed_always", "cancel"]
        );
    }

    #[test]
    fn only_a_selected_option_is_an_approval() {
        let chosen = SelectedPermissionOutcome::new("proceed_always_tools");
        let chosen = decision(&RequestPermissionOutcome::Selected(chosen));
        assert_eq!(chosen.outcome(), &Outcome::ProceedAlwaysTools);
        assert_eq!(decision(&RequestPermissionOutcome::Cancelled), Decision::deny());
    }

    #[test]
    fn whole_diff_is_shown_before_the_change() {
        let input = json!({"file_path": "a", "old_str": "1", "new_str": "2"});
        let edit = json!({"type": "edit", "filePath": "a", "oldContent": "1\n", "newContent": "2\n"});
        assert_eq!(
            shown("Edit", input.clone(), edit),
            json!([{"type": "diff", "path": "/w/a", "oldText": "1\n", "newText": "2\n"}])
        );
        let bare = shown("Edit", input, json!({"type": "edit", "filePath": "a"}));
        assert_eq!(bare, json!([{"type": "diff", "path": "/w/a", "oldText": "1", "newText": "2"}]));
        let exec = json!({"type": "exec", "fullCommand": "ls", "riskLevelReason": "harmless"});
        let exec = shown("Execute", json!({"command": "ls"}), exec);
        assert_eq!(
            (&exec[0]["content"]["text"], &exec[1]["content"]["text"]),
            (&json!("```\nls\n```"), &json!("harmless"))
        );
        assert_eq!(exec.as_array().unwrap().len(), 2);
    }

    #[test]
    fn every_file_of_a_patch_is_shown() {
        let patch =
            "*** Begin Patch\n*** Update File: a\n@@\n-1\n+2\n*** Add File: .env\n+KEY=1\n*** End Patch";
        let details = json!({"type": "apply_patch", "filePath": "/w/a", "patchContent": patch,
            "oldContent": "1\n", "newContent": "2\n"});
        let content = shown("ApplyPatch", json!({"input": patch}), details);
        let paths: Vec<_> = content.as_array().unwrap().iter().map(|it| it["path"].as_str()).collect();
        assert_eq!(paths, [Some("/w/a"), Some("/w/.env")]);
    }

    #[test]
    fn call_is_shown_if_it_is_not_described() {
        let call = shown("a___b", json!({"drop": "all"}), json!({"type": "mcp_tool", "toolName": "a___b"}));
        assert!(call[0]["content"]["text"].as_str().unwrap().contains("\"drop\": \"all\""), "{call}");
        let violation = json!({"type": "sandbox_violation", "reason": "because", "target": "/x"});
        let call = shown("Execute", json!({"command": "cat /x"}), violation);
        assert_eq!(call[2]["content"]["text"], "```\ncat /x\n```", "{call}");
    }

    #[test]
    fn agent_that_describes_another_call_is_exposed() {
        let call =
            shown("Execute", json!({"command": "rm -rf ~"}), json!({"type": "exec", "fullCommand": "ls"}));
        let texts: Vec<_> =
            call.as_array().unwrap().iter().map(|it| it["content"]["text"].as_str().unwrap()).collect();
        let warning = "**The agent describes another command than the one in its call:**";
        assert_eq!(texts, ["```\nls\n```", warning, "```\nrm -rf ~\n```"]);
        let create = json!({"type": "create", "filePath": "/w/a", "content": "harmless"});
        let call = shown("Create", json!({"file_path": "/w/a", "content": "evil"}), create);
        assert_eq!(call[2]["content"]["text"], "```\nevil\n```", "{call}");
    }
}
