//! The outcome of a hook, from its exit code and output. Pure.
//!
//! Exit code 0 allows, 2 blocks with the reason on standard error, and any other code is a failure, which is shown and ignored. With exit
//! code 0 the output may be JSON with more fields.

use serde_json::{Map, Value};

use crate::HookResult;

/// The combined outcome of hooks.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct HookOutcome {
    /// Why hooks block: a call does not run, a prompt is refused, the model continues, or gets this text with a result.
    pub block: Option<String>,
    /// The decision about a tool call.
    pub decision: Option<HookDecision>,
    /// Run the tool with these arguments instead.
    pub updated_input: Option<Map<String, Value>>,
    /// Context for the model.
    pub additional_context: Option<String>,
    /// Why the turn ends.
    pub stop: Option<String>,
    /// A message to the user.
    pub system_message: Option<String>,
    /// Whether clients hide the output.
    pub suppress_output: bool,
    /// Why a hook has failed. It decides nothing then.
    pub failure: Option<String>,
}

/// The decision of a hook about a tool call. The strictest of several counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookDecision {
    /// The call needs no permission.
    Allow,
    /// The call needs permission.
    Ask,
    /// The call does not run; the reason is in [`HookOutcome::block`].
    Deny,
}

/// Returns the outcome of one hook command. `event` is the name of the event.
///
/// ```
/// use musher_engine::HookResult;
/// use musher_engine::hooks::{HookDecision, outcome};
///
/// let result = HookResult { exit_code: Some(2), stderr: "not on Fridays\n".to_owned(), ..HookResult::default() };
/// let wants = outcome("PreToolUse", &result);
/// assert_eq!((wants.block.as_deref(), wants.decision), (Some("not on Fridays"), Some(HookDecision::Deny)));
/// ```
pub fn outcome(event: &str, result: &HookResult) -> HookOutcome {
    let is_tool = event == "PreToolUse";
    match result.exit_code {
        Some(0) => {}
        Some(2) if can_block(event) => {
            let said = if result.stderr.trim().is_empty() { &result.stdout } else { &result.stderr };
            let reason = reason(said.trim(), &result.command);
            return HookOutcome {
                block: Some(reason),
                decision: is_tool.then_some(HookDecision::Deny),
                ..HookOutcome::default()
            };
        }
        code => {
            let how =
                code.map_or("was ended before its time".to_owned(), |code| format!("ended with code {code}"));
            let failure = format!("the {event} hook `{}` {how}: {}", result.command, result.stderr.trim());
            return HookOutcome { failure: Some(failure), ..HookOutcome::default() };
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
        Some("deny" | "block") if can_block(event) => {
            wants.block = Some(reason(&why.unwrap_or_default(), command));
            wants.decision = is_tool.then_some(HookDecision::Deny);
        }
        Some("allow" | "approve") => wants.decision = is_tool.then_some(HookDecision::Allow),
        Some("ask") => wants.decision = is_tool.then_some(HookDecision::Ask),
        _ => {}
    }
    if is_tool && wants.decision != Some(HookDecision::Deny) {
        wants.updated_input = own.get("updatedInput").and_then(Value::as_object).cloned();
    }
    wants
}

/// Returns whether hooks can block at an event. After the others there is nothing left to block.
fn can_block(event: &str) -> bool {
    matches!(
        event,
        "PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "Stop" | "SubagentStop" | "PreCompact"
    )
}

fn reason(text: &str, command: &str) -> String {
    if text.is_empty() { format!("stopped by the hook `{command}`") } else { text.to_owned() }
}

impl HookOutcome {
    /// Combines two outcomes: the first block, the strictest decision, all texts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both = |a: Option<String>, b: Option<String>| match (a, b) {
            (Some(a), Some(b)) => Some(format!("{a}\n{b}")),
            (a, b) => a.or(b),
        };
        Self {
            block: self.block.or(other.block),
            decision: self.decision.max(other.decision),
            updated_input: self.updated_input.or(other.updated_input),
            additional_context: both(self.additional_context, other.additional_context),
            stop: self.stop.or(other.stop),
            system_message: both(self.system_message, other.system_message),
            suppress_output: self.suppress_output || other.suppress_output,
            failure: both(self.failure, other.failure),
        }
    }

    /// Returns whether hooks prevent something.
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
            HookOutcome { block: Some("why".to_owned()), decision: Some(HookDecision::Deny), ..none.clone() };
        assert_eq!(outcome("PreToolUse", &exits(Some(2))), denied);
        for (event, code) in [("SessionStart", Some(2)), ("PreToolUse", Some(1)), ("Stop", None)] {
            let wants = outcome(event, &exits(code));
            assert!(
                wants.failure.as_deref().is_some_and(|text| text.contains("why")) && !wants.prevents(),
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
    fn json_decides_on_permissions() {
        let of = |own: Value| wants("PreToolUse", &json!({"hookSpecificOutput": own}));
        let allowed = of(json!({"permissionDecision": "allow", "updatedInput": {"command": "ls"}}));
        assert_eq!(allowed.decision, Some(HookDecision::Allow));
        assert_eq!(allowed.updated_input.map(Value::Object), Some(json!({"command": "ls"})));
        assert_eq!(of(json!({"permissionDecision": "ask"})).decision, Some(HookDecision::Ask));
        let denied =
            of(json!({"permissionDecision": "deny", "permissionDecisionReason": "no", "updatedInput": {}}));
        assert_eq!(
            (denied.block.as_deref(), denied.decision, denied.updated_input),
            (Some("no"), Some(HookDecision::Deny), None)
        );
        assert_eq!(wants("PreToolUse", &json!({"decision": "approve"})).decision, Some(HookDecision::Allow));
        // only `PreToolUse` hooks can allow a call
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
            decision: Some(HookDecision::Allow),
            additional_context: Some("a".to_owned()),
            ..HookOutcome::default()
        };
        let b = HookOutcome {
            decision: Some(HookDecision::Deny),
            block: Some("no".to_owned()),
            additional_context: Some("b".to_owned()),
            ..HookOutcome::default()
        };
        let both = a.and(b);
        assert_eq!(
            (both.decision, both.additional_context.as_deref()),
            (Some(HookDecision::Deny), Some("a\nb"))
        );
        assert!(both.prevents());
    }
}
