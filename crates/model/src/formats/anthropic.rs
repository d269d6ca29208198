//! Anthropic messages.
//!
//! Reasoning is sent back only with its signature, at its place between text and tool calls. Parts of an unknown kind, such as
//! calls of tools that the vendor runs, are sent back as they came. Up to three places of the request are marked for the cache: the last part
//! of the system prompt (which covers the tools before it) and the last two user messages.

use std::borrow::Cow;
use std::collections::HashMap;

use musher_http::SseEvent;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::{FormatOptions, read, reported};
use crate::{
    Block, Cache, Effort, ErrorClass, FinishReason, Media, Message, ModelError, ModelEvent, Proof, Reasoning,
    Request, Role, Thinking, ToolChoice, Usage,
};

/// Default output limit; the format requires one.
const DEFAULT_MAX_TOKENS: u64 = 32_000;
/// Minimum thinking budget that the vendor accepts, in tokens.
const MIN_BUDGET: u64 = 1024;

pub(super) fn body(request: &Request, messages: &[Message], options: &FormatOptions) -> Value {
    let limit = request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    let mut body = json!({"model": request.model, "max_tokens": limit, "stream": true});
    if !request.system.is_empty() {
        let mut system: Vec<Value> =
            request.system.iter().map(|text| json!({"type": "text", "text": text})).collect();
        if let (Some(mark), Some(last)) = (stable_mark(request.cache), system.last_mut()) {
            last["cache_control"] = mark;
        }
        body["system"] = json!(system);
    }
    let mut list: Vec<Value> = messages.iter().filter_map(message).collect();
    mark_messages(&mut list, request.cache);
    body["messages"] = json!(list);
    if !request.tools.is_empty() {
        let tool = |tool: &crate::ToolSpec| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema});
        body["tools"] = request.tools.iter().map(tool).collect();
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::Required => body["tool_choice"] = json!({"type": "any"}),
            ToolChoice::None => body["tool_choice"] = json!({"type": "none"}),
            ToolChoice::Named(name) => body["tool_choice"] = json!({"type": "tool", "name": name}),
        }
    }
    let mut output = Map::new();
    // the vendor does not allow thinking when a tool call is forced
    let is_free = matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::None);
    let effort = request.effort.filter(|_| is_free || request.tools.is_empty());
    let thinks = think(&mut body, &mut output, effort, limit, options);
    // the vendor does not allow a temperature with thinking
    if let Some(temperature) = request.temperature.filter(|_| !thinks) {
        body["temperature"] = json!(temperature);
    }
    if !request.stop.is_empty() {
        body["stop_sequences"] = json!(request.stop);
    }
    if let Some(schema) = &request.output {
        output.insert("format".to_owned(), json!({"type": "json_schema", "schema": schema.schema}));
    }
    if !output.is_empty() {
        body["output_config"] = Value::Object(output);
    }
    body
}

fn think(
    body: &mut Value,
    output: &mut Map<String, Value>,
    effort: Option<Effort>,
    limit: u64,
    options: &FormatOptions,
) -> bool {
    let Some(effort) = effort else { return false };
    match options.reasoning.unwrap_or(Reasoning::AnthropicBudget) {
        // newer models think unless told otherwise
        Reasoning::AnthropicAdaptive | Reasoning::Deepseek if effort == Effort::Off => {
            body["thinking"] = json!({"type": "disabled"});
            return false;
        }
        Reasoning::AnthropicAdaptive => {
            // without a display, models since Opus 4.7 send no text of their thinking
            body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
            output.insert("effort".to_owned(), json!(effort.max(Effort::Low).name()));
            return true;
        }
        Reasoning::Deepseek => {
            body["thinking"] = json!({"type": "enabled"});
            output.insert("effort".to_owned(), json!(effort.name()));
            return true;
        }
        Reasoning::AnthropicBudget if effort != Effort::Off => {}
        _ => return false,
    }
    let wanted = match effort {
        Effort::Off | Effort::Minimal => MIN_BUDGET,
        Effort::Low => 4096,
        Effort::Medium => 10_000,
        Effort::High => 20_000,
        Effort::XHigh | Effort::Max => 31_999,
    };
    // the budget is part of the limit, and some tokens must remain for the answer
    let budget = wanted.min(limit.saturating_sub(MIN_BUDGET));
    if budget < MIN_BUDGET {
        return false;
    }
    body["thinking"] = json!({"type": "enabled", "budget_tokens": budget});
    true
}

fn stable_mark(cache: Cache) -> Option<Value> {
    match cache {
        Cache::Off => None,
        Cache::Short => Some(json!({"type": "ephemeral"})),
        Cache::Long => Some(json!({"type": "ephemeral", "ttl": "1h"})),
    }
}

/// Marks the last two user messages: the next call reads the cache up to the last one, this call up to the one before.
fn mark_messages(list: &mut [Value], cache: Cache) {
    if cache == Cache::Off {
        return;
    }
    let of_user = list.iter_mut().rev().filter(|message| message["role"] == "user");
    for message in of_user.take(2) {
        let last = message["content"].as_array_mut().and_then(|blocks| blocks.last_mut());
        if let Some(last) = last {
            last["cache_control"] = json!({"type": "ephemeral"});
        }
    }
}

fn message(message: &Message) -> Option<Value> {
    let role = if message.role == Role::User { "user" } else { "assistant" };
    let mut content: Vec<Value> = message.content.iter().filter_map(block).collect();
    // the vendor rejects an answer that ends with thinking, and one without content
    while content.last().is_some_and(is_thinking) {
        content.pop();
    }
    (!content.is_empty()).then(|| json!({"role": role, "content": content}))
}

fn is_thinking(block: &Value) -> bool {
    matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"))
}

fn block(block: &Block) -> Option<Value> {
    match block {
        Block::Label { .. } => None,
        Block::Other(part) => Some(part.clone()),
        Block::Text { text } => Some(json!({"type": "text", "text": text})),
        Block::Image(media) => Some(json!({"type": "image", "source": source(media)})),
        Block::Document(media) => {
            let mut document = json!({"type": "document", "source": source(media)});
            if let Some(name) = &media.name {
                document["title"] = json!(name);
            }
            Some(document)
        }
        Block::Thinking(Thinking { text, proof }) => match proof.as_ref()? {
            Proof::Signature { signature } => {
                Some(json!({"type": "thinking", "thinking": text, "signature": signature}))
            }
            Proof::Redacted { data } => Some(json!({"type": "redacted_thinking", "data": data})),
            Proof::Encrypted { .. } | Proof::Plain | Proof::Details { .. } => None,
        },
        Block::ToolUse(call) => {
            Some(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}))
        }
        Block::ToolResult(result) => {
            let is_empty = |block: &&Block| matches!(block, Block::Text { text } if text.is_empty());
            let content: Vec<Value> =
                result.content.iter().filter(|block| !is_empty(block)).filter_map(self::block).collect();
            let mut value = json!({"type": "tool_result", "tool_use_id": result.id, "content": content});
            if result.is_error {
                value["is_error"] = json!(true);
            }
            Some(value)
        }
    }
}

fn source(media: &Media) -> Value {
    json!({"type": "base64", "media_type": media.media_type, "data": media.data})
}

/// Decoder state: the open content blocks, by the vendor's index.
#[derive(Debug, Default)]
pub(super) struct State {
    open: HashMap<u64, Open>,
}

#[derive(Debug)]
enum Open {
    Thinking { signature: String },
    Call { number: usize },
    Other { part: Value, input: String },
}

impl State {
    pub(super) fn event(
        &mut self,
        event: &SseEvent,
        answer: &mut Answer,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let message: Event<'_> = read(event)?;
        match message.kind.as_ref() {
            "message_start" => {
                let start = message.message.unwrap_or_default();
                start.usage.unwrap_or_default().update(&mut answer.usage);
                // the input is charged, however the answer ends
                answer.report_usage(out);
            }
            "content_block_start" => {
                if let Some(block) = &message.content_block
                    && !self.start(message.index, block, answer, out)
                {
                    self.start_other(message.index, event);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = &message.delta {
                    self.delta(message.index, delta, answer, out);
                }
            }
            "content_block_stop" => match self.open.remove(&message.index) {
                Some(Open::Thinking { signature }) => {
                    let proof = (!signature.is_empty()).then_some(Proof::Signature { signature });
                    answer.end_thinking(proof, out);
                }
                Some(Open::Other { mut part, input }) => {
                    if let Ok(input @ Value::Object(_)) = serde_json::from_str(&input) {
                        part["input"] = input;
                    }
                    answer.other(part, out);
                }
                Some(Open::Call { .. }) | None => {}
            },
            "message_delta" => {
                message.usage.unwrap_or_default().update(&mut answer.usage);
                let Some(delta) = message.delta else { return Ok(()) };
                if let Some(StopDetails { category, explanation }) = delta.stop_details
                    && let Some(why) = explanation.or(category)
                {
                    out.push(ModelEvent::Refusal(why));
                }
                if let Some(reason) = delta.stop_reason {
                    answer.finish(finish(&reason));
                }
            }
            "message_stop" => return answer.complete(out),
            "error" => return Err(failure(event)),
            _ => {}
        }
        Ok(())
    }

    /// Starts a block. Returns whether its kind is known.
    fn start(
        &mut self,
        index: u64,
        block: &Start<'_>,
        answer: &mut Answer,
        out: &mut Vec<ModelEvent>,
    ) -> bool {
        match block.kind.as_ref() {
            "text" => {
                answer.start_text();
                answer.text(&block.text, out);
            }
            "thinking" => {
                answer.thinking(&block.thinking, out);
                self.open.insert(index, Open::Thinking { signature: block.signature.to_string() });
            }
            "redacted_thinking" => {
                answer.end_thinking(None, out);
                answer.end_thinking(Some(Proof::Redacted { data: block.data.to_string() }), out);
            }
            "tool_use" => {
                let number = answer.start_call(&block.id, &block.name, out);
                // some gateways send the whole input at once
                if let Some(input) = block.input.as_ref().filter(|input| !input.is_empty()) {
                    answer.arguments(number, &Value::Object(input.clone()).to_string(), out);
                }
                self.open.insert(index, Open::Call { number });
            }
            _ => return false,
        }
        true
    }

    fn start_other(&mut self, index: u64, event: &SseEvent) {
        let part = serde_json::from_str(&event.data).ok().and_then(|mut event: Value| {
            event.get_mut("content_block").map(Value::take).filter(|part| part["type"].is_string())
        });
        if let Some(part) = part {
            self.open.insert(index, Open::Other { part, input: String::new() });
        }
    }

    fn delta(&mut self, index: u64, delta: &Delta<'_>, answer: &mut Answer, out: &mut Vec<ModelEvent>) {
        match (delta.kind.as_ref(), self.open.get_mut(&index)) {
            ("text_delta", _) => answer.text(&delta.text, out),
            ("thinking_delta", _) => answer.thinking(&delta.thinking, out),
            ("signature_delta", Some(Open::Thinking { signature })) => signature.push_str(&delta.signature),
            ("input_json_delta", Some(Open::Call { number })) => {
                answer.arguments(*number, &delta.partial_json, out);
            }
            ("input_json_delta", Some(Open::Other { input, .. })) => input.push_str(&delta.partial_json),
            _ => {}
        }
    }
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" => FinishReason::Length,
        "model_context_window_exceeded" => FinishReason::ContextWindow,
        "pause_turn" => FinishReason::Paused,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.to_owned()),
    }
}

fn failure(event: &SseEvent) -> ModelError {
    let value: Value = serde_json::from_str(&event.data).unwrap_or_default();
    reported(0, &value).unwrap_or_else(|| {
        let start: String = event.data.chars().take(300).collect();
        ModelError::new(ErrorClass::Server, format!("the vendor reported an error: {start}"))
    })
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    content_block: Option<Start<'a>>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    message: Option<MessageStart>,
    usage: Option<Counts>,
}

#[derive(Deserialize, Default)]
struct MessageStart {
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Cow<'a, str>,
    #[serde(borrow, default)]
    thinking: Cow<'a, str>,
    #[serde(borrow, default)]
    signature: Cow<'a, str>,
    #[serde(borrow, default)]
    data: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    input: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, rename = "type", default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Cow<'a, str>,
    #[serde(borrow, default)]
    thinking: Cow<'a, str>,
    #[serde(borrow, default)]
    signature: Cow<'a, str>,
    #[serde(borrow, default)]
    partial_json: Cow<'a, str>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    stop_details: Option<StopDetails>,
}

/// Why the model refused.
#[derive(Deserialize)]
struct StopDetails {
    category: Option<String>,
    explanation: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<CacheCreation>,
    output_tokens_details: Option<OutputDetails>,
}

/// The tokens written to the cache, by the time they stay there.
#[derive(Deserialize)]
struct CacheCreation {
    ephemeral_1h_input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OutputDetails {
    thinking_tokens: Option<u64>,
}

impl Counts {
    /// Updates `usage`. Counts are cumulative: later values replace earlier ones.
    fn update(&self, usage: &mut Usage) {
        let thinking = self.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens);
        let long = self.cache_creation.as_ref().and_then(|creation| creation.ephemeral_1h_input_tokens);
        for (value, count) in [
            (self.input_tokens, &mut usage.input),
            (self.output_tokens, &mut usage.output),
            (self.cache_read_input_tokens, &mut usage.cache_read),
            (self.cache_creation_input_tokens, &mut usage.cache_write),
            (long, &mut usage.cache_write_long),
            (thinking, &mut usage.thinking),
        ] {
            *count = value.unwrap_or(*count);
        }
    }
}
