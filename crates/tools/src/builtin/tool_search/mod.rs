//! `ToolSearch`: makes more tools available to the model.

mod spec;

use tokio_util::sync::CancellationToken;

use crate::{Action, Context, Input, Run, SessionRequest, Tool, ToolInfo, input};

/// Searches for tools.
#[derive(Debug, Clone, Copy)]
pub struct ToolSearch;

impl Tool for ToolSearch {
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
    SessionRequest::SearchTools { query: input::text(input, "query").unwrap_or_default().to_owned() }
}
