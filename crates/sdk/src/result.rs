//! The result of a turn.

use std::sync::Arc;
use std::time::Duration;

use musher_wire::{AgentTurnCompletionReason, ErrorNotification, Json, Message};
use serde::de::DeserializeOwned;

use crate::error::Kind;
use crate::{Cost, Error, Result, TokenUsage};

/// The result of a turn: how it ended, its messages, usage and errors.
///
/// A failed or interrupted turn has a result, too; [`TurnResult::ok`] converts it to an error.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnResult {
    /// The id of the session; after a plan was handed over, the id of the new session.
    pub session_id: String,
    /// The id of the turn and of the message that began it.
    pub turn_id: String,
    /// The end of the turn: completed, handed over, interrupted or failed.
    pub end: TurnEnd,
    /// The text of the last message of the assistant.
    pub text: String,
    /// All messages of the turn, in order.
    pub messages: Vec<Arc<Message>>,
    /// The structured answer, if a schema was set.
    pub structured_output: Option<Json>,
    /// The tokens of this turn.
    pub usage: Option<TokenUsage>,
    /// The cost of this turn with its subagents, if the agent knows prices.
    pub cost: Option<Cost>,
    /// The duration of the turn, as the agent or else the SDK measured it.
    pub duration: Duration,
    /// The number of the model's answers.
    pub steps: usize,
    /// The errors of the turn, in order.
    pub errors: Vec<ErrorNotification>,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// The turn completed.
    Completed,
    /// The plan was handed over to a new session, which did the work.
    HandedOver,
    /// The turn was interrupted. That is not a failure.
    Interrupted(StoppedBy),
    /// The turn failed.
    Failed(FailureKind),
}

/// The reason why a turn was interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoppedBy {
    /// The caller interrupted the turn, cancelled a token or dropped the turn.
    Caller,
    /// The turn exceeded its time limit.
    Timeout,
    /// The turn made no progress for longer than its stall timeout.
    Stall,
    /// The turn exceeded its budget.
    Budget,
    /// A permission request was denied, or questions were declined.
    Denied,
    /// The agent or another client.
    Peer,
}

/// The kind of failure of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// The answer does not match the schema.
    StructuredOutput(AgentTurnCompletionReason),
    /// The model refused to answer, or a filter of its vendor blocked the answer. The last error says why.
    Refusal,
    /// Any other failure, as the agent names it.
    Execution(AgentTurnCompletionReason),
}

impl TurnResult {
    /// Returns whether the turn failed. An interrupted turn has not failed.
    pub fn is_error(&self) -> bool {
        matches!(self.end, TurnEnd::Failed(_))
    }

    /// Returns whether the turn was interrupted.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.end, TurnEnd::Interrupted(_))
    }

    /// Returns the subtype that the TypeScript SDK reports: `success`, `error_during_execution` or `error_structured_output`.
    pub fn subtype(&self) -> &'static str {
        match self.end {
            TurnEnd::Completed | TurnEnd::HandedOver | TurnEnd::Interrupted(_) => "success",
            TurnEnd::Failed(FailureKind::StructuredOutput(_)) => "error_structured_output",
            TurnEnd::Failed(FailureKind::Refusal | FailureKind::Execution(_)) => "error_during_execution",
        }
    }

    /// Returns the result if the turn completed.
    ///
    /// # Errors
    ///
    /// Fails if the turn failed or was interrupted.
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
            TurnEnd::Failed(FailureKind::Refusal) => self.why("refusal"),
            TurnEnd::Failed(FailureKind::Execution(reason)) => self.why(reason.as_str()),
        };
        Err(Error::because(Kind::Session, reason))
    }

    /// Deserializes the structured output, or the text if there is none: old agents send only text.
    ///
    /// # Errors
    ///
    /// Fails if the output does not have the form of `T`.
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
