//! What a tool can ask of the session it runs in: questions for the user, skills, other tools, subagents.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Run, ToolOutput, UserQuestion};

/// The session behind a call. The engine implements it; see [`Context::session`](crate::Context::session).
pub trait SessionPort: fmt::Debug + Send + Sync {
    /// Asks the session for something and waits for what comes of it.
    ///
    /// The run that waits is dropped, without an answer, if the user declines and the turn ends with that.
    fn request(&self, request: SessionRequest) -> Run<'_>;
}

/// What a tool wants of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionRequest {
    /// Asks the user, and returns the answers as text.
    AskUser {
        /// The questions.
        questions: Vec<UserQuestion>,
    },
    /// Leaves spec mode with a plan that the user has approved.
    ExitSpecMode {
        /// The plan, as Markdown.
        plan: String,
        /// Its title.
        title: Option<String>,
    },
    /// Returns the instructions of a skill.
    LoadSkill {
        /// The name of the skill.
        name: String,
    },
    /// Makes tools available that were not offered.
    SearchTools {
        /// `select:Name,Name`, or words that describe them.
        query: String,
    },
    /// Starts a subagent, or resumes one.
    StartSubagent(SubagentTask),
    /// Returns the result of a subagent that runs in the background.
    SubagentOutput {
        /// The id of its session.
        id: String,
        /// How long to wait for it.
        wait: Duration,
    },
    /// Stops a subagent that runs in the background.
    StopSubagent {
        /// The id of its session.
        id: String,
    },
}

/// What a subagent is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubagentTask {
    /// The name of the subagent; empty for one that is resumed.
    pub subagent: String,
    /// A few words for the user.
    pub description: String,
    /// The task.
    pub prompt: String,
    /// Pictures for the subagent.
    pub images: Vec<PathBuf>,
    /// Whether the turn goes on without waiting for it.
    pub is_background: bool,
    /// The session of a subagent that is resumed.
    pub resume: Option<String>,
}

/// The output of a tool that needs a session where there is none.
pub(crate) fn no_session(tool: &str) -> ToolOutput {
    let text = format!("{tool} is not available here");
    ToolOutput::error(&text, &text)
}
