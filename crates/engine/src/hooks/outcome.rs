//! What a hook wants, from its exit code and what it said. Pure.
//!
//! Exit code 0 is consent, 2 is an objection whose reason is on standard error, and anything else is a mishap: it is shown, and the work goes
//! on. With exit code 0 the output may be JSON with more to say.

use serde_json::{Map, Value};

use crate::HookResult;

/// What hooks want.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct HookOutcome {
    /// Why it must not be: a tool does not run, a prompt is refused, the model does not stop, or is told what was wrong with a result.
    pub block: Option<String>,
    /// About the consent to a tool call.
    pub verdict: Option<Verdict>,
    /// Run the tool with these arguments instead.
    pub updated_input: Option<Map<String, Value>>,
    /// The model should know this.
    pub additional_context: Option<String>,
    /// The whole turn ends here, and why.
    pub stop: Option<String>,
    /// The user should know this.
    pub system_message: Option<String>,
    /// Nobody needs to see what it said.
    pub suppress_output: bool,
    /// It went wrong: it has no say, but the user should know.
    pub mishap: Option<String>,
}

/// What a hook says about the consent to a tool call. The strictest of several counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Nobody needs to be asked.
    Allow,
    /// Somebody must be asked.
    Ask,
    /// It does not run; the reason is in [`HookOutcome::block`].
    Deny,
}

/// What one command of a hook wants. `event` is the name of the moment.
///
/// ```
/// use musher_engine::HookResult;
/// use musher_engine::hooks::{Verdict, outcome};
///
/// let result = HookResult { exit_code: Some(2), stderr: "not on Fridays\n".to_owned(), ..HookResult::default() };
/// let wants = outcome("PreToolUse", &result);
/// assert_eq!((wants.block.as_deref(), wants.verdict), (Some("not on Fridays"), Some(Verdict::Deny)));
/// ```
pub fn outcome(event: &str, result: &HookResult) -> HookOutcome {
    let is_tool = event == "PreToolUse";
    match result.exit_code {
        Some(0) => {}
        Some(2) if can_object(event) => {
            let said = if result.stderr.trim().is_empty() { &result.stdout } else { &result.stderr };
            let reason = reason(said.trim(), &result.command);
            return HookOutcome {
                block: Some(reason),
                verdict: is_tool.then_some(Verdict::Deny),
                ..HookOutcome::default()
            };
        }
        code => {
            let how =
                code.map_or("was ended before its time".to_owned(), |code| format!("ended with code {code}"));
            let mishap = format!("the {event} hook `{}` {how}: {}", result.command, result.stderr.trim());
            return HookOutcome { mishap: Some(mishap), ..HookOutcome::default() };
        }
    }
    let text = result.stdout.trim();
    let json =
        if text.starts_with('{') { serde_json::from_str::<Map<String, Value>>(text).ok() } else { None };
    if let Some(json) = json {
        return of_json(event, &json, &result.command);
    }
    let is_context = matches!(event, "UserPromptSubmit" | "SessionStart") && !text.is_empty();
    HookOutcome { additional_context: is_context.then(|| text.to_owned()), ..HookOutcome::default() }
}

fn of_json(event: &str, json: &Map<String, Value>, command: &str) -> HookOutcome {
    let text = |map: &Map<String, Value>, name: &str| {
        map.get(name).and_then(Value::as_str).map(str::to_owned).filter(|text| !text.is_empty())
    };
    let empty = Map::new();
    let own = json.get("hookSpecificOutput").and_then(Value::as_object).unwrap_or(&empty);
    let mut wants = HookOutcome {
        additional_context: text(own, "additionalContext"),
        system_message: text(json, "systemMessage"),
        suppress_output: json.get("suppressOutput").and_then(Value::as_bool).unwrap_or(false),
        ..HookOutcome::default()
    };
    if json.get("continue").and_then(Value::as_bool) == Some(false) {
        wants.stop = Some(reason(&text(json, "stopReason").unwrap_or_default(), command));
    }
    let is_tool = event == "PreToolUse";
    let decision = text(own, "permissionDecision").filter(|_| is_tool).or_else(|| text(json, "decision"));
    let why = text(own, "permissionDecisionReason").or_else(|| text(json, "reason"));
    match decision.as_deref() {
        Some("deny" | "block") if can_object(event) => {
            wants.block = Some(reason(&why.unwrap_or_default(), command));
            wants.verdict = is_tool.then_some(Verdict::Deny);
        }
        Some("allow" | "approve") => wants.verdict = is_tool.then_some(Verdict::Allow),
        Some("ask") => wants.verdict = is_tool.then_some(Verdict::Ask),
        _ => {}
    }
    if is_tool && wants.verdict != Some(Verdict::Deny) {
        wants.updated_input = own.get("updatedInput").and_then(Value::as_object).cloned();
    }
    wants
}

/// At the others there is nothing left that could be stopped.
fn can_object(event: &str) -> bool {
    matches!(
        event,
        "PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "Stop" | "SubagentStop" | "PreCompact"
    )
}

fn reason(text: &str, command: &str) -> String {
    if text.is_empty() { format!("stopped by the hook `{command}`") } else { text.to_owned() }
}

impl HookOutcome {
    /// Both: the first objection, the strictest verdict, all that is to be told.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both = |a: Option<String>, b: Option<String>| match (a, b) {
            (Some(a), Some(b)) => Some(format!("{a}\n{b}")),
            (a, b) => a.or(b),
        };
        Self {
            block: self.block.or(other.block),
            verdict: self.verdict.max(other.verdict),
            updated_input: self.updated_input.or(other.updated_input),
            additional_context: both(self.additional_context, other.additional_context),
            stop: self.stop.or(other.stop),
            system_message: both(self.system_message, other.system_message),
            suppress_output: self.suppress_output || other.suppress_output,
            mishap: both(self.mishap, other.mishap),
        }
    }

    /// Whether something is not to go on as it would have.
    pub fn prevents(&self) -> bool {
        self.block.is_some() || self.stop.is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(stdout: &str) -> HookResult {
        HookResult {
            command: "h".to_owned(),
            exit_code: Some(0),
            stdout: stdout.to_owned(),
            ..HookResult::default()
        }
    }

    fn exits(code: Option<i32>) -> HookResult {
        HookResult {
            command: "h".to_owned(),
            exit_code: code,
            stderr: "why\n".to_owned(),
            ..HookResult::default()
        }
    }

    fn wants(event: &str, json: &Value) -> HookOutcome {
        outcome(event, &said(&json.to_string()))
    }

    #[test]
    fn exit_codes_alone() {
        let none = HookOutcome::default();
        assert_eq!(outcome("PreToolUse", &said("fine")), none);
        assert_eq!(
            outcome("Stop", &exits(Some(2))),
            HookOutcome { block: Some("why".to_owned()), ..none.clone() }
        );
        let denied =
            HookOutcome { block: Some("why".to_owned()), verdict: Some(Verdict::Deny), ..none.clone() };
        assert_eq!(outcome("PreToolUse", &exits(Some(2))), denied);
        for (event, code) in [("SessionStart", Some(2)), ("PreToolUse", Some(1)), ("Stop", None)] {
            let wants = outcome(event, &exits(code));
            assert!(
                wants.mishap.as_deref().is_some_and(|text| text.contains("why")) && !wants.prevents(),
                "{event}"
            );
        }
    }

    #[test]
    fn plain_output_is_context_where_a_turn_begins() {
        for event in ["UserPromptSubmit", "SessionStart"] {
            assert_eq!(outcome(event, &said("note\n")).additional_context.as_deref(), Some("note"));
        }
        assert_eq!(outcome("PostToolUse", &said("note\n")).additional_context, None);
        assert_eq!(
            outcome("SessionStart", &said("{not json")).additional_context.as_deref(),
            Some("{not json")
        );
    }

    #[test]
    fn json_has_a_say_in_consent() {
        let of = |own: Value| wants("PreToolUse", &json!({"hookSpecificOutput": own}));
        let allowed = of(json!({"permissionDecision": "allow", "updatedInput": {"command": "ls"}}));
        assert_eq!(allowed.verdict, Some(Verdict::Allow));
        assert_eq!(allowed.updated_input.map(Value::Object), Some(json!({"command": "ls"})));
        assert_eq!(of(json!({"permissionDecision": "ask"})).verdict, Some(Verdict::Ask));
        let denied =
            of(json!({"permissionDecision": "deny", "permissionDecisionReason": "no", "updatedInput": {}}));
        assert_eq!(
            (denied.block.as_deref(), denied.verdict, denied.updated_input),
            (Some("no"), Some(Verdict::Deny), None)
        );
        assert_eq!(wants("PreToolUse", &json!({"decision": "approve"})).verdict, Some(Verdict::Allow));
        // nobody but a hook before a tool can give consent
        assert_eq!(wants("PostToolUse", &json!({"decision": "approve"})), HookOutcome::default());
        let own = json!({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {}}});
        assert_eq!(wants("UserPromptSubmit", &own), HookOutcome::default());
    }

    #[test]
    fn json_can_object_stop_and_tell() {
        let blocked = wants("Stop", &json!({"decision": "block", "reason": "tests fail"}));
        assert_eq!(blocked.block.as_deref(), Some("tests fail"));
        let bare = wants("UserPromptSubmit", &json!({"decision": "block"}));
        assert_eq!(bare.block.as_deref(), Some("stopped by the hook `h`"));
        let all = wants(
            "PostToolUse",
            &json!({"continue": false, "stopReason": "enough", "systemMessage": "m", "suppressOutput": true,
                    "hookSpecificOutput": {"additionalContext": "c"}}),
        );
        let expected = HookOutcome {
            stop: Some("enough".to_owned()),
            system_message: Some("m".to_owned()),
            additional_context: Some("c".to_owned()),
            suppress_output: true,
            ..HookOutcome::default()
        };
        assert_eq!(all, expected);
        // fields of the wrong type have no say
        assert_eq!(
            wants("PreToolUse", &json!({"continue": "false", "decision": 1, "hookSpecificOutput": []})),
            HookOutcome::default()
        );
    }

    #[test]
    fn of_several_the_strictest_counts() {
        let a = HookOutcome {
            verdict: Some(Verdict::Allow),
            additional_context: Some("a".to_owned()),
            ..HookOutcome::default()
        };
        let b = HookOutcome {
            verdict: Some(Verdict::Deny),
            block: Some("no".to_owned()),
            additional_context: Some("b".to_owned()),
            ..HookOutcome::default()
        };
        let both = a.and(b);
        assert_eq!((both.verdict, both.additional_context.as_deref()), (Some(Verdict::Deny), Some("a\nb")));
        assert!(both.prevents());
    }
}
