//! Prompts that were accepted: kept until the agent has them, and remembered after that, so that none runs twice.

use std::fmt;

use crate::{Result, SessionId};

/// A prompt that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedPrompt {
    /// The id of the message, which identifies the prompt within its session.
    pub message_id: String,
    /// The request that delivers it to the agent, as one line of text.
    pub request: String,
}

/// Whether a prompt was accepted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receipt {
    /// It is new, and now accepted.
    New,
    /// It was accepted before.
    Duplicate,
}

/// The accepted prompts of all sessions.
pub trait PromptQueue: fmt::Debug + Send + Sync {
    /// Accepts a prompt unless a prompt with its id was accepted before. Durable when this returns.
    fn accept(&self, session: &SessionId, prompt: &QueuedPrompt) -> Result<Receipt>;

    /// Notes that the agent has the prompt. Its id stays known.
    fn delivered(&self, session: &SessionId, message_id: &str) -> Result<()>;

    /// Forgets a prompt that the agent rejected, so that its id can be used again.
    fn rejected(&self, session: &SessionId, message_id: &str) -> Result<()>;

    /// Returns the prompts that the agent may not have, oldest first.
    fn waiting(&self, session: &SessionId) -> Result<Vec<QueuedPrompt>>;

    /// Returns the sessions with such prompts.
    fn sessions_with_waiting(&self) -> Result<Vec<SessionId>>;
}
