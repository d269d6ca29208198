//! Maps the end of a turn to an exit code and a reason.

use musher::{FailureKind, StoppedBy, TurnEnd, TurnResult};

use crate::exit::Exit;

/// The exit code of a turn, with a reason and a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) exit: Exit,
    /// Why the task was not done.
    pub(crate) why: Option<String>,
    /// What the user can do about it.
    pub(crate) hint: Option<&'static str>,
}

const ALLOW: &str = "run it in a terminal to be asked, or allow more with `--auto low`, `medium` or `high`";

/// Returns the verdict on the end of a turn.
pub(crate) fn verdict(result: &TurnResult, refused: &[String], was_stopped: bool) -> Verdict {
    let told = result.errors.last().map(|error| error.message.as_str());
    judged(&result.end, told, refused, was_stopped)
}

fn judged(end: &TurnEnd, told: Option<&str>, refused: &[String], was_stopped: bool) -> Verdict {
    let not_done = |exit, why: &str| Verdict { exit, why: Some(why.to_owned()), hint: None };
    if was_stopped {
        return not_done(Exit::Interrupted, "interrupted");
    }
    if !refused.is_empty() {
        let why = format!("permission denied (not interactive): {}", refused.join("; "));
        return Verdict { hint: Some(ALLOW), ..not_done(Exit::Refused, &why) };
    }
    match end {
        TurnEnd::Completed | TurnEnd::HandedOver => Verdict { exit: Exit::Done, why: None, hint: None },
        TurnEnd::Interrupted(StoppedBy::Denied) => not_done(Exit::Refused, "stopped: you denied the request"),
        TurnEnd::Interrupted(StoppedBy::Timeout) => not_done(Exit::Failed, "stopped: exceeded `--timeout`"),
        TurnEnd::Interrupted(StoppedBy::Budget) => {
            not_done(Exit::Failed, "stopped: exceeded `--budget-tokens`")
        }
        TurnEnd::Interrupted(_) => not_done(Exit::Failed, "interrupted by the agent"),
        TurnEnd::Failed(FailureKind::Execution(reason)) if reason.as_str() == "permission_rejected" => {
            not_done(Exit::Refused, "stopped: you denied the request")
        }
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
        assert_eq!(code(&TurnEnd::Interrupted(StoppedBy::Caller), &["x"], true), 130);
    }

    #[test]
    fn a_failure_has_the_error_message_of_the_agent() {
        let end = TurnEnd::Failed(FailureKind::Execution("error".into()));
        assert_eq!(judged(&end, Some("no credit"), &[], false).why.as_deref(), Some("no credit"));
    }
}
