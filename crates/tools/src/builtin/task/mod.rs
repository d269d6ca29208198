//! Task: starts a subagent.

mod spec;

use std::path::PathBuf;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Action, Context, Input, Run, SessionRequest, SubagentTask, Tool, ToolInfo, ToolOutput};

/// Starts a subagent.
#[derive(Debug, Clone, Copy)]
pub struct Task;

impl Tool for Task {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, _input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::session())
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, _cancel: CancellationToken) -> Run<'a> {
        Box::pin(async move {
            match request(&input) {
                Ok(request) => context.session_request(spec::INFO.name, request).await,
                Err(output) => output,
            }
        })
    }
}

fn request(input: &Input) -> Result<SessionRequest, ToolOutput> {
    parse(input).map(SessionRequest::StartSubagent).map_err(|reason| ToolOutput::error(&reason, &reason))
}

/// Parses the arguments of a call.
fn parse(input: &Input) -> Result<SubagentTask, String> {
    let text = |key: &str| {
        let text = input.get(key).and_then(Value::as_str).map(str::trim);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let flag = |key: &str| input.get(key).and_then(Value::as_bool);
    let resume = text("resume");
    let Some(prompt) = text("prompt") else {
        return Err(
            "Invalid tool arguments: `prompt` is required. Describe the task and call Task again.".to_owned()
        );
    };
    let subagent = text("subagent_type");
    if subagent.is_none() && resume.is_none() {
        return Err(
            "Invalid tool arguments: `subagent_type` is required. Use a name from the list of subagents."
                .to_owned(),
        );
    }
    let images = input.get("image_paths").and_then(Value::as_array).map(Vec::as_slice);
    let images = images.unwrap_or_default().iter().filter_map(Value::as_str).map(PathBuf::from);
    Ok(SubagentTask {
        subagent: subagent.unwrap_or_default(),
        description: text("description").unwrap_or_else(|| prompt.chars().take(80).collect()),
        images: images.collect(),
        is_background: flag("await") == Some(false) || flag("run_in_background") == Some(true),
        resume,
        prompt,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn input(value: &Value) -> Input {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn arguments_name_subagent_prompt_and_whether_to_wait() {
        let call = json!({"subagent_type": "worker", "description": "Look", "prompt": "Look around.", "image_paths": ["a.png"]});
        let task = parse(&input(&call)).unwrap();
        assert_eq!((task.subagent.as_str(), task.description.as_str()), ("worker", "Look"));
        assert_eq!((task.images.len(), task.is_background, task.resume), (1, false, None));
        for more in [json!({"await": false}), json!({"run_in_background": true})] {
            let mut call = input(&call);
            call.extend(input(&more));
            assert!(parse(&call).unwrap().is_background, "{more}");
        }
    }

    #[test]
    fn missing_prompt_or_subagent_is_an_error() {
        let missing = |call: Value| parse(&input(&call)).unwrap_err();
        assert!(missing(json!({"subagent_type": "worker", "prompt": " "})).contains("`prompt`"));
        assert!(missing(json!({"prompt": "x"})).contains("`subagent_type`"));
        assert!(parse(&input(&json!({"prompt": "x", "resume": "id"}))).is_ok());
    }
}
