//! What came of a subagent's task, as the texts of results. Pure.

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
    /// Somebody refused one of its calls.
    Refused,
    /// It was told to end.
    Stopped,
}

impl Outcome {
    fn status(&self) -> &'static str {
        match self {
            Self::Done(_) => "completed",
            Self::Failed(_) => "failed",
            Self::Refused => "refused",
            Self::Stopped => "stopped",
        }
    }

    fn text(&self) -> &str {
        match self {
            Self::Done(text) if text.is_empty() => "The subagent has ended without a message.",
            Self::Done(text) | Self::Failed(text) => text,
            Self::Refused => "The user refused a call of the subagent, which ended it.",
            Self::Stopped => "The subagent was stopped before it was done.",
        }
    }

    /// The result of the call that waited for it. The id is what to go on with it by.
    pub(crate) fn output(&self, session: &SessionId) -> ToolOutput {
        let (text, id) = (self.text(), session.as_str());
        match self {
            Self::Done(_) => ToolOutput::text(format!("session_id: {id}\n\n{text}")),
            Self::Refused => ToolOutput::cancelled(),
            Self::Failed(_) | Self::Stopped => {
                ToolOutput::error(text, &format!("{text}\n\nsession_id: {id}"))
            }
        }
    }

    /// What the model is told when one in the background has ended.
    pub(crate) fn completion(&self, session: &SessionId, name: &str, description: &str) -> String {
        format!(
            "Background task completed.\ntask_id: {}\ntype: {name}\nreason: {}\ndescription: {description}\noutput: {}\n\n\
             Nobody has said this: the subagent that was started earlier has ended. Go on with what came of it, or tell it in a few words.",
            session.as_str(),
            self.status(),
            self.text()
        )
    }

    /// The result of a call that asks for it later.
    pub(crate) fn report(&self) -> ToolOutput {
        ToolOutput::text(format!("status: {}\n\n{}", self.status(), self.text()))
    }
}

/// The result of a call that does not wait.
pub(crate) fn launched(session: &SessionId, name: &str, description: &str) -> ToolOutput {
    let id = session.as_str();
    ToolOutput::text(format!(
        "Task launched in background.\ntask_id: {id}\nsession_id: {id}\nsubagent_type: {name}\ndescription: {description}\n\
         What comes of it is told when it has ended. TaskOutput asks for it before that, TaskStop ends it."
    ))
}

/// The result of a call that asks for what is not there yet.
pub(crate) fn still_running() -> ToolOutput {
    ToolOutput::text("status: running\n\nThe subagent is still at work.")
}

/// There is no such task.
pub(crate) fn unknown_task(id: &str) -> ToolOutput {
    let for_model = format!("Task \"{id}\" not found. `task_id` is the `session_id` Task handed back.");
    ToolOutput::error(&format!("Task \"{id}\" not found"), &for_model)
}

/// There is no such subagent.
pub(crate) fn unknown_subagent(name: &str, known: &[Droid]) -> String {
    let names: Vec<&str> = known.iter().map(|droid| droid.name.as_str()).collect();
    format!("Droid \"{name}\" not found. Available subagents: {}.", names.join(", "))
}
