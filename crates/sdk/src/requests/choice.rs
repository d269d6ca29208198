//! The decisions that a request offers, each once and with a label that says what it does. Pure.
//!
//! The value of an option decides, its label is only text of the agent: a label that does not say what its value does is replaced.

use musher_wire::{PermissionDetails, PermissionOption, ToolConfirmationOutcome as Outcome};

use super::PermissionRequest;

/// The maximum length of a label of the agent, in characters.
const MAX_LABEL: usize = 200;
/// First words of labels that allow something.
const YES: [&str; 9] = ["yes", "allow", "always", "proceed", "approve", "accept", "run", "continue", "ok"];
/// First words of labels that deny.
const NO: [&str; 7] = ["no", "cancel", "deny", "reject", "stop", "keep", "don't"];
/// Words that a label of more than one call must not have.
const WEAKER: [&str; 9] = ["once", "no", "never", "nothing", "none", "deny", "cancel", "reject", "stop"];
/// The autonomy levels.
const LEVELS: [&str; 3] = ["low", "medium", "high"];

/// A decision that the agent offers, as a user can be asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PermissionChoice {
    /// The decision: `Decision::from(outcome)` makes it.
    pub outcome: Outcome,
    /// The agent's label if it says what the decision does, else one that does.
    pub label: String,
}

impl PermissionRequest {
    /// Returns the offered decisions in their order, each once, with labels that say what they do.
    ///
    /// Show these labels instead of those in [`options`](Self::options), which are text of the agent: an agent can label a decision that
    /// allows everything with "No".
    ///
    /// ```
    /// use musher::PermissionRequest;
    /// use musher::wire::{PermissionOption, ToolConfirmationOutcome as Outcome};
    ///
    /// let options = vec![PermissionOption::new("No", Outcome::ProceedAutoRunHigh)];
    /// let request = PermissionRequest::new(Vec::new(), options);
    /// assert_eq!(request.choices()[0].label, "Yes, with autonomy high");
    /// ```
    pub fn choices(&self) -> Vec<PermissionChoice> {
        let mut choices: Vec<PermissionChoice> = Vec::new();
        for option in &self.options {
            if choices.iter().all(|choice| choice.outcome != option.value) {
                choices.push(PermissionChoice { outcome: option.value.clone(), label: self.label(option) });
            }
        }
        choices
    }

    fn label(&self, option: &PermissionOption) -> String {
        let label = option.label.trim();
        if is_honest(label, &option.value) { label.to_owned() } else { self.label_of(&option.value) }
    }

    /// Returns the label that follows from a decision alone.
    fn label_of(&self, outcome: &Outcome) -> String {
        let label = match outcome {
            Outcome::ProceedOnce => "Yes",
            Outcome::ProceedAlways => {
                return format!("Yes, and don't ask again in this session for calls of {}", self.risk());
            }
            Outcome::ProceedAlwaysFile => "Yes, and always allow changes of this file",
            Outcome::ProceedAlwaysTools => "Yes, and always allow this tool",
            Outcome::ProceedAlwaysServer => "Yes, and always allow every tool of this MCP server",
            Outcome::ProceedAutoRun => "Yes, and always run everything without asking",
            Outcome::ProceedAutoRunLow => "Yes, with autonomy low",
            Outcome::ProceedAutoRunMedium => "Yes, with autonomy medium",
            Outcome::ProceedAutoRunHigh => "Yes, with autonomy high",
            Outcome::ProceedNewSession => "Yes, in a new session",
            Outcome::ProceedNewSessionLow => "Yes, in a new session with autonomy low",
            Outcome::ProceedNewSessionMedium => "Yes, in a new session with autonomy medium",
            Outcome::ProceedNewSessionHigh => "Yes, in a new session with autonomy high",
            Outcome::ProceedEdit => "Yes, with changes",
            Outcome::Cancel => "No",
            unknown => return format!("Yes, in a way that is not known (`{}`)", unknown.as_str()),
        };
        label.to_owned()
    }

    fn risk(&self) -> String {
        let impact = |details: &PermissionDetails| match details {
            PermissionDetails::Exec(exec) => {
                exec.impact_level.as_ref().map(|level| level.as_str().to_owned())
            }
            PermissionDetails::McpTool(tool) => {
                tool.impact_level.as_ref().map(|level| level.as_str().to_owned())
            }
            PermissionDetails::Create(_) | PermissionDetails::Edit(_) | PermissionDetails::ApplyPatch(_) => {
                Some("low".to_owned())
            }
            _ => None,
        };
        let known =
            |level: &&str| self.tool_uses.iter().any(|call| impact(&call.details).as_deref() == Some(level));
        match LEVELS.iter().rev().find(|level| known(level)) {
            Some(level) => format!("{level} risk or less"),
            None => "this risk or less".to_owned(),
        }
    }
}

/// Returns whether a label says what the decision does, and nothing else.
fn is_honest(label: &str, outcome: &Outcome) -> bool {
    let is_plain = !label.contains(char::is_control) && !label.contains("  ");
    if !is_plain || label.chars().count() > MAX_LABEL {
        return false;
    }
    let text = label.to_lowercase().replace('\u{2019}', "'");
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let begins = |with: &[&str]| words.first().is_some_and(|word| with.contains(word));
    let has = |word: &str| words.contains(&word);
    let is_always = has("always") || text.contains("don't ask") || text.contains("not ask");
    let has_level = |wanted: Option<&str>| LEVELS.iter().all(|level| has(level) == (wanted == Some(*level)));
    let is_new_session = text.contains("new session");
    let is_weaker = WEAKER.iter().any(|word| has(word));
    let level = |level: &str| begins(&YES) && !is_new_session && has_level(Some(level)) && !is_weaker;
    let new_session =
        |level: Option<&str>| begins(&YES) && is_new_session && has_level(level) && !has("once");
    match outcome {
        Outcome::ProceedOnce | Outcome::ProceedEdit => begins(&YES) && !is_always,
        Outcome::ProceedAlways
        | Outcome::ProceedAlwaysFile
        | Outcome::ProceedAlwaysTools
        | Outcome::ProceedAlwaysServer => begins(&YES) && is_always && !is_weaker,
        Outcome::ProceedAutoRunLow => level("low"),
        Outcome::ProceedAutoRunMedium => level("medium"),
        Outcome::ProceedAutoRunHigh => level("high"),
        Outcome::ProceedNewSession => new_session(None),
        Outcome::ProceedNewSessionLow => new_session(Some("low")),
        Outcome::ProceedNewSessionMedium => new_session(Some("medium")),
        Outcome::ProceedNewSessionHigh => new_session(Some("high")),
        Outcome::Cancel => begins(&NO),
        // an agent that is newer than this version gets no benefit of the doubt
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(label: &str, value: &str) -> String {
        let option = PermissionOption::new(label, Outcome::from(value));
        PermissionRequest::new(Vec::new(), vec![option]).choices().remove(0).label
    }

    #[test]
    fn labels_of_real_agents_stay() {
        for (text, value) in [
            ("Yes, allow", "proceed_once"),
            ("Proceed with implementation", "proceed_once"),
            (
                "Yes, and always allow medium impact commands (all commands that are reversible)",
                "proceed_always",
            ),
            ("Yes, and don't ask again in this session to change files in the workspace", "proceed_always"),
            ("Always allow lookup", "proceed_always_tools"),
            ("Always allow all \"probe\" tools", "proceed_always_server"),
            ("Proceed, and allow file edits and read-only commands (Low)", "proceed_auto_run_low"),
            ("Proceed, and allow reversible commands (Medium)", "proceed_auto_run_medium"),
            ("Proceed, and allow all commands (High)", "proceed_auto_run_high"),
            ("Proceed in a new session (no autonomy)", "proceed_new_session"),
            ("Proceed in a new session (Low autonomy)", "proceed_new_session_low"),
            ("Yes, in a new session with autonomy high", "proceed_new_session_high"),
            ("Yes, with changes", "proceed_edit"),
            ("No, keep iterating on spec", "cancel"),
        ] {
            assert_eq!(label(text, value), text, "{value}");
        }
    }

    #[test]
    fn labels_that_do_not_say_what_their_value_does_are_replaced() {
        for (text, value, expected) in [
            ("No", "proceed_auto_run_low", "Yes, with autonomy low"),
            ("No", "proceed_new_session_high", "Yes, in a new session with autonomy high"),
            ("No", "proceed_new_session", "Yes, in a new session"),
            ("Yes, with autonomy low", "proceed_auto_run_high", "Yes, with autonomy high"),
            ("Yes, with autonomy low, not high", "proceed_auto_run_high", "Yes, with autonomy high"),
            ("Yes, allow", "proceed_auto_run", "Yes, and always run everything without asking"),
            ("No", "proceed_always_file", "Yes, and always allow changes of this file"),
            ("Yes", "proceed_always_tools", "Yes, and always allow this tool"),
            ("Deny", "proceed_once", "Yes"),
            ("Yes", "cancel", "No"),
            ("Yes, always\nallow", "proceed_always_tools", "Yes, and always allow this tool"),
            ("No", "proceed_everything", "Yes, in a way that is not known (`proceed_everything`)"),
        ] {
            assert_eq!(label(text, value), expected, "{text:?} for {value}");
        }
        let always = "Yes, and don't ask again in this session for calls of this risk or less";
        for text in ["No", "Yes", "Yes, but only once, not always", "Always ask, never allow", ""] {
            assert_eq!(label(text, "proceed_always"), always, "{text:?}");
        }
    }

    #[test]
    fn each_decision_is_offered_once() {
        let option = |label: &str, value| PermissionOption::new(label, value);
        let options = vec![
            option("Yes", Outcome::ProceedOnce),
            option("No", Outcome::ProceedOnce),
            option("No", Outcome::Cancel),
            option("Never mind", Outcome::Cancel),
        ];
        let choices = PermissionRequest::new(Vec::new(), options).choices();
        let shown: Vec<_> = choices.iter().map(|it| (it.outcome.as_str(), it.label.as_str())).collect();
        assert_eq!(shown, [("proceed_once", "Yes"), ("cancel", "No")]);
    }
}
