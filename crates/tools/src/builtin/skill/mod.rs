//! Skill: loads the instructions for a kind of task.

mod spec;

use tokio_util::sync::CancellationToken;

use crate::{Action, Context, Input, Run, SessionRequest, Tool, ToolInfo, input};

/// Loads a skill.
#[derive(Debug, Clone, Copy)]
pub struct Skill;

impl Tool for Skill {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, _input: &'a Input) -> Result<Action<'a>, String> {
        Ok(Action::session())
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, _cancel: CancellationToken) -> Run<'a> {
        Box::pin(context.session_request(spec::INFO.name, request(&input)))
    }
}

fn request(input: &Input) -> SessionRequest {
    SessionRequest::LoadSkill { name: input::text(input, "skill").unwrap_or_default().to_owned() }
}
