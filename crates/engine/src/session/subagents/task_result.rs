//! The outcome of a subagent's task, and the tool results made from it. Pure.

use musher_tools::ToolOutput;

use crate::SessionId;
use crate::skills::Droid;

/// How the work of a subagent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With a last message.
    Done(String),
    /// With a failure.
    Failed(String),
    /// The user has denied one of its calls.
    Denied,
    /// It was cancelled.
    Stopped,
}

impl Outcome {
    fn status(&self) -> &'static str {
        match self {
            Self::Done(_) => "completed",
            Self::Failed(_) => "failed",
            Self::Denied => "denied",
            Self::Stopped => "stopped",
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Done(text) if text.is_empty() => "The subagent ended without a message.",
            Self::Done(text) | Self::Failed(text) => text,
            Self::Denied => "The user denied a call of the subagent, which ended it.",
            Self::Stopped => "The subagent was stopped before it finished.",
        }
    }

    /// Returns the result of the call that has waited for the subagent. The model resumes it by the id.
    pub(crate) fn output(&self, session: &SessionId) -> ToolOutput {
        let (text, id) = (self.text(), session.as_str());
        match self {
            Self::Done(_) => ToolOutput::text(format!("session_id: {id}\n\n{text}")),
            Self::Denied => ToolOutput::cancelled(),
            Self::Failed(_) | Self::Stopped => {
                ToolOutput::error(text, &format!("{text}\n\nsession_id: {id}"))
            }
        }
    }

    /// Returns the message to the model about a background subagent that has ended.
    pub(crate) fn completion(&self, session: &SessionId, name: &str, description: &str) -> String {
        format!(
            "Background task completed.\ntask_id: {}\ntype: {name}\nreason: {}\ndescription: {description}\noutput: {}\n\n\
             This message comes from the program, not from the user. Continue with the result, or summarize it for the user.",
            session.as_str(),
            self.status(),
            self.text()
        )
    }

    /// Returns the result of a call that asks for the outcome later.
    pub(crate) fn report(&self) -> ToolOutput {
        ToolOutput::text(format!("status: {}\n\n{}", self.status(), self.text()))
    }
}

/// Returns the result of a call that does not wait.
pub(crate) fn launched(session: &SessionId, name: &str, description: &str) -> ToolOutput {
    let id = session.as_str();
    ToolOutput::text(format!(
        "Task launched in background.\ntask_id: {id}\nsession_id: {id}\nsubagent_type: {name}\ndescription: {description}\n\
         Its result arrives as a message. Continue with other work; TaskOutput waits for the result, TaskStop stops the task."
    ))
}

/// Returns the result of a call that asks for the outcome too early.
pub(crate) fn still_running() -> ToolOutput {
    ToolOutput::text("status: running\n\nThe subagent is still running.")
}

/// Returns the result of a call with an unknown task.
pub(crate) fn unknown_task(id: &str) -> ToolOutput {
    let for_model =
        format!("Task \"{id}\" not found. Pass the `session_id` that Task returned as `task_id`.");
    ToolOutput::error(&format!("Task \"{id}\" not found"), &for_model)
}

/// Returns the error for an unknown subagent.
pub(crate) fn unknown_subagent(name: &str, known: &[Droid]) -> String {
    let names: Vec<&str> = known.iter().map(|droid| droid.name.as_str()).collect();
    format!("Droid \"{name}\" not found. Available subagents: {}.", names.join(", "))
}
