//! What a call of `Task` asks for, and what came of it, as the texts of a result. Pure.

use std::path::PathBuf;
use std::time::Duration;

use musher_tools::{Input, ToolOutput};
use serde_json::Value;

use crate::SessionId;
use crate::skills::Droid;

/// How long `TaskOutput` waits if it is not told, and at most.
const USUAL_WAIT: Duration = Duration::from_secs(30);
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// What a subagent is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Errand {
    /// Which subagent; empty for one that goes on.
    pub(crate) subagent: String,
    /// A few words for people.
    pub(crate) description: String,
    pub(crate) prompt: String,
    pub(crate) images: Vec<PathBuf>,
    /// Whether the turn goes on without waiting for it.
    pub(crate) is_background: bool,
    /// The session of a subagent that goes on.
    pub(crate) resume: Option<String>,
}

impl Errand {
    /// Reads the arguments of a call.
    pub(crate) fn read(input: &Input) -> Result<Self, String> {
        let text = |key: &str| {
            let text = input.get(key).and_then(Value::as_str).map(str::trim);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let flag = |key: &str| input.get(key).and_then(Value::as_bool);
        let resume = text("resume");
        let Some(prompt) = text("prompt") else {
            return Err("Invalid tool arguments: `prompt` is required".to_owned());
        };
        let subagent = text("subagent_type");
        if subagent.is_none() && resume.is_none() {
            return Err("Invalid tool arguments: `subagent_type` is required".to_owned());
        }
        let images = input.get("image_paths").and_then(Value::as_array).map(Vec::as_slice);
        let images = images.unwrap_or_default().iter().filter_map(Value::as_str).map(PathBuf::from);
        Ok(Self {
            subagent: subagent.unwrap_or_default(),
            description: text("description").unwrap_or_else(|| prompt.chars().take(80).collect()),
            images: images.collect(),
            is_background: flag("await") == Some(false) || flag("run_in_background") == Some(true),
            resume,
            prompt,
        })
    }
}

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

/// How long a call of `TaskOutput` waits; not at all if it does not block.
pub(crate) fn wait(input: &Input) -> Duration {
    if input.get("block").and_then(Value::as_bool) == Some(false) {
        return Duration::ZERO;
    }
    let given = input.get("timeout").and_then(Value::as_f64).filter(|given| *given >= 0.0);
    let given = given.and_then(|given| Duration::try_from_secs_f64(given / 1000.0).ok());
    given.unwrap_or(USUAL_WAIT).min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(value: &Value) -> Input {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_call_says_who_does_what_and_whether_it_is_waited_for() {
        let call = json!({"subagent_type": "worker", "description": "Look", "prompt": "Look around.", "image_paths": ["a.png"]});
        let errand = Errand::read(&input(&call)).unwrap();
        assert_eq!((errand.subagent.as_str(), errand.description.as_str()), ("worker", "Look"));
        assert_eq!((errand.images.len(), errand.is_background, errand.resume), (1, false, None));
        for more in [json!({"await": false}), json!({"run_in_background": true})] {
            let mut call = input(&call);
            call.extend(input(&more));
            assert!(Errand::read(&call).unwrap().is_background, "{more}");
        }
    }

    #[test]
    fn a_call_without_a_task_or_a_subagent_is_told_what_is_missing() {
        let missing = |call: Value| Errand::read(&input(&call)).unwrap_err();
        assert!(missing(json!({"subagent_type": "worker", "prompt": " "})).contains("`prompt`"));
        assert!(missing(json!({"prompt": "x"})).contains("`subagent_type`"));
        assert!(Errand::read(&input(&json!({"prompt": "x", "resume": "id"}))).is_ok());
    }

    #[test]
    fn a_wait_is_in_milliseconds_and_has_an_end() {
        let wait = |call: Value| wait(&input(&call));
        assert_eq!(wait(json!({})), Duration::from_secs(30));
        assert_eq!(wait(json!({"timeout": 1500})), Duration::from_millis(1500));
        assert_eq!(wait(json!({"block": false, "timeout": 1500})), Duration::ZERO);
        assert_eq!(wait(json!({"timeout": 1e300})), USUAL_WAIT);
        assert_eq!(wait(json!({"timeout": 1e12})), LONGEST_WAIT);
        assert_eq!(wait(json!({"timeout": -5})), USUAL_WAIT);
    }
}
