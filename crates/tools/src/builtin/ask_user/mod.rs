//! `AskUser`: asks the user questions.

mod questionnaire;
mod spec;

pub use questionnaire::{UserQuestion, answers};

use tokio_util::sync::CancellationToken;

use crate::{Action, Context, Input, Run, SessionRequest, Tool, ToolInfo, ToolOutput, input};

/// Asks the user.
#[derive(Debug, Clone, Copy)]
pub struct AskUser;

impl Tool for AskUser {
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
    match questionnaire::parse(input::text(input, "questionnaire").unwrap_or_default()) {
        Ok(questions) => Ok(SessionRequest::AskUser { questions }),
        Err(problem) => {
            let for_model = format!("invalid `questionnaire`: {problem}. Correct it and call AskUser again.");
            Err(ToolOutput::error("Invalid AskUser parameters", &for_model))
        }
    }
}
