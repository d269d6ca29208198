//! `ToolSearch`: makes more tools available to the model.

mod spec;

use serde_json::Value;
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

/// The number of tools that a search loads by default: each is a part of every later request.
const DEFAULT_RESULTS: u64 = 5;
const MAX_RESULTS: u64 = 50;

fn request(input: &Input) -> SessionRequest {
    let max =
        input.get("max_results").and_then(Value::as_u64).unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS);
    SessionRequest::SearchTools {
        query: input::text(input, "query").unwrap_or_default().to_owned(),
        max_results: usize::try_from(max).unwrap_or(usize::MAX),
    }
}
