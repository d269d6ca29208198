//! The requests of a tool to its session: questions for the user, skills, other tools, subagents.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Run, ToolOutput, UserQuestion};

/// The session of a call. The engine implements it; see [`Context::session`](crate::Context::session).
pub trait SessionPort: fmt::Debug + Send + Sync {
    /// Sends a request to the session and waits for its output.
    ///
    /// The waiting run is dropped without an output if the user declines and the turn ends with that.
    fn request(&self, request: SessionRequest) -> Run<'_>;
}

/// A request of a tool to its session.
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
        /// The title of the plan.
        title: Option<String>,
    },
    /// Returns the instructions of a skill.
    LoadSkill {
        /// The name of the skill.
        name: String,
    },
    /// Makes more tools available to the model.
    SearchTools {
        /// `select:Name,Name`, or words that describe them.
        query: String,
        /// The maximum number of tools that words find.
        max_results: usize,
    },
    /// Starts a subagent, or resumes one.
    StartSubagent(SubagentTask),
    /// Returns the result of a background subagent.
    SubagentOutput {
        /// The id of its session.
        id: String,
        /// The maximum time to wait.
        wait: Duration,
    },
    /// Stops a background subagent.
    StopSubagent {
        /// The id of its session.
        id: String,
    },
}

/// The task of a subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SubagentTask {
    /// The name of the subagent; empty if one is resumed.
    pub subagent: String,
    /// The task in a few words, for the user.
    pub description: String,
    /// The task.
    pub prompt: String,
    /// Images for the subagent.
    pub images: Vec<PathBuf>,
    /// Whether the turn continues without waiting for the result.
    pub is_background: bool,
    /// The session id of the subagent to resume.
    pub resume: Option<String>,
}

/// Returns the output of a tool that needs a session when there is none.
pub(crate) fn no_session(tool: &str) -> ToolOutput {
    let text = format!("{tool} is not available here. Continue without it.");
    ToolOutput::error(&text, &text)
}
