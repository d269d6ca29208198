//! The output of a task for programs: the answer, one object at the end, or one object per event. The fields are those of
//! droid, and a few more.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use musher::wire::{ListToolsParams, Message, ToolResultContent};
use musher::{Event, Session, TokenUsage, TurnResult};
use serde_json::{Value, json};

use crate::args::OutputFormat;
use crate::exit::Failure;
use crate::printer::Printer;
use crate::sanitize::sanitized;

/// How long the agent may take to list its tools.
const TOOLS_TIMEOUT: Duration = Duration::from_secs(10);

/// Prints the events of a turn for programs.
#[derive(Debug)]
pub(crate) struct Report {
    format: OutputFormat,
    session: String,
    printer: Printer,
    /// The id of the message that the next tool calls belong to.
    last_message: String,
    /// Whether partial events are printed.
    is_partial: bool,
}

impl Report {
    /// Creates the report; with one object per event, prints the `init` object.
    pub(crate) async fn begin(
        format: OutputFormat,
        session: &Session,
        printer: Printer,
    ) -> Result<Self, Failure> {
        let report = Self {
            format,
            session: session.id().to_string(),
            printer,
            last_message: String::new(),
            is_partial: false,
        };
        if format == OutputFormat::StreamJson {
            let names = tool_names(session).await;
            let state = session.state();
            report.line(&json!({
                "type": "system", "subtype": "init", "cwd": state.cwd, "session_id": report.session,
                "tools": names, "model": state.settings.model_id,
                "reasoning_effort": state.settings.reasoning_effort,
            }))?;
        }
        Ok(report)
    }

    /// Sets whether partial events are printed; only with one object per event.
    pub(crate) fn with_partial(mut self, is_partial: bool) -> Self {
        self.is_partial = is_partial;
        self
    }

    pub(crate) fn event(&mut self, event: &Event) -> Result<(), Failure> {
        if self.format != OutputFormat::StreamJson {
            return Ok(());
        }
        match event {
            Event::User(message) if message.is_for_people() => self.message("user", message)?,
            Event::Assistant(message) => {
                self.last_message.clone_from(&message.id);
                if !message.text().is_empty() {
                    self.message("assistant", message)?;
                }
            }
            Event::ToolCall(call) => self.line(&json!({
                "type": "tool_call", "id": call.id, "messageId": self.last_message, "toolId": call.name,
                "toolName": call.name, "parameters": call.input, "timestamp": now(), "session_id": self.session,
            }))?,
            Event::ToolResult(outcome) => {
                let value = match &outcome.content {
                    ToolResultContent::Text(text) => Value::from(text.as_str()),
                    other => serde_json::to_value(other)?,
                };
                self.line(&json!({
                    "type": "tool_result", "id": outcome.tool_use_id, "toolId": outcome.tool_name,
                    "isError": outcome.is_error, "value": value, "timestamp": now(), "session_id": self.session,
                }))?;
            }
            Event::Error(error) => self.error("agent_loop", &error.message)?,
            event if self.is_partial => self.piece(event)?,
            _ => {}
        }
        Ok(())
    }

    /// Prints a partial event; skips those that are not about the turn.
    fn piece(&self, event: &Event) -> Result<(), Failure> {
        let mut value = match event {
            Event::TextDelta(delta) => {
                json!({"type": "text_delta", "messageId": delta.message_id, "text": delta.text})
            }
            Event::ThinkingDelta(delta) => {
                json!({"type": "thinking_delta", "messageId": delta.message_id, "text": delta.text})
            }
            Event::Retracted { message_id } => json!({"type": "retracted", "messageId": message_id}),
            Event::Retry(retry) => json!({
                "type": "retry", "reason": retry.reason, "attempt": retry.attempt,
                "delay_ms": retry.delay.map(|delay| delay.as_millis()), "message": retry.message,
            }),
            Event::ToolProgress(progress) => json!({
                "type": "tool_progress", "id": progress.tool_use_id, "toolName": progress.tool_name,
                "update": progress.update,
            }),
            Event::State(state) => json!({"type": "state", "state": state}),
            Event::Usage(usage) => json!({"type": "usage", "usage": self::usage(Some(&usage.total))}),
            Event::Title(title) => json!({"type": "title", "title": title.title}),
            _ => return Ok(()),
        };
        value["session_id"] = self.session.as_str().into();
        self.line(&value)
    }

    /// Reports an error that does not end the turn.
    pub(crate) fn error(&self, source: &str, message: &str) -> Result<(), Failure> {
        if self.format == OutputFormat::StreamJson {
            return self.line(&json!({
                "type": "error", "source": source, "message": message, "timestamp": now(),
                "session_id": self.session,
            }));
        }
        self.printer.note(format!("error: {}", sanitized(message, 2000)));
        Ok(())
    }

    /// Prints what the user can do about a failure, where people read the output.
    pub(crate) fn hint(&self, text: &str) {
        if self.format == OutputFormat::Text {
            self.printer.note(format!("\nhint: {}", sanitized(text, 2000)));
        }
    }

    /// Prints the end of the turn; it succeeded if there is no reason of a failure.
    pub(crate) fn end(&self, result: &TurnResult, failure: Option<&str>) -> Result<(), Failure> {
        let output = result.structured_output.as_ref().map(musher::wire::Json::to_value).transpose()?;
        match self.format {
            OutputFormat::Text => match failure {
                None => self.printer.exact(&result.text)?,
                Some(why) => self.printer.note(format!("error: {}", sanitized(why, 2000))),
            },
            OutputFormat::StreamJson => match failure {
                None => self.with_output(output, json!({
                    "type": "completion", "finalText": result.text, "numTurns": result.steps,
                    "durationMs": milliseconds(result), "session_id": self.session, "timestamp": now(),
                    "usage": usage(result.usage.as_ref()), "cost_usd": cost(result),
                }))?,
                Some(why) => self.error("cli", why)?,
            },
            OutputFormat::Json | OutputFormat::StreamJsonrpc => self.with_output(output, json!({
                "type": "result", "subtype": if failure.is_none() { "success" } else { "failure" },
                "is_error": failure.is_some(), "duration_ms": milliseconds(result), "num_turns": result.steps,
                "result": failure.unwrap_or(&result.text), "session_id": self.session,
                "usage": usage(result.usage.as_ref()), "cost_usd": cost(result),
            }))?,
        }
        Ok(())
    }

    fn message(&self, role: &str, message: &Message) -> Result<(), Failure> {
        self.line(&json!({
            "type": "message", "role": role, "id": message.id, "text": message.text(), "timestamp": now(),
            "session_id": self.session,
        }))
    }

    fn with_output(&self, output: Option<Value>, mut value: Value) -> Result<(), Failure> {
        if let Some(output) = output {
            value["structured_output"] = output;
        }
        self.line(&value)
    }

    fn line(&self, value: &Value) -> Result<(), Failure> {
        Ok(self.printer.json(&value.to_string())?)
    }
}

/// Returns the names of the tools. An agent without such a list can do its task all the same.
async fn tool_names(session: &Session) -> Vec<String> {
    let client = session.client();
    let listed = tokio::time::timeout(TOOLS_TIMEOUT, client.list_tools(ListToolsParams::default())).await;
    match listed {
        Ok(Ok(listed)) => listed.tools.into_iter().map(|tool| tool.llm_id).collect(),
        Ok(Err(error)) => {
            tracing::warn!(error = %error.with_causes(), "the agent did not list its tools");
            Vec::new()
        }
        Err(_elapsed) => {
            tracing::warn!("the agent did not list its tools in time");
            Vec::new()
        }
    }
}

fn usage(usage: Option<&TokenUsage>) -> Value {
    let usage = usage.copied().unwrap_or_default();
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens.unwrap_or_default(),
        "cache_creation_input_tokens": usage.cache_creation_tokens.unwrap_or_default(),
        "reasoning_tokens": usage.thinking_tokens.unwrap_or_default(),
        "factory_credits": 0,
    })
}

/// Returns the cost in US dollars; null if it is not known, or not for all tokens.
fn cost(result: &TurnResult) -> Option<f64> {
    result.cost.filter(|cost| cost.unpriced_tokens == 0).map(|cost| cost.usd)
}

fn milliseconds(result: &TurnResult) -> u64 {
    u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX)
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
