//! A permission request and the decision on it.

use musher_wire::{
    Json, PermissionDetails, PermissionOption, PermissionToolUse, RequestPermissionParams,
    RequestPermissionResult, ToolConfirmationOutcome as Outcome,
};

use super::commands::{SimpleCommand, split};

/// A request of the agent to run tools.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The tool calls that wait for the decision.
    pub tool_uses: Vec<PermissionToolUse>,
    /// The decisions that the agent offers.
    pub options: Vec<PermissionOption>,
}

impl PermissionRequest {
    /// Creates a request as an agent would make it, for tests of handlers.
    pub fn new(tool_uses: Vec<PermissionToolUse>, options: Vec<PermissionOption>) -> Self {
        Self { tool_uses, options }
    }

    /// Returns the simple commands that would run, or `None` if the request is about anything else or cannot be fully understood.
    ///
    /// Approve commands by these, never by the beginning of the command line: `cargo -V; rm -rf .` begins with `cargo`. The list is never empty.
    /// `None` covers substitutions, variables, globs, redirections, assignments, background jobs and everything else that is not plain words joined by
    /// `&&`, `||`, `;` or `|` in a POSIX shell.
    ///
    /// ```
    /// use musher::{Decision, PermissionRequest};
    ///
    /// fn only_tests(request: PermissionRequest) -> Decision {
    ///     match request.commands() {
    ///         Some(commands) if commands.iter().all(|it| it.starts_with(&["cargo", "test"])) => Decision::allow_once(),
    ///         _ => Decision::deny(),
    ///     }
    /// }
    /// ```
    pub fn commands(&self) -> Option<Vec<SimpleCommand>> {
        let mut commands = Vec::new();
        for tool_use in &self.tool_uses {
            let PermissionDetails::Exec(exec) = &tool_use.details else { return None };
            commands.extend(split(&exec.full_command)?);
        }
        (!commands.is_empty()).then_some(commands)
    }

    /// Returns the whole command line, if the request is about one command line and nothing else.
    ///
    /// This is text for people. To decide about it, use [`commands`](Self::commands).
    pub fn sole_command(&self) -> Option<&str> {
        match self.tool_uses.as_slice() {
            [PermissionToolUse { details: PermissionDetails::Exec(exec), .. }] => Some(&exec.full_command),
            _ => None,
        }
    }

    /// Returns the plan, if the agent wants to leave spec mode.
    pub fn plan(&self) -> Option<&str> {
        self.tool_uses.iter().find_map(|tool_use| match &tool_use.details {
            PermissionDetails::ExitSpecMode(details) => Some(details.plan.as_str()),
            _ => None,
        })
    }

    /// Returns whether the agent offers this decision.
    pub fn offers(&self, outcome: &Outcome) -> bool {
        self.options.iter().any(|option| option.value == *outcome)
    }
}

impl From<RequestPermissionParams> for PermissionRequest {
    fn from(params: RequestPermissionParams) -> Self {
        Self { tool_uses: params.tool_uses, options: params.options }
    }
}

/// The answer to a [`PermissionRequest`].
///
/// Every decision that the agent offers can be made with `Decision::from(outcome)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    outcome: Outcome,
    comment: Option<String>,
    edited_plan: Option<String>,
    rewritten_input: Option<serde_json::Value>,
    continues: bool,
}

impl Decision {
    /// Allows the tool calls once.
    pub fn allow_once() -> Self {
        Outcome::ProceedOnce.into()
    }

    /// Allows the tool calls, and similar later ones.
    pub fn allow_always() -> Self {
        Outcome::ProceedAlways.into()
    }

    /// Denies the tool calls, which ends the turn.
    pub fn deny() -> Self {
        Outcome::Cancel.into()
    }

    /// Denies the tool calls and tells the model why; the turn continues. Only the engine does this: other agents end the turn.
    pub fn deny_and_continue(reason: impl Into<String>) -> Self {
        Self { continues: true, ..Self::deny().comment(reason) }
    }

    /// Replaces the input of the one tool call. The agent checks the call again, and may ask again with the new input. Only the engine does
    /// this: to other agents it is a denial.
    pub fn rewrite(input: serde_json::Value) -> Self {
        Self { rewritten_input: Some(input), ..Self::deny() }
    }

    /// Allows a plan with the user's changes.
    pub fn edit_plan(plan: impl Into<String>) -> Self {
        Self { edited_plan: Some(plan.into()), ..Outcome::ProceedEdit.into() }
    }

    /// Attaches a comment for the agent.
    #[must_use]
    pub fn comment(mut self, comment: impl Into<String>) -> Self {
        self.comment = Some(comment.into());
        self
    }

    /// Returns the outcome in the protocol's terms.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Checks that the decision answers the request: a denial always does, anything else only if it is offered.
    pub(crate) fn check(&self, request: &PermissionRequest) -> Result<(), String> {
        let is_plan_edit = self.outcome == Outcome::ProceedEdit && request.plan().is_some();
        if self.outcome == Outcome::ProceedEdit && self.edited_plan.is_none() {
            return Err("`proceed_edit` needs the edited plan".to_owned());
        }
        if self.outcome == Outcome::Cancel || is_plan_edit || request.offers(&self.outcome) {
            return Ok(());
        }
        let offered: Vec<_> = request.options.iter().map(|option| option.value.as_str()).collect();
        Err(format!("`{}` was not offered (offered: {})", self.outcome, offered.join(", ")))
    }

    /// Returns whether the decision ends the turn.
    pub(crate) fn is_denial(&self) -> bool {
        self.outcome == Outcome::Cancel && !self.continues && self.rewritten_input.is_none()
    }

    pub(crate) fn into_wire(self) -> RequestPermissionResult {
        RequestPermissionResult {
            comment: self.comment,
            edited_spec_content: self.edited_plan,
            continue_turn: self.continues.then_some(true),
            rewritten_input: self.rewritten_input.map(Json::from),
            ..RequestPermissionResult::new(self.outcome)
        }
    }
}

impl From<Outcome> for Decision {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, comment: None, edited_plan: None, rewritten_input: None, continues: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denial_that_continues_and_a_rewrite_do_not_end_the_turn() {
        let wire = |decision: Decision| serde_json::to_value(decision.into_wire()).unwrap();
        let denial = Decision::deny_and_continue("no");
        assert!(!denial.is_denial() && Decision::deny().is_denial());
        let expected =
            serde_json::json!({"selectedOption": "cancel", "comment": "no", "musher.continueTurn": true});
        assert_eq!(wire(denial), expected);
        let rewrite = Decision::rewrite(serde_json::json!({"command": "ls"}));
        assert!(!rewrite.is_denial());
        let expected =
            serde_json::json!({"selectedOption": "cancel", "musher.rewrittenInput": {"command": "ls"}});
        assert_eq!(wire(rewrite), expected);
    }
}
