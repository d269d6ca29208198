//! Renders permission requests and questions for the terminal, and parses the typed answers.
//!
//! A permission request is shown in full, with invisible characters spelled out.

use musher::wire::{PermissionDetails, PermissionToolUse, Question, ToolConfirmationOutcome};
use musher::{Decision, Mismatch, PermissionChoice, PermissionRequest};
use musher_engine::permission::visible;

use super::text::{Face, Line};
use super::{call, diff, input};
use crate::sanitize::sanitized;
use crate::style::Style;
use crate::styled::Styled;

/// Maximum length of an option label, in characters.
const MAX_LABEL_LENGTH: usize = 200;

/// A typed line, parsed as an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Parsed<T> {
    /// A valid answer.
    Value(T),
    /// Not a valid answer.
    Invalid,
}

/// Renders a permission request and its options.
pub(crate) fn permission(asked: &PermissionRequest, style: Style) -> Vec<Styled> {
    let mut out = Vec::new();
    for tool_use in &asked.tool_uses {
        details(tool_use, style, &mut out);
    }
    for (index, option) in choices(asked).iter().enumerate() {
        out.push(format!("  {} {}", index + 1, sanitized(&option.label, MAX_LABEL_LENGTH)).into());
    }
    out
}

/// Returns the requested tool calls, in one line.
pub(crate) fn reason(asked: &PermissionRequest) -> String {
    let titles =
        asked.tool_uses.iter().map(|it| call::title(&it.tool_use.name, &input(&it.tool_use.input), None));
    titles.collect::<Vec<_>>().join("; ")
}

/// Parses a typed decision. An empty line denies the request.
pub(crate) fn read_decision(asked: &PermissionRequest, line: &str) -> Parsed<Decision> {
    let offered = |outcome: ToolConfirmationOutcome| {
        if asked.offers(&outcome) { Parsed::Value(outcome.into()) } else { Parsed::Invalid }
    };
    match line.trim().to_lowercase().as_str() {
        "" | "n" | "no" => Parsed::Value(Decision::deny()),
        "y" | "yes" => offered(ToolConfirmationOutcome::ProceedOnce),
        "a" | "always" => offered(ToolConfirmationOutcome::ProceedAlways),
        number => match pick(number, &choices(asked)) {
            Some(option) => Parsed::Value(option.outcome.clone().into()),
            None => Parsed::Invalid,
        },
    }
}

/// Renders a question and its options.
pub(crate) fn question(asked: &Question, style: Style) -> Vec<Styled> {
    let mut out: Vec<_> = visible(&asked.question).lines().map(|line| style.strong(line)).collect();
    for (index, option) in asked.options.iter().flatten().enumerate() {
        out.push(format!("  {} {}", index + 1, sanitized(option, MAX_LABEL_LENGTH)).into());
    }
    if asked.multi_select == Some(true) {
        out.push(style.dim("  (multiple: 1,2)"));
    }
    out
}

/// Parses a typed answer: numbers of options, or free text.
pub(crate) fn read_answer(asked: &Question, line: &str) -> Parsed<String> {
    let line = line.trim();
    if line.is_empty() {
        return Parsed::Invalid;
    }
    let options = asked.options.as_deref().unwrap_or_default();
    let numbers: Vec<_> = line.split(',').map(str::trim).collect();
    let is_few = asked.multi_select == Some(true) || numbers.len() == 1;
    let picked: Option<Vec<_>> = numbers.iter().map(|number| pick(number, options).cloned()).collect();
    match picked.filter(|_| is_few) {
        Some(picked) => Parsed::Value(picked.join(", ")),
        None => Parsed::Value(line.to_owned()),
    }
}

/// Returns the item with this number, counted from 1.
fn pick<'a, T>(number: &str, of: &'a [T]) -> Option<&'a T> {
    of.get(number.parse::<usize>().ok()?.checked_sub(1)?)
}

/// Returns the options that a line can choose. A plan cannot be edited in one line.
fn choices(asked: &PermissionRequest) -> Vec<PermissionChoice> {
    let mut choices = asked.choices();
    choices.retain(|choice| choice.outcome != ToolConfirmationOutcome::ProceedEdit);
    choices
}

fn details(asked: &PermissionToolUse, style: Style, out: &mut Vec<Styled>) {
    out.extend(request_lines(asked).iter().map(|line| line.styled(style)));
}

/// Returns what a tool call would do, whole: as the agent describes it, and what the call itself has if that is something else.
pub(crate) fn request_lines(asked: &PermissionToolUse) -> Vec<Line> {
    let mut out = described(asked);
    out.extend(mismatch_lines(asked));
    out
}

/// Returns what the call itself has, as far as the agent describes something else.
pub(crate) fn mismatch_lines(asked: &PermissionToolUse) -> Vec<Line> {
    let mut out = Vec::new();
    for mismatch in Mismatch::of(asked) {
        out.push(Line::new(&format!("    {mismatch}:"), Face::BAD));
        indented(&mismatch.called, &mut out);
    }
    out
}

fn described(asked: &PermissionToolUse) -> Vec<Line> {
    let mut out = Vec::new();
    let called = input(&asked.tool_use.input);
    let head = |text: String| Line::new(&text, Face::STRONG);
    match &asked.details {
        PermissionDetails::Exec(exec) => {
            out.push(head("Run this command?".to_owned()));
            // the decision covers all of it, so all of it is shown
            indented(&exec.full_command, &mut out);
            let impact = exec.impact_level.as_ref().map_or("unknown", |level| level.as_str());
            let reason = exec.risk_level_reason.as_deref().unwrap_or_default();
            out.push(Line::new(&format!("    Risk: {}", sanitized(impact, 20)), Face::DIM));
            if !reason.is_empty() {
                let reason = format!("    Reason given by the model: {}", sanitized(reason, 500));
                out.push(Line::new(&reason, Face::DIM));
            }
        }
        PermissionDetails::Create(create) => {
            out.push(head(format!("Create {}?", visible(&create.file_path))));
            let content = create.content.as_deref().or(called["content"].as_str());
            out.extend(diff::changes("", content.unwrap_or_default()));
        }
        PermissionDetails::Edit(edit) => {
            out.push(head(format!("Edit {}?", visible(&edit.file_path))));
            let (mut old, mut new) = (edit.old_content.as_deref(), edit.new_content.as_deref());
            if (old, new) == (None, None) {
                // the agent does not send the whole file, so the change itself is shown
                (old, new) = (called["old_str"].as_str(), called["new_str"].as_str());
            }
            out.extend(diff::changes(old.unwrap_or_default(), new.unwrap_or_default()));
        }
        PermissionDetails::ApplyPatch(patch) => {
            out.push(head(format!("Edit {}?", visible(&patch.file_path))));
            let text = patch.patch_content.as_deref();
            let text = text.or(called.as_str()).or(called["input"].as_str()).or(called["patch"].as_str());
            if let Some(text) = text {
                indented(text, &mut out);
            } else {
                let text = |it: &Option<String>| it.clone().unwrap_or_default();
                out.extend(diff::changes(&text(&patch.old_content), &text(&patch.new_content)));
            }
        }
        PermissionDetails::ExitSpecMode(plan) => {
            out.push(head("Carry out this plan?".to_owned()));
            indented(&plan.plan, &mut out);
        }
        _ => {
            out.push(head(format!("Use the tool {}?", sanitized(&asked.tool_use.name, 200))));
            let pretty = serde_json::to_string_pretty(&called).unwrap_or_default();
            indented(&pretty, &mut out);
        }
    }
    out
}

/// Adds all lines of a text: the decision is about all of it.
fn indented(text: &str, out: &mut Vec<Line>) {
    out.extend(visible(text).lines().map(|line| Line::plain(&format!("    {line}"))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use musher::wire::RequestPermissionParams;
    use serde_json::json;

    fn asked(details: &serde_json::Value) -> PermissionRequest {
        let command = details["called"].as_str().or(details["fullCommand"].as_str()).unwrap_or("ls");
        let input =
            json!({"command": command, "file_path": details["filePath"], "old_str": "x", "new_str": "y"});
        let params: RequestPermissionParams = serde_json::from_value(json!({
            "toolUses": [{
                "toolUse": {"type": "tool_use", "id": "t", "name": "Execute", "input": input},
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
        PermissionRequest::new(params.tool_uses, params.options)
    }

    #[test]
    fn command_is_shown_whole_with_what_could_deceive_made_visible() {
        let long = format!("echo {}\u{202e}; rm -rf x", "a".repeat(300));
        let asked = asked(
            &json!({"type": "exec", "fullCommand": long, "impactLevel": "high", "riskLevelReason": "it removes"}),
        );
        let lines = permission(&asked, Style::PLAIN);
        assert_eq!(lines[0], "Run this command?");
        assert_eq!(lines[1], format!("    echo {}\\u{{202e}}; rm -rf x", "a".repeat(300)));
        let rest = [
            "    Risk: high",
            "    Reason given by the model: it removes",
            "  1 Yes",
            "  2 Yes, with autonomy low",
            "  3 No",
        ];
        assert_eq!(lines[2..], rest);
    }

    #[test]
    fn command_that_the_agent_describes_otherwise_is_shown_as_well() {
        let asked = asked(&json!({"type": "exec", "fullCommand": "cargo test", "called": "ls"}));
        let shown = permission(&asked, Style::PLAIN);
        let lines: Vec<&str> = shown.iter().map(Styled::as_str).collect();
        let expected = [
            "    cargo test",
            "    Risk: unknown",
            "    The agent describes another command than the one in its call:",
            "    ls",
        ];
        assert_eq!(lines[1..5], expected);
    }

    #[test]
    fn options_are_shown_once_with_what_they_do() {
        let params: RequestPermissionParams = serde_json::from_value(json!({"toolUses": [], "options": [
            {"label": "No", "value": "proceed_auto_run_low"},
            {"label": "No", "value": "proceed_new_session_high"},
            {"label": "No", "value": "cancel"},
            {"label": "Yes", "value": "cancel"},
        ]}))
        .unwrap();
        let asked = PermissionRequest::new(params.tool_uses, params.options);
        let expected =
            ["  1 Yes, with autonomy low", "  2 Yes, in a new session with autonomy high", "  3 No"];
        assert_eq!(permission(&asked, Style::PLAIN), expected);
        assert_eq!(read_decision(&asked, "3"), Parsed::Value(Decision::deny()));
        assert_eq!(read_decision(&asked, "4"), Parsed::Invalid);
    }

    /// Returns what is shown of a call.
    fn lines_of(name: &str, input: &serde_json::Value, details: &serde_json::Value) -> Vec<String> {
        let asked: PermissionToolUse = serde_json::from_value(json!({
            "toolUse": {"type": "tool_use", "id": "t", "name": name, "input": input},
            "confirmationType": details["type"], "details": details,
        }))
        .unwrap();
        request_lines(&asked).iter().map(Line::text).collect()
    }

    #[test]
    fn long_patches_plans_and_inputs_are_shown_completely() {
        let text = (0..1500).map(|number| format!("+line {number}")).collect::<Vec<_>>().join("\n");
        let patch = format!("*** Begin Patch\n*** Add File: a\n{text}\n*** End Patch");
        let details = json!({"type": "apply_patch", "filePath": "/w/a", "patchContent": patch});
        let lines = lines_of("ApplyPatch", &json!({"input": patch}), &details);
        assert_eq!(lines.len(), 1 + 1500 + 3);
        assert_eq!(lines[1502], "    +line 1499");
        let plan = json!({"type": "exit_spec_mode", "plan": text});
        assert_eq!(lines_of("ExitSpecMode", &json!({"plan": text}), &plan).len(), 1501);
        let input = json!({"all": (0..1500).collect::<Vec<_>>()});
        let lines = lines_of("db___query", &input, &json!({"type": "mcp_tool", "toolName": "db___query"}));
        assert!(lines.len() > 1500 && lines.contains(&"        1499".to_owned()), "{}", lines.len());
    }

    #[test]
    fn agent_that_describes_another_call_is_exposed() {
        let create = json!({"type": "create", "filePath": "/w/a", "content": "harmless"});
        let lines = lines_of("Create", &json!({"file_path": "/w/a", "content": "evil"}), &create);
        let warning = "    The agent describes another content than the one in its call:";
        assert_eq!(lines[2..], [warning, "    evil"]);
        let tool = json!({"type": "mcp_tool", "toolName": "db___read"});
        let lines = lines_of("db___drop", &json!({}), &tool);
        assert_eq!(lines.last().unwrap(), "    db___drop");
        // without a description the call itself is shown
        let bare = json!({"type": "create", "filePath": "/w/a"});
        let lines = lines_of("Create", &json!({"file_path": "/w/a", "content": "x"}), &bare);
        assert_eq!(lines, ["Create /w/a?", "     1 + x"]);
    }

    #[test]
    fn change_is_shown_as_one() {
        let asked =
            asked(&json!({"type": "edit", "filePath": "a", "oldContent": "x\n", "newContent": "y\n"}));
        let lines = permission(&asked, Style::PLAIN);
        assert_eq!(lines[..3], ["Edit a?", "     1 - x", "     1 + y"]);
    }

    #[test]
    fn typed_line_is_a_decision_only_if_it_is_one() {
        let asked = asked(&json!({"type": "exec", "fullCommand": "ls"}));
        let outcome = |line: &str| match read_decision(&asked, line) {
            Parsed::Value(decision) => decision.outcome().as_str().to_owned(),
            Parsed::Invalid => "nothing".to_owned(),
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
    fn question_is_answered_by_number_or_in_words() {
        let one: Question =
            serde_json::from_value(json!({"index": 1, "question": "Which?", "options": ["red", "blue"]}))
                .unwrap();
        assert_eq!(question(&one, Style::PLAIN), ["Which?", "  1 red", "  2 blue"]);
        assert_eq!(read_answer(&one, "2\n"), Parsed::Value("blue".to_owned()));
        assert_eq!(read_answer(&one, "green"), Parsed::Value("green".to_owned()));
        assert_eq!(read_answer(&one, "1,2"), Parsed::Value("1,2".to_owned()));
        assert_eq!(read_answer(&one, "  "), Parsed::Invalid);
        let several = Question { multi_select: Some(true), ..one };
        assert_eq!(read_answer(&several, "1, 2"), Parsed::Value("red, blue".to_owned()));
    }
}
