//! How a turn ended.

use std::sync::Arc;
use std::time::Duration;

use musher_wire::{AgentTurnCompletionReason, ErrorNotification, Json, Message, TokenUsage};
use serde::de::DeserializeOwned;

use crate::error::Kind;
use crate::{Error, Result};

/// How a turn ended, and what came of it.
///
/// A turn that failed or was stopped is a result, too; [`TurnResult::ok`] turns it into an error for who wants that.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnResult {
    /// The session it ran in; after a plan was handed over, the new one.
    pub session_id: String,
    /// The id of the turn and of the message that began it.
    pub turn_id: String,
    /// How it ended.
    pub end: TurnEnd,
    /// The text of the last message of the assistant.
    pub text: String,
    /// All messages of the turn, in order.
    pub messages: Vec<Arc<Message>>,
    /// The answer in the form that was asked for.
    pub structured_output: Option<Json>,
    /// The tokens of this turn.
    pub usage: Option<TokenUsage>,
    /// How long it took: the agent's own count, or ours.
    pub duration: Duration,
    /// How often the model answered.
    pub steps: usize,
    /// What went wrong, in order.
    pub errors: Vec<ErrorNotification>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// As it should.
    Completed,
    /// The plan was handed over to a new session, which did the work.
    HandedOver,
    /// It was stopped. That is no failure.
    Interrupted(StoppedBy),
    /// It failed.
    Failed(FailureKind),
}

/// Who stopped a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoppedBy {
    /// The caller, by an interrupt, a token or by letting go of the turn.
    Caller,
    /// The turn took longer than it may.
    Timeout,
    /// Nothing happened for longer than it may.
    Stall,
    /// It used more than it may.
    Budget,
    /// A permission was refused.
    Denied,
    /// Somebody else.
    Peer,
}

/// In which way a turn failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The answer does not have the form that was asked for.
    StructuredOutput(AgentTurnCompletionReason),
    /// Anything else, as the agent names it.
    Execution(AgentTurnCompletionReason),
}

impl TurnResult {
    /// Whether it failed. A turn that was stopped did not.
    pub fn is_error(&self) -> bool {
        matches!(self.end, TurnEnd::Failed(_))
    }

    /// Whether it was stopped.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.end, TurnEnd::Interrupted(_))
    }

    /// The end in the words of the TypeScript SDK: `success`, `error_during_execution` or `error_structured_output`.
    pub fn subtype(&self) -> &'static str {
        match self.end {
            TurnEnd::Completed | TurnEnd::HandedOver | TurnEnd::Interrupted(_) => "success",
            TurnEnd::Failed(FailureKind::StructuredOutput(_)) => "error_structured_output",
            TurnEnd::Failed(FailureKind::Execution(_)) => "error_during_execution",
        }
    }

    /// Itself if the turn completed, an error if it failed or was stopped.
    pub fn ok(self) -> Result<Self> {
        let reason = match &self.end {
            TurnEnd::Completed | TurnEnd::HandedOver => return Ok(self),
            TurnEnd::Interrupted(by) => format!("the turn was stopped ({by:?})"),
            TurnEnd::Failed(FailureKind::StructuredOutput(reason)) => {
                return Err(Error::because(
                    Kind::Output { raw: self.text.clone() },
                    self.why(reason.as_str()),
                ));
            }
            TurnEnd::Failed(FailureKind::Execution(reason)) => self.why(reason.as_str()),
        };
        Err(Error::because(Kind::Session, reason))
    }

    /// Reads the structured output. Without one, the text is tried: old agents have nothing else.
    pub fn read_output<T: DeserializeOwned>(&self) -> Result<T> {
        let raw = self.structured_output.as_ref().map_or(self.text.as_str(), Json::text);
        serde_json::from_str(raw)
            .map_err(|source| Error::because(Kind::Output { raw: raw.to_owned() }, source))
    }

    fn why(&self, reason: &str) -> String {
        match self.errors.last() {
            Some(error) => format!("{} ({reason})", error.message),
            None => format!("the turn failed ({reason})"),
        }
    }
}
