//! The Anthropic messages API.
//!
//! Thinking needs a signature, which clients send back; the signature here is made up and says so.

use serde_json::{Value, json};

use super::{end_of, json as read, request_id};
use crate::answer::{Answer, Block, Event, Fault};
use crate::call::History;
use crate::plan::SseStream;
use crate::script::{Finish, HttpError, Usage};
use crate::{Api, Call};

pub(super) fn read(body: &Value) -> Result<Call, String> {
    let model = read::model(body)?;
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        return Err("messages: Field required".to_owned());
    };
    let mut history = History::default();
    history.system(&read::joined(body.get("system")));
    for message in messages {
        match read::text(message, "role") {
            "assistant" => read_assistant(message, &mut history),
            "user" => read_user(message, &mut history),
            "system" => history.system(&read::joined(message.get("content"))),
            _ => {}
        }
    }
    let mut call = history.into_call(Api::Anthropic, model);
    let name = |tool: &Value| Some(tool.get("name")?.as_str()?.to_owned());
    call.tools = read::list(body, "tools").iter().filter_map(name).collect();
    call.stream = read::is_true(body, "stream");
    call.include_usage = true;
    Ok(call)
}

fn read_assistant(message: &Value, history: &mut History) {
    history.model(&read::joined(message.get("content")));
    for block in read::list(message, "content") {
        if read::text(block, "type") == "tool_use" {
            let input = block.get("input").map(Value::to_string).unwrap_or_default();
            history.tool_call(read::text(block, "id"), read::text(block, "name"), &input);
        }
    }
}

/// Tool results are blocks in user messages, next to the user's text.
fn read_user(message: &Value, history: &mut History) {
    if let Some(text) = message.get("content").and_then(Value::as_str) {
        history.user(text);
    }
    for block in read::list(message, "content") {
        match read::text(block, "type") {
            "tool_result" => {
                history.tool_result(read::text(block, "tool_use_id"), read::joined(block.get("content")));
            }
            "text" => history.user(read::text(block, "text")),
            _ => {}
        }
    }
}

pub(super) fn stream(call: &Call, answer: &Answer) -> SseStream {
    let mut writer = Writer { stream: SseStream::new(), open: None, blocks: 0, has_pinged: false };
    if answer.fault_at_once().is_none() {
        let message = message(call, answer, &json!([]), &Value::Null, 1);
        writer.event("message_start", json!({"message": message}));
    }
    for timed in &answer.events {
        writer.stream.wait(timed.after);
        match &timed.event {
            Event::Text(piece) => {
                writer.open(Kind::Text, || json!({"type": "text", "text": ""}));
                writer.delta(&json!({"type": "text_delta", "text": piece}));
            }
            Event::Thinking(piece) => {
                writer.open(Kind::Thinking, || json!({"type": "thinking", "thinking": "", "signature": ""}));
                writer.delta(&json!({"type": "thinking_delta", "thinking": piece}));
            }
            Event::ToolCall { id, name } => {
                writer.open(Kind::Tool, || json!({"type": "tool_use", "id": id, "name": name, "input": {}}));
                writer.delta(&json!({"type": "input_json_delta", "partial_json": ""}));
            }
            Event::Arguments(piece) => {
                writer.delta(&json!({"type": "input_json_delta", "partial_json": piece}));
            }
            Event::BlockEnd => writer.close(answer),
            Event::Usage(_) => {}
            Event::Finish(finish) => {
                let delta = json!({"stop_reason": stop_reason(*finish), "stop_sequence": null});
                let usage = counts(&answer.usage, answer.usage.output.unwrap_or_default());
                writer.event("message_delta", json!({"delta": delta, "usage": usage}));
                writer.event("message_stop", json!({}));
            }
            Event::Fault(fault) => {
                if let Fault::InStream(error) = fault {
                    writer.event("error", json!({"error": error_object(error)}));
                }
                writer.stream.end(end_of(fault));
            }
        }
    }
    writer.stream
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Text,
    Thinking,
    Tool,
}

struct Writer {
    stream: SseStream,
    open: Option<Kind>,
    blocks: usize,
    has_pinged: bool,
}

impl Writer {
    fn event(&mut self, name: &str, mut data: Value) {
        data["type"] = json!(name);
        self.stream.event(name, &data);
    }

    fn open(&mut self, kind: Kind, block: impl FnOnce() -> Value) {
        if self.open == Some(kind) {
            return;
        }
        self.open = Some(kind);
        self.event("content_block_start", json!({"index": self.blocks, "content_block": block()}));
        // The API pings at any time; here it pings once, after the start of the first block.
        if !std::mem::replace(&mut self.has_pinged, true) {
            self.event("ping", json!({}));
        }
    }

    fn delta(&mut self, delta: &Value) {
        let index = self.blocks;
        self.event("content_block_delta", json!({"index": index, "delta": delta}));
    }

    fn close(&mut self, answer: &Answer) {
        if self.open == Some(Kind::Thinking) {
            self.delta(&json!({"type": "signature_delta", "signature": signature(answer, self.blocks)}));
        }
        self.event("content_block_stop", json!({"index": self.blocks}));
        self.open = None;
        self.blocks += 1;
    }
}

pub(super) fn whole(call: &Call, answer: &Answer) -> Value {
    let blocks = answer.blocks();
    let content: Vec<Value> = blocks
        .into_iter()
        .enumerate()
        .map(|(index, block)| match block {
            Block::Text(text) => json!({"type": "text", "text": text, "citations": null}),
            Block::Thinking(text) => {
                json!({"type": "thinking", "thinking": text, "signature": signature(answer, index)})
            }
            Block::ToolCall { id, name, arguments } => {
                // Malformed arguments cannot be sent as an object; as a string they are malformed too.
                let input = serde_json::from_str(&arguments).unwrap_or(Value::String(arguments));
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        })
        .collect();
    let stop = json!(stop_reason(answer.finish().unwrap_or(Finish::Stop)));
    message(call, answer, &json!(content), &stop, answer.usage.output.unwrap_or_default())
}

fn message(call: &Call, answer: &Answer, content: &Value, stop_reason: &Value, output: u64) -> Value {
    json!({
        "id": format!("msg_rehearsal_{:06}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage(&answer.usage, output)
    })
}

fn signature(answer: &Answer, index: usize) -> String {
    format!("rehearsal-signature-{:06}-{index}", answer.number)
}

fn stop_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::Length => "max_tokens",
        Finish::ToolCalls => "tool_use",
        Finish::ContentFilter => "refusal",
    }
}

/// Returns the token counts of a complete message.
fn usage(usage: &Usage, output: u64) -> Value {
    let mut counts = counts(usage, output);
    let written = usage.cache_creation.unwrap_or_default();
    counts["cache_creation"] = json!({"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0});
    counts["service_tier"] = json!("standard");
    counts
}

/// Returns the token counts of a `message_delta`: cumulative, so the last ones are those of the whole message.
fn counts(usage: &Usage, output: u64) -> Value {
    // At the start of a stream there are almost no thinking tokens.
    let thinking = usage.reasoning.unwrap_or_default().min(output);
    json!({
        "input_tokens": usage.input.unwrap_or_default(),
        "cache_creation_input_tokens": usage.cache_creation.unwrap_or_default(),
        "cache_read_input_tokens": usage.cache_read.unwrap_or_default(),
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": thinking}
    })
}

pub(super) fn error(error: &HttpError, number: u64) -> Value {
    json!({"type": "error", "error": error_object(error), "request_id": request_id(number)})
}

fn error_object(error: &HttpError) -> Value {
    let (kind, message) = match error.status {
        401 => ("authentication_error", "invalid x-api-key"),
        402 => ("billing_error", "Your credit balance is too low to access the Anthropic API."),
        403 => ("permission_error", "Your API key does not have permission to use the specified resource."),
        404 => ("not_found_error", "The requested resource could not be found."),
        408 | 504 => ("timeout_error", "The request timed out."),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => (
            "rate_limit_error",
            "This request would exceed your account's rate limit. Please try again later.",
        ),
        529 => ("overloaded_error", "Overloaded"),
        500.. => ("api_error", "Internal server error"),
        _ => ("invalid_request_error", "The request is invalid."),
    };
    json!({
        "type": error.kind.as_deref().unwrap_or(kind),
        "message": error.message.as_deref().unwrap_or(message)
    })
}
