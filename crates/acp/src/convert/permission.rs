//! The agent's requests for permission as the editor's, and the answers back.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, ToolCallContent,
};
use musher::Decision;
use musher::wire::{PermissionDetails, PermissionOption as Offered, ToolConfirmationOutcome as Outcome};
use serde_json::Value;

use super::tool_call::{absolute, diff, fenced, show, words};

/// Every answer the agent offers, under its own name, and `narrow`, an id with a label, which allows less than the agent's "always". It stands
/// first of what is allowed for good: editors that show words of their own take the first.
///
/// Changing the plan is offered if there is a way to: agents take a changed plan, whether they offer that or not.
pub(crate) fn options(
    offered: &[Offered],
    can_change_plan: bool,
    narrow: Option<(&str, String)>,
) -> Vec<PermissionOption> {
    let is_change = |option: &&Offered| option.value == Outcome::ProceedEdit;
    let button = |option: &Offered| {
        PermissionOption::new(option.value.as_str().to_owned(), option.label.clone(), kind(&option.value))
    };
    let mut options: Vec<_> = offered.iter().filter(|option| !is_change(option)).map(button).collect();
    if let Some((id, label)) = narrow {
        let is_always = |option: &PermissionOption| option.kind == PermissionOptionKind::AllowAlways;
        let at = options.iter().position(is_always).unwrap_or(options.len());
        options.insert(at, PermissionOption::new(id.to_owned(), label, PermissionOptionKind::AllowAlways));
    }
    if can_change_plan {
        let ours = Offered::new("Yes, with changes", Outcome::ProceedEdit);
        let change = button(offered.iter().find(is_change).unwrap_or(&ours));
        let is_cancel = |option: &PermissionOption| &*option.option_id.0 == Outcome::Cancel.as_str();
        let last_yes = options.iter().position(is_cancel).unwrap_or(options.len());
        options.insert(last_yes, change);
    }
    if offered.iter().all(|option| option.value != Outcome::Cancel) {
        // saying no is always possible, and must be possible to see
        options.push(PermissionOption::new(
            Outcome::Cancel.as_str().to_owned(),
            "No",
            PermissionOptionKind::RejectOnce,
        ));
    }
    options
}

/// The person's answer for the agent. Everything but a choice is a no.
pub(crate) fn decision(outcome: &RequestPermissionOutcome) -> Decision {
    match outcome {
        RequestPermissionOutcome::Selected(selected) => Outcome::from(selected.option_id.0.as_ref()).into(),
        _ => Decision::deny(),
    }
}

/// The details of the action, if the agent sends more than the call itself.
pub(crate) fn content(details: &PermissionDetails, cwd: &Path) -> Vec<ToolCallContent> {
    match details {
        PermissionDetails::Edit(edit) => match &edit.new_content {
            Some(new) => vec![diff(&absolute(cwd, &edit.file_path), edit.old_content.clone(), new)],
            None => Vec::new(),
        },
        PermissionDetails::Create(create) => match &create.content {
            Some(new) => vec![diff(&absolute(cwd, &create.file_path), None, new)],
            None => Vec::new(),
        },
        PermissionDetails::ApplyPatch(patch) => match (&patch.new_content, &patch.patch_content) {
            (Some(new), _) => vec![diff(&absolute(cwd, &patch.file_path), patch.old_content.clone(), new)],
            (None, Some(text)) => show("ApplyPatch", &Value::from(text.clone()), cwd).content,
            (None, None) => Vec::new(),
        },
        PermissionDetails::Exec(exec) => {
            let command = fenced(&exec.full_command);
            let why = exec.risk_level_reason.as_ref().map(|reason| words(reason.clone()));
            std::iter::once(command).chain(why).collect()
        }
        PermissionDetails::ExitSpecMode(plan) => vec![words(plan.plan.clone())],
        PermissionDetails::ProposeMission(mission) => vec![words(mission.proposal.clone())],
        PermissionDetails::SandboxViolation(violation) => {
            violation.reason.iter().chain(&violation.target).map(|text| words(text.clone())).collect()
        }
        PermissionDetails::DroidShieldViolation(violation) => violation
            .command
            .iter()
            .map(|command| fenced(command))
            .chain(violation.reason.clone().map(words))
            .collect(),
        _ => Vec::new(),
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
    use serde_json::json;

    use super::*;

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
        let offered = ["proceed_once", "proceed_edit", "proceed_always"]
            .map(|value| Offered::new(format!("Label of {value}"), Outcome::from(value)));
        let options = options(&offered, false, None);
        let told: Vec<_> = options.iter().map(|option| (&*option.option_id.0, &*option.name)).collect();
        let expected = [
            ("proceed_once", "Label of proceed_once"),
            ("proceed_always", "Label of proceed_always"),
            ("cancel", "No"),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn changing_a_plan_is_offered_before_the_no_where_it_can_be_done() {
        let offered = ["proceed_once", "cancel"].map(|value| Offered::new("Label", Outcome::from(value)));
        let ids = |options: &[PermissionOption]| -> Vec<String> {
            options.iter().map(|option| option.option_id.0.to_string()).collect()
        };
        assert_eq!(ids(&options(&offered, true, None)), ["proceed_once", "proceed_edit", "cancel"]);
        let labelled = [Offered::new("Let me", Outcome::ProceedEdit)];
        let told = options(&labelled, true, None);
        assert_eq!((&*told[0].name, told.len()), ("Let me", 2));
    }

    #[test]
    fn narrow_grant_stands_before_the_broad_one() {
        let offered = ["proceed_once", "proceed_always", "cancel"]
            .map(|value| Offered::new("Label", Outcome::from(value)));
        let options = options(&offered, false, Some(("narrow", "Yes, this".to_owned())));
        let ids: Vec<_> = options.iter().map(|option| &*option.option_id.0).collect();
        assert_eq!(ids, ["proceed_once", "narrow", "proceed_always", "cancel"]);
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
        let shown = |details| {
            let details: PermissionDetails = serde_json::from_value(details).unwrap();
            serde_json::to_value(content(&details, Path::new("/w"))).unwrap()
        };
        let edit = json!({"type": "edit", "filePath": "a", "oldContent": "1\n", "newContent": "2\n"});
        assert_eq!(
            shown(edit),
            json!([{"type": "diff", "path": "/w/a", "oldText": "1\n", "newText": "2\n"}])
        );
        let exec = shown(json!({"type": "exec", "fullCommand": "ls", "riskLevelReason": "harmless"}));
        assert_eq!(
            (&exec[0]["content"]["text"], &exec[1]["content"]["text"]),
            (&json!("```\nls\n```"), &json!("harmless"))
        );
        assert_eq!(shown(json!({"type": "mcp_tool", "toolName": "a___b"})), json!([]));
    }
}
