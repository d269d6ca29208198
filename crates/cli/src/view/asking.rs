//! What is asked on the terminal, and what the typed answer means.
//!
//! What needs consent is shown whole, and with everything visible that could make it look like something else.

use musher::wire::{
    PermissionDetails, PermissionOption, PermissionToolUse, Question, ToolConfirmationOutcome,
};
use musher::{Decision, Permission};
use musher_engine::permission::visible;

use super::{call, diff, input};
use crate::look::Look;
use crate::sanitize::sanitized;
use crate::styled::Styled;

/// So many lines of a plan or an input are shown.
const MOST_LINES: usize = 200;
/// The longest label of an answer.
const LONGEST_LABEL: usize = 200;

/// What a typed line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said<T> {
    /// This.
    This(T),
    /// Nothing that could be an answer.
    Nothing,
}

/// What the agent wants to do, and the answers to choose from.
pub(crate) fn permission(asked: &Permission, look: Look) -> Vec<Styled> {
    let mut out = Vec::new();
    for tool_use in &asked.tool_uses {
        details(tool_use, look, &mut out);
    }
    for (index, option) in choices(asked).iter().enumerate() {
        out.push(format!("  {} {}", index + 1, sanitized(&option.label, LONGEST_LABEL)).into());
    }
    out
}

/// What the agent wanted to do, in one line.
pub(crate) fn reason(asked: &Permission) -> String {
    let titles = asked.tool_uses.iter().map(|it| call::title(&it.tool_use.name, &input(&it.tool_use), None));
    titles.collect::<Vec<_>>().join("; ")
}

/// The decision that was typed. Nothing typed is a no.
pub(crate) fn read_decision(asked: &Permission, line: &str) -> Said<Decision> {
    let offered = |outcome: ToolConfirmationOutcome| {
        if asked.offers(&outcome) { Said::This(outcome.into()) } else { Said::Nothing }
    };
    match line.trim().to_lowercase().as_str() {
        "" | "n" | "no" => Said::This(Decision::deny()),
        "y" | "yes" => offered(ToolConfirmationOutcome::ProceedOnce),
        "a" | "always" => offered(ToolConfirmationOutcome::ProceedAlways),
        number => match pick(number, &choices(asked)) {
            Some(option) => Said::This(option.value.clone().into()),
            None => Said::Nothing,
        },
    }
}

/// A question and the answers to choose from.
pub(crate) fn question(asked: &Question, look: Look) -> Vec<Styled> {
    let mut out: Vec<_> = visible(&asked.question).lines().map(|line| look.strong(line)).collect();
    for (index, option) in asked.options.iter().flatten().enumerate() {
        out.push(format!("  {} {}", index + 1, sanitized(option, LONGEST_LABEL)).into());
    }
    if asked.multi_select == Some(true) {
        out.push(look.dim("  (several: 1,2)"));
    }
    out
}

/// The answer that was typed: the numbers of options, or anything else as it is.
pub(crate) fn read_answer(asked: &Question, line: &str) -> Said<String> {
    let line = line.trim();
    if line.is_empty() {
        return Said::Nothing;
    }
    let options = asked.options.as_deref().unwrap_or_default();
    let numbers: Vec<_> = line.split(',').map(str::trim).collect();
    let is_few = asked.multi_select == Some(true) || numbers.len() == 1;
    let picked: Option<Vec<_>> = numbers.iter().map(|number| pick(number, options).cloned()).collect();
    match picked.filter(|_| is_few) {
        Some(picked) => Said::This(picked.join(", ")),
        None => Said::This(line.to_owned()),
    }
}

/// What the number stands for, counted from 1.
fn pick<'a, T>(number: &str, of: &'a [T]) -> Option<&'a T> {
    of.get(number.parse::<usize>().ok()?.checked_sub(1)?)
}

/// What can be answered here. A plan cannot be edited in one line.
fn choices(asked: &Permission) -> Vec<&PermissionOption> {
    asked.options.iter().filter(|option| option.value != ToolConfirmationOutcome::ProceedEdit).collect()
}

fn details(asked: &PermissionToolUse, look: Look, out: &mut Vec<Styled>) {
    let indented = |text: &str, out: &mut Vec<Styled>| {
        let text = visible(text);
        let count = text.lines().count();
        out.extend(text.lines().take(MOST_LINES).map(|line| format!("    {line}").into()));
        if count > MOST_LINES {
            out.push(look.dim(&format!("    … {} more lines", count - MOST_LINES)));
        }
    };
    let head = |text: String| look.strong(&format!("? {text}"));
    match &asked.details {
        PermissionDetails::Exec(exec) => {
            out.push(head("run a command".to_owned()));
            // consent is for all of it, so all of it is shown
            out.extend(visible(&exec.full_command).lines().map(|line| format!("    {line}").into()));
            let impact = exec.impact_level.as_ref().map_or("unknown", |level| level.as_str());
            let reason = exec.risk_level_reason.as_deref().unwrap_or_default();
            let reason =
                if reason.is_empty() { String::new() } else { format!(": {}", sanitized(reason, 500)) };
            out.push(look.dim(&format!("    {} impact{reason}", sanitized(impact, 20))));
        }
        PermissionDetails::Create(create) => {
            out.push(head(format!("write {}", visible(&create.file_path))));
            out.extend(diff::between("", create.content.as_deref().unwrap_or_default(), look));
        }
        PermissionDetails::Edit(edit) => {
            out.push(head(format!("change {}", visible(&edit.file_path))));
            let (old, new) = (edit.old_content.as_deref(), edit.new_content.as_deref());
            out.extend(diff::between(old.unwrap_or_default(), new.unwrap_or_default(), look));
        }
        PermissionDetails::ApplyPatch(patch) => {
            out.push(head(format!("change {}", visible(&patch.file_path))));
            match (&patch.old_content, &patch.new_content, &patch.patch_content) {
                (_, _, Some(text)) => indented(text, out),
                (old, new, None) => {
                    let text = |it: &Option<String>| it.clone().unwrap_or_default();
                    out.extend(diff::between(&text(old), &text(new), look));
                }
            }
        }
        PermissionDetails::ExitSpecMode(plan) => {
            out.push(head("carry out this plan".to_owned()));
            indented(&plan.plan, out);
        }
        _ => {
            out.push(head(format!("use {}", sanitized(&asked.tool_use.name, 200))));
            let pretty = serde_json::to_string_pretty(&input(&asked.tool_use)).unwrap_or_default();
            indented(&pretty, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use musher::wire::RequestPermissionParams;
    use serde_json::json;

    fn asked(details: &serde_json::Value) -> Permission {
        let params: RequestPermissionParams = serde_json::from_value(json!({
            "toolUses": [{
                "toolUse": {"type": "tool_use", "id": "t", "name": "Execute", "input": {"command": "ls"}},
                "confirmationType": details["type"], "details": details,
            }],
            "options": [
                {"label": "Yes", "value": "proceed_once"},
                {"label": "With changes", "value": "proceed_edit"},
                {"label": "Always", "value": "proceed_auto_run_low"},
                {"label": "No", "value": "cancel"},
            ],
        }))
        .unwrap();
        Permission::new(params.tool_uses, params.options)
    }

    #[test]
    fn a_command_is_shown_whole_with_what_could_deceive_made_visible() {
        let long = format!("echo {}\u{202e}; rm -rf x", "a".repeat(300));
        let asked = asked(
            &json!({"type": "exec", "fullCommand": long, "impactLevel": "high", "riskLevelReason": "it removes"}),
        );
        let lines = permission(&asked, Look::PLAIN);
        assert_eq!(lines[0], "? run a command");
        assert_eq!(lines[1], format!("    echo {}\\u{{202e}}; rm -rf x", "a".repeat(300)));
        assert_eq!(lines[2..], ["    high impact: it removes", "  1 Yes", "  2 Always", "  3 No"]);
    }

    #[test]
    fn a_change_is_shown_as_one() {
        let asked =
            asked(&json!({"type": "edit", "filePath": "a", "oldContent": "x\n", "newContent": "y\n"}));
        let lines = permission(&asked, Look::PLAIN);
        assert_eq!(lines[..3], ["? change a", "     1 - x", "     1 + y"]);
    }

    #[test]
    fn a_typed_line_is_a_decision_only_if_it_is_one() {
        let asked = asked(&json!({"type": "exec", "fullCommand": "ls"}));
        let outcome = |line: &str| match read_decision(&asked, line) {
            Said::This(decision) => decision.outcome().as_str().to_owned(),
            Said::Nothing => "nothing".to_owned(),
        };
        for (line, means) in [
            ("y\n", "proceed_once"),
            ("Yes", "proceed_once"),
            ("1", "proceed_once"),
            ("2", "proceed_auto_run_low"),
            ("3", "cancel"),
            ("", "cancel"),
            ("n", "cancel"),
            ("a", "nothing"),
            ("4", "nothing"),
            ("0", "nothing"),
            ("maybe", "nothing"),
        ] {
            assert_eq!(outcome(line), means, "{line:?}");
        }
    }

    #[test]
    fn a_question_is_answered_by_number_or_in_words() {
        let one: Question =
            serde_json::from_value(json!({"index": 1, "question": "Which?", "options": ["red", "blue"]}))
                .unwrap();
        assert_eq!(question(&one, Look::PLAIN), ["Which?", "  1 red", "  2 blue"]);
        assert_eq!(read_answer(&one, "2\n"), Said::This("blue".to_owned()));
        assert_eq!(read_answer(&one, "green"), Said::This("green".to_owned()));
        assert_eq!(read_answer(&one, "1,2"), Said::This("1,2".to_owned()));
        assert_eq!(read_answer(&one, "  "), Said::Nothing);
        let several = Question { multi_select: Some(true), ..one };
        assert_eq!(read_answer(&several, "1, 2"), Said::This("red, blue".to_owned()));
    }
}
