//! Logs the messages of the CLI: one line per turn, tool call and retry, with ids, names, counts and times, never content.
//!
//! Messages are read only if something logs: without a log they pass through as text.

use std::collections::HashMap;

use musher_claude::{Message, System, View};
use tokio::time::Instant;

/// Maximum number of tool calls whose results are awaited; of later ones the result is logged without a name.
const MAX_CALLS: usize = 256;

/// The tool calls whose results are pending.
#[derive(Debug, Default)]
pub(super) struct MessageLog {
    calls: HashMap<String, Call>,
}

#[derive(Debug)]
struct Call {
    tool: String,
    began: Instant,
}

impl MessageLog {
    /// Logs a message.
    pub(super) fn message(&mut self, message: &Message) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        match (message.kind(), message.subtype()) {
            ("assistant" | "user" | "result", _) | ("system", Some("api_retry" | "model_fallback")) => {
                self.view(message.view());
            }
            _ => {}
        }
    }

    fn view(&mut self, view: View) {
        match view {
            View::Assistant(part) => {
                for call in part.message.content.tool_uses() {
                    if self.calls.len() < MAX_CALLS {
                        let begun = Call { tool: call.name.clone(), began: Instant::now() };
                        self.calls.insert(call.id.clone(), begun);
                    }
                }
            }
            View::User(echo) if !echo.is_replay => {
                for result in echo.message.content.tool_results() {
                    let call = self.calls.remove(&result.tool_use_id);
                    let (id, is_error) = (&result.tool_use_id, result.is_error);
                    let tool = call.as_ref().map(|call| call.tool.as_str());
                    let duration = call.as_ref().map(|call| tracing::field::debug(call.began.elapsed()));
                    tracing::info!(tool, id, duration, is_error, "tool call");
                }
            }
            View::Result(result) => {
                self.calls.clear();
                let usage = result.usage.as_ref();
                let (input, output) = (usage.map(|it| it.input_tokens), usage.map(|it| it.output_tokens));
                let (end, is_error, steps) = (result.subtype, result.is_error, result.num_turns);
                let status = result.api_error_status;
                let duration_ms = result.duration_ms;
                tracing::info!(end, is_error, status, duration_ms, steps, input, output, "turn ended");
            }
            View::System(System::ApiRetry(retry)) => {
                let (attempt, status) = (retry.attempt, retry.error_status);
                tracing::info!(attempt, status, "retrying the model request");
            }
            View::System(System::ModelFallback(change)) => {
                let (from, to) = (change.original_model, change.fallback_model);
                tracing::info!(from, to, "the CLI continues with another model");
            }
            _ => {}
        }
    }
}
