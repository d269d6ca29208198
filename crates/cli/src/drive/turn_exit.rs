//! Maps the end of a turn to an exit code and a reason.

use std::borrow::Cow;

use musher::{FailureKind, StoppedBy, TurnEnd, TurnResult};

use crate::exit::Exit;

/// The exit code of a turn, with a reason and a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TurnExit {
    pub(crate) exit: Exit,
    /// Why the task was not done.
    pub(crate) why: Option<String>,
    /// What the user can do about it.
    pub(crate) hint: Option<Cow<'static, str>>,
}

const ALLOW: &str = "run it in a terminal to be asked, or allow more with `--auto low`, `medium` or `high`";

/// The reason if a turn completed without an answer.
pub(crate) const NO_ANSWER: &str = "the model returned no answer";

/// Returns the exit of a turn that has ended.
pub(crate) fn turn_exit(result: &TurnResult, refused: &[String], was_stopped: bool) -> TurnExit {
    let told = result.errors.last().map(|error| error.message.as_str());
    let turn_exit = judged(&result.end, told, refused, was_stopped);
    if turn_exit.exit == Exit::Done && has_no_answer(result) {
        return TurnExit { exit: Exit::Failed, why: Some(NO_ANSWER.to_owned()), hint: None };
    }
    turn_exit
}

/// Returns whether a turn has failed because the model could not be asked, so that its address and key matter.
pub(crate) fn is_of_model(end: &TurnEnd) -> bool {
    let TurnEnd::Failed(FailureKind::Execution(reason)) = end else { return false };
    reason.as_str().starts_with("model_")
}

/// Returns whether a turn has completed without an answer.
pub(crate) fn has_no_answer(result: &TurnResult) -> bool {
    result.end == TurnEnd::Completed && result.text.trim().is_empty() && result.structured_output.is_none()
}

fn judged(end: &TurnEnd, told: Option<&str>, refused: &[String], was_stopped: bool) -> TurnExit {
    let not_done = |exit, why: &str| TurnExit { exit, why: Some(why.to_owned()), hint: None };
    if was_stopped {
        return not_done(Exit::Interrupted, "interrupted");
    }
    if !refused.is_empty() {
        let why = format!("permission denied (not interactive): {}", refused.join("; "));
        return TurnExit { hint: Some(ALLOW.into()), ..not_done(Exit::Refused, &why) };
    }
    match end {
        TurnEnd::Completed | TurnEnd::HandedOver => TurnExit { exit: Exit::Done, why: None, hint: None },
        TurnEnd::Interrupted(StoppedBy::Denied) => not_done(Exit::Refused, "stopped: you denied the request"),
        TurnEnd::Interrupted(StoppedBy::Timeout) => not_done(Exit::Failed, "stopped: exceeded `--timeout`"),
        TurnEnd::Interrupted(StoppedBy::Budget) => {
            not_done(Exit::Failed, "stopped: exceeded `--budget-tokens`")
        }
        TurnEnd::Interrupted(_) => not_done(Exit::Failed, "interrupted by the agent"),
        TurnEnd::Failed(FailureKind::Execution(reason)) if reason.as_str() == "permission_rejected" => {
            not_done(Exit::Refused, "stopped: you denied the request")
        }
        TurnEnd::Failed(FailureKind::Refusal) => TurnExit {
            hint: Some("rephrase the prompt, or use another model with `-m`".into()),
            ..not_done(Exit::ModelRefused, told.unwrap_or("the model refused to answer"))
        },
        TurnEnd::Failed(FailureKind::StructuredOutput(_)) => {
            not_done(Exit::Failed, told.unwrap_or("the answer does not fit the schema"))
        }
        TurnEnd::Failed(FailureKind::Execution(reason)) => {
            let unnamed = format!("the task failed ({reason})");
            not_done(Exit::Failed, told.unwrap_or(&unnamed))
        }
        _ => not_done(Exit::Failed, told.unwrap_or("the task failed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(end: &TurnEnd, refused: &[&str], was_stopped: bool) -> u8 {
        let refused: Vec<_> = refused.iter().map(|&it| it.to_owned()).collect();
        judged(end, None, &refused, was_stopped).exit as u8
    }

    #[test]
    fn every_end_has_the_exit_code_that_is_documented() {
        let failed = |reason: &str| TurnEnd::Failed(FailureKind::Execution(reason.into()));
        assert_eq!(code(&TurnEnd::Completed, &[], false), 0);
        assert_eq!(code(&TurnEnd::HandedOver, &[], false), 0);
        assert_eq!(code(&failed("error"), &[], false), 1);
        assert_eq!(code(&TurnEnd::Interrupted(StoppedBy::Timeout), &[], false), 1);
        assert_eq!(code(&TurnEnd::Interrupted(StoppedBy::Budget), &[], false), 1);
        assert_eq!(code(&TurnEnd::Interrupted(StoppedBy::Denied), &[], false), 3);
        assert_eq!(code(&failed("permission_rejected"), &[], false), 3);
        assert_eq!(code(&TurnEnd::Completed, &["a question"], false), 3);
        assert_eq!(code(&TurnEnd::Failed(FailureKind::Refusal), &[], false), 4);
        assert_eq!(code(&TurnEnd::Interrupted(StoppedBy::Caller), &["x"], true), 130);
    }

    #[test]
    fn failure_has_the_error_message_of_the_agent() {
        let end = TurnEnd::Failed(FailureKind::Execution("error".into()));
        assert_eq!(judged(&end, Some("no credit"), &[], false).why.as_deref(), Some("no credit"));
    }
}
