//! `OpenAI` chat completions, and the compatible APIs of other vendors.
//!
//! Compatible APIs differ where the original specifies nothing: reasoning comes in `reasoning_content`, `reasoning`,
//! `reasoning_details` or as parts of the content; tool calls may have no index, or all the same one. All are supported.

mod chunk;

use musher_http::SseEvent;
use serde_json::{Value, json};

use super::answer::Answer;
use super::{FormatOptions, openai_tools, read, reported};
use crate::{Block, ErrorClass, FinishReason, Message, ModelError, ModelEvent, Proof, Request, Role};

use chunk::{CallDelta, Chunk, Delta};

pub(super) fn body(request: &Request, messages: &[Message], options: &FormatOptions) -> Value {
    let mut list = Vec::new();
    if !request.system.is_empty() {
        list.push(json!({"role": "system", "content": request.system.join("\n\n")}));
    }
    for message in messages {
        match message.role {
            Role::Assistant => list.push(assistant(&message.content, options)),
            Role::User => user(&message.content, &mut list),
        }
    }
    let mut body = json!({"model": request.model, "messages": list, "stream": true});
    if !options.no_stream_options {
        body["stream_options"] = json!({"include_usage": true});
    }
    if !request.tools.is_empty() {
        let tool = |tool: &crate::ToolSpec| json!({"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema}});
        body["tools"] = request.tools.iter().map(tool).collect();
        let named = |name: &str| json!({"type": "function", "function": {"name": name}});
        if let Some(choice) = openai_tools::choice(&request.tool_choice, named) {
            body["tool_choice"] = choice;
        }
    }
    if let Some(limit) = request.max_output_tokens {
        let name = if options.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" };
        body[name] = json!(limit);
    }
    if let Some(effort) = request.effort.filter(|_| !options.no_effort) {
        body["reasoning_effort"] = json!(openai_tools::effort(effort));
    }
    if let Some(temperature) = request.temperature {
        body["temperature"] = json!(temperature);
    }
    if !request.stop.is_empty() {
        body["stop"] = json!(request.stop);
    }
    if let Some(output) = &request.output {
        let schema = json!({"name": output.name, "schema": output.schema, "strict": true});
        body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
    }
    body
}

fn assistant(content: &[Block], options: &FormatOptions) -> Value {
    let (mut texts, mut thoughts, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for block in content {
        match block {
            Block::Text { text } => texts.push(text.as_str()),
            Block::Thinking(thinking) if thinking.proof == Some(Proof::Plain) => {
                thoughts.push(thinking.text.as_str());
            }
            Block::ToolUse(call) => {
                let arguments = Value::Object(call.input.clone()).to_string();
                let function = json!({"name": call.name, "arguments": arguments});
                calls.push(json!({"id": call.id, "type": "function", "function": function}));
            }
            _ => {}
        }
    }
    let text = if texts.is_empty() { Value::Null } else { json!(texts.join("\n")) };
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    if options.replay_reasoning && !thoughts.is_empty() {
        message["reasoning_content"] = json!(thoughts.join("\n"));
    }
    message
}

/// Appends results first, each as a message of its own. Results hold text only, so their images follow in a user message.
fn user(content: &[Block], list: &mut Vec<Value>) {
    let (mut shown, mut said) = (Vec::new(), Vec::new());
    for block in content {
        match block {
            Block::ToolResult(result) => {
                list.push(json!({"role": "tool", "tool_call_id": result.id, "content": result.joined()}));
                shown.extend(result.media().filter_map(part));
            }
            other => said.extend(part(other)),
        }
    }
    shown.append(&mut said);
    match shown.as_slice() {
        [] => {}
        [only] if only["type"] == "text" => list.push(json!({"role": "user", "content": only["text"]})),
        _ => list.push(json!({"role": "user", "content": shown})),
    }
}

fn part(block: &Block) -> Option<Value> {
    match block {
        Block::Text { text } => Some(json!({"type": "text", "text": text})),
        Block::Image(media) => Some(json!({"type": "image_url", "image_url": {"url": media.data_url()}})),
        Block::Document(media) => {
            let file = json!({"filename": openai_tools::file_name(media), "file_data": media.data_url()});
            Some(json!({"type": "file", "file": file}))
        }
        _ => None,
    }
}

/// Decoder state: which of the vendor's calls is which of the answer's.
#[derive(Debug, Default)]
pub(super) struct State {
    calls: Vec<Known>,
}

#[derive(Debug)]
struct Known {
    index: Option<u64>,
    id: String,
    number: usize,
}

impl State {
    pub(super) fn event(
        &mut self,
        event: &SseEvent,
        answer: &mut Answer,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let data = event.data.trim();
        if data == "[DONE]" {
            return answer.complete(out);
        }
        if data.is_empty() {
            return Ok(());
        }
        let chunk: Chunk<'_> = read(event)?;
        if let Some(error) = chunk.error {
            let error = json!({ "error": error });
            return Err(reported(0, &error).unwrap_or_else(|| {
                ModelError::new(ErrorClass::Server, format!("the vendor reported an error: {error}"))
            }));
        }
        if let Some(usage) = chunk.usage {
            answer.usage = usage.counts();
        }
        let Some(choice) = chunk.choices.unwrap_or_default().into_iter().next() else { return Ok(()) };
        if let Some(delta) = choice.delta {
            self.delta(&delta, answer, out);
        }
        if let Some(reason) = choice.finish_reason {
            answer.end_thinking_plain(out);
            answer.finish(finish(&reason));
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Delta<'_>, answer: &mut Answer, out: &mut Vec<ModelEvent>) {
        let thoughts = [&delta.reasoning_content, &delta.reasoning, &delta.content.thinking];
        let thought = thoughts.into_iter().flatten().find(|thought| !thought.is_empty());
        match thought {
            Some(thought) => answer.thinking(thought, out),
            None => delta.reasoning_details.iter().flatten().for_each(|detail| {
                answer.thinking(detail.text.as_deref().or(detail.summary.as_deref()).unwrap_or(""), out);
            }),
        }
        for text in [&delta.content.text, &delta.refusal].into_iter().flatten() {
            if !text.is_empty() {
                answer.end_thinking_plain(out);
                answer.text(text, out);
            }
        }
        for call in delta.tool_calls.iter().flatten() {
            answer.end_thinking_plain(out);
            self.call(call, answer, out);
        }
    }

    fn call(&mut self, delta: &CallDelta<'_>, answer: &mut Answer, out: &mut Vec<ModelEvent>) {
        let id = delta.id.as_deref().unwrap_or_default();
        let name = delta.function.as_ref().and_then(|function| function.name.as_deref()).unwrap_or_default();
        let known = self.calls.iter().rev().find(|known| match delta.index {
            Some(index) => known.index == Some(index),
            None => id.is_empty() || known.id == id,
        });
        // some vendors use one index for all calls, and some repeat id and name in every fragment
        let is_new = known.is_none_or(|known| !id.is_empty() && known.id != id && !name.is_empty());
        let number = match known {
            Some(known) if !is_new => known.number,
            _ if name.is_empty() => return,
            _ => {
                let number = answer.start_call(id, name, out);
                self.calls.push(Known { index: delta.index, id: id.to_owned(), number });
                number
            }
        };
        if let Some(piece) = delta.function.as_ref().and_then(|function| function.arguments.as_ref()) {
            answer.arguments(number, &piece.0, out);
        }
    }
}

impl Answer {
    /// Ends a reasoning block without proof and marks it as plain, so that it can be sent back to vendors that require it.
    fn end_thinking_plain(&mut self, out: &mut Vec<ModelEvent>) {
        if self.is_thinking() {
            self.end_thinking(Some(Proof::Plain), out);
        }
    }
}

fn finish(reason: &str) -> FinishReason {
    match reason {
        "stop" | "eos" | "end_turn" => FinishReason::Stop,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.to_owned()),
    }
}
