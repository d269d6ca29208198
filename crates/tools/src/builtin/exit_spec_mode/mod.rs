//! `ExitSpecMode`: proposes a plan to the user, to leave spec mode with it.

mod spec;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Action, Context, Input, Run, SessionRequest, Tool, ToolInfo, input};

/// Proposes a plan.
#[derive(Debug, Clone, Copy)]
pub struct ExitSpecMode;

impl Tool for ExitSpecMode {
    fn info(&self) -> &ToolInfo {
        &spec::INFO
    }

    fn action<'a>(&self, input: &'a Input) -> Result<Action<'a>, String> {
        let plan = input::required(input, "plan")?;
        let names = input.get("optionNames").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let option_names = names.iter().filter_map(Value::as_str).collect();
        Ok(Action::ProposePlan { plan, title: input::text(input, "title"), option_names })
    }

    fn run<'a>(&'a self, input: Input, context: &'a Context, _cancel: CancellationToken) -> Run<'a> {
        Box::pin(context.session_request(spec::INFO.name, request(&input)))
    }
}

fn request(input: &Input) -> SessionRequest {
    let text = |key: &str| input::text(input, key).map(str::to_owned);
    SessionRequest::ExitSpecMode { plan: text("plan").unwrap_or_default(), title: text("title") }
}
