//! `OpenAI` responses.
//!
//! The vendor stores nothing: reasoning is returned encrypted, kept as [`Proof::Encrypted`], and sent back at its position. The
//! phase of a message, which tells commentary from the final answer, is kept as a label and sent back too.

use std::borrow::Cow;
use std::collections::HashMap;

use musher_http::SseEvent;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::Answer;
use super::{FormatOptions, openai_tools, read, reported};
use crate::{
    Block, Effort, ErrorClass, FinishReason, Label, Message, ModelError, ModelEvent, Proof, Reasoning,
    Request, Role, Thinking, ToolResult, Usage,
};

pub(super) fn body(request: &Request, messages: &[Message], options: &FormatOptions) -> Value {
    let input: Vec<Value> = messages.iter().flat_map(items).collect();
    let mut body = json!({"model": request.model, "input": input, "stream": true, "store": false});
    if !request.system.is_empty() {
        body["instructions"] = json!(request.system.join("\n\n"));
    }
    if !request.tools.is_empty() {
        let tool = |tool: &crate::ToolSpec| json!({"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema, "strict": false});
        body["tools"] = request.tools.iter().map(tool).collect();
        body["parallel_tool_calls"] = json!(true);
        let named = |name: &str| json!({"type": "function", "name": name});
        body["tool_choice"] = openai_tools::choice(&request.tool_choice, named).unwrap_or(json!("auto"));
    }
    if let Some(effort) = request.effort.filter(|_| options.reasoning != Some(Reasoning::None)) {
        let mut reasoning = json!({"effort": effort.name()});
        if effort != Effort::Off {
            reasoning["summary"] = json!("auto");
            body["include"] = json!(["reasoning.encrypted_content"]);
        }
        body["reasoning"] = reasoning;
    }
    if let Some(limit) = request.max_output_tokens {
        body["max_output_tokens"] = json!(limit);
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature);
    }
    if let Some(key) = &request.cache_key {
        body["prompt_cache_key"] = json!(key);
    }
    if let Some(output) = &request.output {
        let format =
            json!({"type": "json_schema", "name": output.name, "schema": output.schema, "strict": true});
        body["text"] = json!({ "format": format });
    }
    if let Some(verbosity) = options.verbosity {
        body["text"]["verbosity"] = json!(verbosity.name());
    }
    body
}

/// Returns the items of a message: adjacent texts are one item, every other block is its own item.
fn items(message: &Message) -> Vec<Value> {
    let mut items = Vec::new();
    let mut parts = Vec::new();
    let role = if message.role == Role::User { "user" } else { "assistant" };
    let mut phase = None;
    let flush = |parts: &mut Vec<Value>, items: &mut Vec<Value>, phase: Option<&String>| {
        if parts.is_empty() {
            return;
        }
        let mut item = json!({"type": "message", "role": role, "content": std::mem::take(parts)});
        if let Some(phase) = phase {
            item["phase"] = json!(phase);
        }
        items.push(item);
    };
    for block in &message.content {
        let item = match block {
            Block::Thinking(thinking) => reasoning(thinking),
            Block::ToolUse(call) => {
                let arguments = Value::Object(call.input.clone()).to_string();
                Some(
                    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}),
                )
            }
            Block::ToolResult(result) => Some(output(result)),
            Block::Label { label: Label::Phase, value } => {
                flush(&mut parts, &mut items, phase);
                phase = Some(value);
                None
            }
            other => {
                parts.extend(part(other, message.role));
                None
            }
        };
        if let Some(item) = item {
            flush(&mut parts, &mut items, phase);
            items.push(item);
        }
    }
    flush(&mut parts, &mut items, phase);
    // the vendor rejects reasoning without the item it led to
    while items.last().is_some_and(|item| item["type"] == "reasoning") {
        items.pop();
    }
    items
}

fn reasoning(thinking: &Thinking) -> Option<Value> {
    let Some(Proof::Encrypted { id, content }) = &thinking.proof else { return None };
    let summary = if thinking.text.is_empty() {
        json!([])
    } else {
        json!([{"type": "summary_text", "text": thinking.text}])
    };
    Some(json!({"type": "reasoning", "id": id, "summary": summary, "encrypted_content": content}))
}

fn output(result: &ToolResult) -> Value {
    let output = if result.media().next().is_some() {
        result.content.iter().filter_map(|block| part(block, Role::User)).collect()
    } else {
        json!(result.joined())
    };
    json!({"type": "function_call_output", "call_id": result.id, "output": output})
}

fn part(block: &Block, role: Role) -> Option<Value> {
    match block {
        Block::Text { text } if role == Role::User => Some(json!({"type": "input_text", "text": text})),
        Block::Text { text } => Some(json!({"type": "output_text", "text": text})),
        Block::Image(media) => Some(json!({"type": "input_image", "image_url": media.data_url()})),
        Block::Document(media) => {
            let name = openai_tools::file_name(media);
            Some(json!({"type": "input_file", "filename": name, "file_data": media.data_url()}))
        }
        _ => None,
    }
}

/// Decoder state: which output item is which tool call.
#[derive(Debug, Default)]
pub(super) struct State {
    calls: HashMap<u64, usize>,
    has_refused: bool,
    /// The message that was last reported, and its phase.
    message: Option<u64>,
    phase: Option<String>,
}

impl State {
    pub(super) fn event(
        &mut self,
        event: &SseEvent,
        answer: &mut Answer,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        if event.data.trim() == "[DONE]" || event.data.trim().is_empty() {
            return Ok(());
        }
        let message: Event<'_> = read(event)?;
        let delta = message.delta.as_deref().unwrap_or_default();
        match message.kind.as_ref() {
            "response.output_text.delta" => answer.text(delta, out),
            "response.refusal.delta" => {
                self.has_refused = true;
                answer.text(delta, out);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                answer.thinking(delta, out);
            }
            "response.reasoning_summary_part.added" if answer.is_thinking() => answer.thinking("\n\n", out),
            "response.function_call_arguments.delta" => {
                if let Some(call) = self.calls.get(&message.output_index) {
                    answer.arguments(*call, delta, out);
                }
            }
            "response.output_item.added" => self.begin(&message, answer, out),
            "response.output_item.done" => self.done(&message, answer, out),
            "response.completed" | "response.incomplete" => {
                let response = message.response.unwrap_or_default();
                answer.usage = response.usage.unwrap_or_default().counts();
                answer.finish(self.reason(&response.incomplete_details.unwrap_or_default()));
                return answer.complete(out);
            }
            "response.failed" | "error" => return Err(failure(event)),
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, message: &Event<'_>, answer: &mut Answer, out: &mut Vec<ModelEvent>) {
        if let Some(item) = message.item.as_ref().filter(|item| item.kind == "function_call") {
            let call = answer.start_call(&item.call_id, &item.name, out);
            self.calls.insert(message.output_index, call);
        }
        self.label(message, answer, out);
    }

    /// Reports the phase of a message, with which an item starts or ends.
    fn label(&mut self, message: &Event<'_>, answer: &mut Answer, out: &mut Vec<ModelEvent>) {
        let Some(item) = message.item.as_ref().filter(|item| item.kind == "message") else { return };
        let is_new = self.message != Some(message.output_index);
        if is_new {
            self.message = Some(message.output_index);
            self.phase = None;
            answer.start_text();
        }
        if let Some(phase) = item.phase.as_deref().filter(|phase| self.phase.as_deref() != Some(phase)) {
            self.phase = Some(phase.to_owned());
            out.push(ModelEvent::Label { label: Label::Phase, value: phase.to_owned() });
        }
    }

    fn done(&mut self, message: &Event<'_>, answer: &mut Answer, out: &mut Vec<ModelEvent>) {
        let Some(item) = &message.item else { return };
        match item.kind.as_ref() {
            "reasoning" => {
                let proof = item.encrypted_content.as_deref().map(|content| Proof::Encrypted {
                    id: item.id.clone().into_owned(),
                    content: content.to_owned(),
                });
                answer.end_thinking(proof, out);
            }
            "function_call" => {
                // some vendors omit the start event of an item, but never its end
                if !self.calls.contains_key(&message.output_index) {
                    self.begin(message, answer, out);
                }
                if let Some(call) = self.calls.get(&message.output_index) {
                    answer.all_arguments(*call, &item.arguments, out);
                }
            }
            "message" => self.label(message, answer, out),
            _ => {}
        }
    }

    fn reason(&self, details: &Incomplete) -> FinishReason {
        match details.reason.as_deref() {
            None if self.has_refused => FinishReason::ContentFilter,
            None => FinishReason::Stop,
            Some("max_output_tokens" | "max_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            Some(other) => FinishReason::Other(other.to_owned()),
        }
    }
}

fn failure(event: &SseEvent) -> ModelError {
    let value: Value = serde_json::from_str(&event.data).unwrap_or_default();
    let error = value.get("response").unwrap_or(&value);
    reported(0, error).unwrap_or_else(|| {
        let start: String = event.data.chars().take(300).collect();
        ModelError::new(ErrorClass::Server, format!("the vendor reported an error: {start}"))
    })
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    delta: Option<Cow<'a, str>>,
    #[serde(default)]
    output_index: u64,
    #[serde(borrow)]
    item: Option<Item<'a>>,
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    call_id: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Cow<'a, str>,
    #[serde(borrow)]
    encrypted_content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    phase: Option<Cow<'a, str>>,
}

#[derive(Deserialize, Default)]
struct Response {
    usage: Option<Counts>,
    incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize, Default)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Counts {
    input_tokens: u64,
    output_tokens: u64,
    input_tokens_details: Option<InputDetails>,
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct InputDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: u64,
}

impl Counts {
    fn counts(self) -> Usage {
        let details = self.input_tokens_details.unwrap_or_default();
        let (cache_read, cache_write) = (details.cached_tokens, details.cache_write_tokens);
        Usage {
            input: self.input_tokens.saturating_sub(cache_read).saturating_sub(cache_write),
            output: self.output_tokens,
            cache_read,
            cache_write,
            thinking: self.output_tokens_details.unwrap_or_default().reasoning_tokens,
            ..Usage::default()
        }
    }
}
