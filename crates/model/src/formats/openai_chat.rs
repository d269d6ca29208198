//! `OpenAI` chat completions, and the compatible APIs of other vendors.
//!
//! Compatible APIs differ where the original specifies nothing: reasoning comes in `reasoning_content`, `reasoning`,
//! `reasoning_details` or as parts of the content; tool calls may have no index, or all the same one. All are supported.
//!
//! Reasoning is sent back to the model that made it in the field it came in, if that is `reasoning_content` or
//! `reasoning_details`. Signatures of Google's models go back to the call or text they came with.

mod chunk;
mod details;

use musher_http::SseEvent;
use serde_json::{Value, json};

use super::answer::Answer;
use super::{FormatOptions, openai_tools, read, reported};
use crate::{
    Block, Effort, ErrorClass, FinishReason, Label, Message, ModelError, ModelEvent, Proof, Reasoning,
    Request, Role, Thinking, ToolUse,
};

use chunk::{CallDelta, Chunk, Delta, ExtraContent};
use details::Details;

/// The tags around thoughts in the content of Google's models.
const THOUGHT_START: &str = "<thought>";
const THOUGHT_END: &str = "</thought>";

/// What Google accepts in place of the signature of a call that another model has made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(request: &Request, messages: &[Message], options: &FormatOptions) -> Value {
    let mut list = Vec::new();
    if !request.system.is_empty() {
        list.push(json!({"role": "system", "content": request.system.join("\n\n")}));
    }
    for message in messages {
        match message.role {
            Role::Assistant => list.extend(assistant(&message.content, &request.model, options)),
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
    if let Some(effort) = request.effort {
        reason(&mut body, effort, options.reasoning.unwrap_or(Reasoning::Openai), &request.model);
    }
    if let Some(verbosity) = options.verbosity {
        body["verbosity"] = json!(verbosity.name());
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

/// Adds the fields that ask for reasoning.
fn reason(body: &mut Value, effort: Effort, reasoning: Reasoning, model: &str) {
    match reasoning {
        Reasoning::Openai => body["reasoning_effort"] = json!(effort.name()),
        Reasoning::Openrouter => body["reasoning"] = json!({"effort": effort.name()}),
        Reasoning::Deepseek if effort == Effort::Off => body["thinking"] = json!({"type": "disabled"}),
        Reasoning::Deepseek => {
            body["thinking"] = json!({"type": "enabled"});
            body["reasoning_effort"] = json!(effort.name());
        }
        // an effort and `thinking_config` exclude each other, and only the latter has the thoughts sent
        Reasoning::Gemini => {
            let config = if requires_signature(model) {
                json!({"thinking_level": effort.name(), "include_thoughts": true})
            } else {
                json!({"thinking_budget": budget(effort), "include_thoughts": effort != Effort::Off})
            };
            body["extra_body"] = json!({"google": {"thinking_config": config}});
        }
        Reasoning::AnthropicAdaptive | Reasoning::AnthropicBudget | Reasoning::None => {}
    }
}

/// Returns the budget of Gemini 2.5 for an effort, as Google's compatible API maps them ("`OpenAI` compatibility", November 2026).
fn budget(effort: Effort) -> u64 {
    match effort {
        Effort::Off => 0,
        Effort::Minimal | Effort::Low => 1024,
        Effort::Medium => 8192,
        Effort::High | Effort::XHigh | Effort::Max => 24_576,
    }
}

/// Returns a message of the model, or `None` if it has neither text nor calls: vendors reject such a message.
fn assistant(content: &[Block], model: &str, options: &FormatOptions) -> Option<Value> {
    let (mut texts, mut thoughts, mut calls, mut details) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut signature = None;
    for block in content {
        match block {
            Block::Text { text } => texts.push(text.as_str()),
            Block::Thinking(Thinking { text, proof }) => match proof {
                Some(Proof::Details { details: parts }) => details.extend(parts),
                // a vendor that requires reasoning back gets that of other models, too
                Some(Proof::Plain) => thoughts.push(text.as_str()),
                _ if options.replay_reasoning && !text.is_empty() => thoughts.push(text.as_str()),
                _ => {}
            },
            Block::ToolUse(call) => calls.push(call),
            Block::Label { label: Label::ThoughtSignature, value } => signature = Some(value.as_str()),
            _ => {}
        }
    }
    if texts.is_empty() && calls.is_empty() {
        return None;
    }
    let text = if texts.is_empty() { Value::Null } else { json!(texts.join("\n")) };
    let mut message = json!({"role": "assistant", "content": text});
    if let Some(signature) = signature {
        message["extra_content"] = google(signature);
    }
    // Moonshot and DeepSeek reject a call without the field, even if nothing was thought
    if !thoughts.is_empty() || options.replay_reasoning && !calls.is_empty() {
        message["reasoning_content"] = json!(thoughts.join("\n"));
    }
    if !details.is_empty() {
        message["reasoning_details"] = json!(details);
    }
    if !calls.is_empty() {
        message["tool_calls"] = tool_calls(&calls, model);
    }
    Some(message)
}

fn tool_calls(calls: &[&ToolUse], model: &str) -> Value {
    let is_unsigned = calls.iter().all(|call| call.signature.is_none());
    let call = |(index, call): (usize, &&ToolUse)| {
        let arguments = Value::Object(call.input.clone()).to_string();
        let function = json!({"name": call.name, "arguments": arguments});
        let mut value = json!({"id": call.id, "type": "function", "function": function});
        let placeholder = (index == 0 && is_unsigned && requires_signature(model)).then_some(NO_SIGNATURE);
        if let Some(signature) = call.signature.as_deref().or(placeholder) {
            value["extra_content"] = google(signature);
        }
        value
    };
    calls.iter().enumerate().map(call).collect()
}

fn google(signature: &str) -> Value {
    json!({"google": {"thought_signature": signature}})
}

/// Returns whether a model is Gemini 3 or later: it rejects the first call of an answer without a signature, and has thinking levels.
fn requires_signature(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    if name.starts_with("gemini-") && name.ends_with("-latest") {
        return true;
    }
    let version = name.strip_prefix("gemini-").and_then(|rest| rest.split(['.', '-']).next());
    version.and_then(|version| version.parse::<u32>().ok()).is_some_and(|version| version >= 3)
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

/// Decoder state: which of the vendor's calls is which of the answer's, and how reasoning has to be sent back.
#[derive(Debug, Default)]
pub(super) struct State {
    calls: Vec<Known>,
    details: Details,
    /// Whether reasoning came in `reasoning_content`.
    has_field: bool,
    has_refused: bool,
    /// Whether the last piece of content was a thought.
    is_in_thought: bool,
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
        if let Some(usage) = choice.usage {
            answer.usage = usage.counts();
        }
        if let Some(delta) = choice.delta {
            self.delta(&delta, answer, out);
        }
        if let Some(reason) = choice.finish_reason {
            self.end_thinking(answer, out);
            match finish(&reason)? {
                FinishReason::Stop if self.has_refused => answer.finish(FinishReason::ContentFilter),
                reason => answer.finish(reason),
            }
        }
        Ok(())
    }

    fn delta(&mut self, delta: &Delta<'_>, answer: &mut Answer, out: &mut Vec<ModelEvent>) {
        self.has_field |= delta.reasoning_content.as_ref().is_some_and(|thought| !thought.is_empty());
        let thoughts = [&delta.reasoning_content, &delta.reasoning, &delta.content.thinking];
        let thought = thoughts.into_iter().flatten().find(|thought| !thought.is_empty());
        if let Some(thought) = thought {
            answer.thinking(thought, out);
        }
        for detail in delta.reasoning_details.iter().flatten() {
            if thought.is_none() {
                answer.thinking(details::text(detail), out);
            }
            self.details.add(detail);
        }
        if let Some(signature) = delta.extra_content.as_ref().and_then(|extra| extra.thought_signature()) {
            let value = signature.to_owned();
            out.push(ModelEvent::Label { label: Label::ThoughtSignature, value });
        }
        self.has_refused |= delta.refusal.as_ref().is_some_and(|refusal| !refusal.is_empty());
        let is_thought = delta.extra_content.as_ref().is_some_and(ExtraContent::is_thought);
        let content = delta.content.text.as_deref().unwrap_or_default();
        let content = self.said(content, is_thought, answer, out);
        for text in [content, delta.refusal.as_deref().unwrap_or_default()] {
            if !text.is_empty() {
                self.end_thinking(answer, out);
                answer.text(text, out);
            }
        }
        for call in delta.tool_calls.iter().flatten() {
            self.end_thinking(answer, out);
            self.call(call, answer, out);
        }
    }

    /// Reports the thoughts in a piece of content, and returns the rest. Google marks pieces with thoughts, and puts a tag before the
    /// first and behind the last thought (recorded answers of the compatible API, 2026).
    fn said<'a>(
        &mut self,
        content: &'a str,
        is_thought: bool,
        answer: &mut Answer,
        out: &mut Vec<ModelEvent>,
    ) -> &'a str {
        if !is_thought && !self.is_in_thought {
            return content;
        }
        let content = content.strip_prefix(THOUGHT_START).unwrap_or(content);
        let (thought, rest, is_over) = match content.split_once(THOUGHT_END) {
            Some((thought, rest)) => (thought, rest, true),
            None if is_thought => (content, "", false),
            None => ("", content, true),
        };
        self.is_in_thought = !is_over;
        if !thought.is_empty() {
            answer.thinking(thought, out);
        }
        rest
    }

    /// Ends a reasoning block, if one is open or if there are parts without text, with what is needed to send it back.
    fn end_thinking(&mut self, answer: &mut Answer, out: &mut Vec<ModelEvent>) {
        let proof = match self.details.take() {
            Some(details) => Some(Proof::Details { details }),
            None if answer.is_thinking() => self.has_field.then_some(Proof::Plain),
            None => return,
        };
        answer.end_thinking(proof, out);
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
        if let Some(signature) = delta.extra_content.as_ref().and_then(|extra| extra.thought_signature()) {
            out.push(ModelEvent::ToolSignature { index: number, signature: signature.to_owned() });
        }
    }
}

/// Returns the reason, or the error that some vendors report as one.
fn finish(reason: &str) -> Result<FinishReason, ModelError> {
    Ok(match reason {
        "stop" | "eos" | "end_turn" => FinishReason::Stop,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "tool_calls" | "function_call" | "tool_use" => FinishReason::ToolCalls,
        "content_filter" | "safety" | "sensitive" | "refusal" => FinishReason::ContentFilter,
        "model_context_window_exceeded" => FinishReason::ContextWindow,
        // Z.ai and DeepSeek
        "network_error" | "insufficient_system_resource" => {
            let message = format!("the vendor broke off the answer: {reason}");
            return Err(ModelError::new(ErrorClass::Overloaded, message));
        }
        other => FinishReason::Other(other.to_owned()),
    })
}
