//! `OpenAI`'s responses API.
//!
//! Nothing is stored: `previous_response_id` is ignored, and a conversation consists of its `input`.

use serde_json::{Value, json};

use super::{end_of, json as read, openai_error};
use crate::answer::{Answer, Block, Event, Fault};
use crate::call::History;
use crate::plan::SseStream;
use crate::script::{Finish, HttpError, Usage};
use crate::{Api, Call};

pub(super) fn read(body: &Value) -> Result<Call, String> {
    let model = read::model(body)?;
    let mut history = History::default();
    history.system(read::text(body, "instructions"));
    match body.get("input") {
        Some(Value::String(text)) => history.user(text),
        Some(Value::Array(items)) => items.iter().for_each(|item| read_item(item, &mut history)),
        _ => return Err("input: a text or a list of items is required".to_owned()),
    }
    let mut call = history.into_call(Api::OpenaiResponses, model);
    call.tools = read::list(body, "tools").iter().filter_map(tool_name).collect();
    call.stream = read::is_true(body, "stream");
    call.include_usage = true;
    let included = read::list(body, "include");
    call.encrypted_reasoning = included.iter().any(|name| name == "reasoning.encrypted_content");
    Ok(call)
}

fn read_item(item: &Value, history: &mut History) {
    let kind = read::text(item, "type");
    let id = read::text(item, "call_id");
    match (kind, read::text(item, "role")) {
        ("message" | "", "system" | "developer") => history.system(&read::joined(item.get("content"))),
        ("message" | "", "user") => {
            for text in read::texts(item.get("content")) {
                history.user(text);
            }
        }
        ("message" | "", "assistant") => history.model(&read::joined(item.get("content"))),
        ("reasoning", _) => history.model(&read::joined(item.get("summary"))),
        ("function_call", _) => {
            history.tool_call(id, read::text(item, "name"), read::text(item, "arguments"));
        }
        ("custom_tool_call", _) => history.tool_call(id, read::text(item, "name"), read::text(item, "input")),
        (kind, _) if kind.ends_with("_call_output") => {
            history.tool_result(id, read::joined(item.get("output")));
        }
        (kind, _) if kind.ends_with("_call") => history.tool_call(id, kind, ""),
        _ => {}
    }
}

/// Functions have a name; the vendor's own tools are identified by their type.
fn tool_name(tool: &Value) -> Option<String> {
    Some(tool.get("name").or_else(|| tool.get("type"))?.as_str()?.to_owned())
}

pub(super) fn stream(call: &Call, answer: &Answer, now: u64) -> SseStream {
    let mut writer =
        Writer { call, answer, stream: SseStream::new(), number: 0, open: None, output: Vec::new() };
    // An error event belongs to a response that was created; a hang or a cut may come before it.
    let is_silent = matches!(answer.fault_at_once(), Some(Fault::Cut(_) | Fault::Hang(_)));
    let preamble = if is_silent { &[][..] } else { &["response.created", "response.in_progress"] };
    for name in preamble {
        let response = response(call, answer, now, "in_progress", &[]);
        writer.event(name, json!({"response": response}));
    }
    for timed in &answer.events {
        writer.stream.wait(timed.after);
        match &timed.event {
            Event::Text(piece) => writer.piece(Block::Text(String::new()), piece),
            Event::Thinking(piece) => writer.piece(Block::Thinking(String::new()), piece),
            Event::ToolCall { id, name } => {
                let arguments = String::new();
                writer.open(Block::ToolCall { id: id.clone(), name: name.clone(), arguments });
            }
            Event::Arguments(piece) => writer.delta(piece),
            Event::BlockEnd => writer.close(),
            Event::Usage(_) => {}
            Event::Finish(finish) => {
                let (status, _) = status(*finish);
                let response = response(call, answer, now, status, &writer.output);
                writer.event(&format!("response.{status}"), json!({"response": response}));
            }
            Event::Fault(fault) => {
                if let Fault::InStream(error) = fault {
                    writer.fail(error, now);
                }
                writer.stream.end(end_of(fault));
            }
        }
    }
    writer.stream
}

struct Writer<'a> {
    call: &'a Call,
    answer: &'a Answer,
    stream: SseStream,
    number: u64,
    open: Option<Block>,
    output: Vec<Value>,
}

impl Writer<'_> {
    fn event(&mut self, name: &str, mut data: Value) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.number);
        self.number += 1;
        self.stream.event(name, &data);
    }

    /// Sends an event about the open item, which is the last of the output.
    fn item_event(&mut self, name: &str, block: &Block, mut data: Value) {
        data["output_index"] = json!(self.output.len());
        data["item_id"] = json!(item_id(self.answer, self.output.len(), block));
        self.event(name, data);
    }

    fn piece(&mut self, block: Block, piece: &str) {
        if self.open.is_none() {
            self.open(block);
        }
        self.delta(piece);
    }

    fn open(&mut self, block: Block) {
        let item = item(self.call, self.answer, self.output.len(), &block, "in_progress");
        self.event("response.output_item.added", json!({"output_index": self.output.len(), "item": item}));
        match &block {
            Block::Text(text) => {
                let data = json!({"content_index": 0, "part": text_part(text)});
                self.item_event("response.content_part.added", &block, data);
            }
            Block::Thinking(text) => {
                let data = json!({"summary_index": 0, "part": summary_part(text)});
                self.item_event("response.reasoning_summary_part.added", &block, data);
            }
            Block::ToolCall { .. } => {}
        }
        self.open = Some(block);
    }

    fn delta(&mut self, piece: &str) {
        let Some(mut block) = self.open.take() else {
            return;
        };
        let (name, data) = match &mut block {
            Block::Text(text) => {
                text.push_str(piece);
                ("response.output_text.delta", json!({"content_index": 0, "delta": piece, "logprobs": []}))
            }
            Block::Thinking(text) => {
                text.push_str(piece);
                ("response.reasoning_summary_text.delta", json!({"summary_index": 0, "delta": piece}))
            }
            Block::ToolCall { arguments, .. } => {
                arguments.push_str(piece);
                ("response.function_call_arguments.delta", json!({"delta": piece}))
            }
        };
        self.item_event(name, &block, data);
        self.open = Some(block);
    }

    fn close(&mut self) {
        let Some(block) = self.open.take() else {
            return;
        };
        match &block {
            Block::Text(text) => {
                let done = json!({"content_index": 0, "text": text, "logprobs": []});
                self.item_event("response.output_text.done", &block, done);
                let part = json!({"content_index": 0, "part": text_part(text)});
                self.item_event("response.content_part.done", &block, part);
            }
            Block::Thinking(text) => {
                let done = json!({"summary_index": 0, "text": text});
                self.item_event("response.reasoning_summary_text.done", &block, done);
                let part = json!({"summary_index": 0, "part": summary_part(text)});
                self.item_event("response.reasoning_summary_part.done", &block, part);
            }
            Block::ToolCall { name, arguments, .. } => {
                let done = json!({"name": name, "arguments": arguments});
                self.item_event("response.function_call_arguments.done", &block, done);
            }
        }
        let status = item_status(self.answer, self.output.len());
        let item = item(self.call, self.answer, self.output.len(), &block, status);
        self.event("response.output_item.done", json!({"output_index": self.output.len(), "item": item}));
        self.output.push(item);
    }

    /// The API sends both: the error, then the response that failed with it.
    fn fail(&mut self, error: &HttpError, now: u64) {
        let (code, message) = openai_error::code_and_message(error);
        self.event("error", json!({"code": code, "message": message, "param": null}));
        let mut response = response(self.call, self.answer, now, "failed", &self.output);
        response["error"] = json!({"code": code, "message": message});
        self.event("response.failed", json!({"response": response}));
    }
}

pub(super) fn whole(call: &Call, answer: &Answer, now: u64) -> Value {
    let blocks = answer.blocks();
    let item = |(index, block)| item(call, answer, index, block, item_status(answer, index));
    let output: Vec<Value> = blocks.iter().enumerate().map(item).collect();
    let (status, _) = status(answer.finish().unwrap_or(Finish::Stop));
    response(call, answer, now, status, &output)
}

fn item_id(answer: &Answer, index: usize, block: &Block) -> String {
    let prefix = match block {
        Block::Text(_) => "msg",
        Block::Thinking(_) => "rs",
        Block::ToolCall { .. } => "fc",
    };
    format!("{prefix}_rehearsal_{:06}_{index}", answer.number)
}

fn item(call: &Call, answer: &Answer, index: usize, block: &Block, status: &str) -> Value {
    let id = item_id(answer, index, block);
    let is_done = status != "in_progress";
    match block {
        Block::Text(text) => {
            let content = if is_done { json!([text_part(text)]) } else { json!([]) };
            json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": content})
        }
        Block::Thinking(text) => {
            let summary = if is_done { json!([summary_part(text)]) } else { json!([]) };
            let mut item = json!({"id": id, "type": "reasoning", "summary": summary});
            if call.encrypted_reasoning {
                item["encrypted_content"] =
                    json!(format!("rehearsal-encrypted-{:06}-{index}", answer.number));
            }
            item
        }
        Block::ToolCall { id: call_id, name, arguments } => json!({
            "id": id, "type": "function_call", "status": status,
            "call_id": call_id, "name": name, "arguments": arguments
        }),
    }
}

fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn summary_part(text: &str) -> Value {
    json!({"type": "summary_text", "text": text})
}

/// Marks the last item of an answer that broke off as incomplete, like the answer.
fn item_status(answer: &Answer, index: usize) -> &'static str {
    let is_last = index + 1 == answer.blocks().len();
    match answer.finish() {
        Some(finish) if is_last => status(finish).0,
        _ => "completed",
    }
}

/// Returns the status of the response and, if it is incomplete, the reason.
fn status(finish: Finish) -> (&'static str, Option<&'static str>) {
    match finish {
        Finish::Stop | Finish::ToolCalls => ("completed", None),
        Finish::Length => ("incomplete", Some("max_output_tokens")),
        Finish::ContentFilter => ("incomplete", Some("content_filter")),
    }
}

fn response(call: &Call, answer: &Answer, now: u64, status_name: &str, output: &[Value]) -> Value {
    let is_over = status_name != "in_progress";
    let usage = if is_over { usage(&answer.usage) } else { Value::Null };
    let reason = answer.finish().and_then(|finish| status(finish).1).filter(|_| is_over);
    let incomplete_details = reason.map_or(Value::Null, |reason| json!({"reason": reason}));
    json!({
        "id": format!("resp_rehearsal_{:06}", answer.number),
        "object": "response",
        "created_at": now,
        "status": status_name,
        "background": false,
        "error": null,
        "incomplete_details": incomplete_details,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": call.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": {"effort": null, "summary": null},
        "service_tier": "default",
        "store": false,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage,
        "user": null
    })
}

fn usage(usage: &Usage) -> Value {
    let cached = usage.cache_read.unwrap_or_default();
    let written = usage.cache_creation.unwrap_or_default();
    let input = usage.input.unwrap_or_default() + cached + written;
    let output = usage.output.unwrap_or_default();
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning.unwrap_or_default()},
        "total_tokens": input + output
    })
}
