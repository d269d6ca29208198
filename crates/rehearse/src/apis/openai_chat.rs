//! `OpenAI`'s chat completions API, the format that most other vendors imitate.
//!
//! Thinking is sent as `reasoning_content`, a field that `OpenAI` does not have, but the imitators share.

use serde_json::{Map, Value, json};

use super::{end_of, json as read, openai_error};
use crate::answer::{Answer, Block, Event, Fault};
use crate::call::History;
use crate::plan::SseStream;
use crate::script::{Finish, Usage};
use crate::{Api, Call};

pub(super) fn read(body: &Value) -> Result<Call, String> {
    let model = read::model(body)?;
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        return Err("messages: a list of messages is required".to_owned());
    };
    let mut history = History::default();
    for message in messages {
        let content = message.get("content");
        match read::text(message, "role") {
            "system" | "developer" => history.system(&read::joined(content)),
            "user" => read::texts(content).into_iter().for_each(|text| history.user(text)),
            "assistant" => {
                history.model(&read::joined(content));
                for call in read::list(message, "tool_calls") {
                    let function = call.get("function").unwrap_or(&Value::Null);
                    let arguments = read::text(function, "arguments");
                    history.tool_call(read::text(call, "id"), read::text(function, "name"), arguments);
                }
            }
            "tool" => history.tool_result(read::text(message, "tool_call_id"), read::joined(content)),
            _ => {}
        }
    }
    let mut call = history.into_call(Api::OpenaiChat, model);
    call.tools = read::list(body, "tools").iter().filter_map(tool_name).collect();
    call.stream = read::is_true(body, "stream");
    call.include_usage =
        body.get("stream_options").is_some_and(|options| read::is_true(options, "include_usage"));
    Ok(call)
}

fn tool_name(tool: &Value) -> Option<String> {
    let named = tool.get("function").or_else(|| tool.get("custom")).unwrap_or(tool);
    Some(named.get("name")?.as_str()?.to_owned())
}

pub(super) fn stream(call: &Call, answer: &Answer, now: u64) -> SseStream {
    let mut stream = SseStream::new();
    let mut tool_calls = 0_usize;
    let send = |stream: &mut SseStream, delta: Value, finish: Value| {
        let mut chunk = envelope(call, answer, now, "chat.completion.chunk");
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        chunk.insert("choices".to_owned(), json!([choice]));
        if call.include_usage {
            chunk.insert("usage".to_owned(), Value::Null);
        }
        stream.data(&Value::Object(chunk).to_string());
    };
    if answer.fault_at_once().is_none() {
        let delta = json!({"role": "assistant", "content": "", "refusal": null});
        send(&mut stream, delta, Value::Null);
    }
    for timed in &answer.events {
        stream.wait(timed.after);
        match &timed.event {
            Event::Text(piece) => send(&mut stream, json!({"content": piece}), Value::Null),
            Event::Thinking(piece) => send(&mut stream, json!({"reasoning_content": piece}), Value::Null),
            Event::ToolCall { id, name } => {
                let function = json!({"name": name, "arguments": ""});
                let start = json!({"index": tool_calls, "id": id, "type": "function", "function": function});
                tool_calls += 1;
                send(&mut stream, json!({"tool_calls": [start]}), Value::Null);
            }
            Event::Arguments(piece) => {
                let piece = json!({"index": tool_calls - 1, "function": {"arguments": piece}});
                send(&mut stream, json!({"tool_calls": [piece]}), Value::Null);
            }
            Event::BlockEnd | Event::Usage(_) => {}
            Event::Finish(finish) => {
                send(&mut stream, json!({}), json!(finish_reason(*finish)));
                if call.include_usage {
                    let mut chunk = envelope(call, answer, now, "chat.completion.chunk");
                    chunk.insert("choices".to_owned(), json!([]));
                    chunk.insert("usage".to_owned(), usage(&answer.usage));
                    stream.data(&Value::Object(chunk).to_string());
                }
                stream.data("[DONE]");
            }
            Event::Fault(fault) => {
                if let Fault::InStream(error) = fault {
                    stream.data(&openai_error::body(error).to_string());
                }
                stream.end(end_of(fault));
            }
        }
    }
    stream
}

pub(super) fn whole(call: &Call, answer: &Answer, now: u64) -> Value {
    let mut texts = Vec::new();
    let mut thoughts = Vec::new();
    let mut tool_calls = Vec::new();
    for block in answer.blocks() {
        match block {
            Block::Text(text) => texts.push(text),
            Block::Thinking(text) => thoughts.push(text),
            Block::ToolCall { id, name, arguments } => tool_calls.push(
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}),
            ),
        }
    }
    let content = if texts.is_empty() { Value::Null } else { json!(texts.concat()) };
    let mut message = json!({"role": "assistant", "content": content, "refusal": null, "annotations": []});
    if !thoughts.is_empty() {
        message["reasoning_content"] = json!(thoughts.concat());
    }
    if !tool_calls.is_empty() {
        message["tool_calls"] = json!(tool_calls);
    }
    let finish = finish_reason(answer.finish().unwrap_or(Finish::Stop));
    let mut body = envelope(call, answer, now, "chat.completion");
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish});
    body.insert("choices".to_owned(), json!([choice]));
    body.insert("usage".to_owned(), usage(&answer.usage));
    Value::Object(body)
}

fn envelope(call: &Call, answer: &Answer, now: u64, object: &str) -> Map<String, Value> {
    let fields = [
        ("id", json!(format!("chatcmpl-rehearsal-{:06}", answer.number))),
        ("object", json!(object)),
        ("created", json!(now)),
        ("model", json!(call.model)),
        ("service_tier", json!("default")),
        ("system_fingerprint", json!("fp_rehearsal")),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn finish_reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ToolCalls => "tool_calls",
        Finish::ContentFilter => "content_filter",
    }
}

fn usage(usage: &Usage) -> Value {
    let number = Option::unwrap_or_default;
    let cached: u64 = number(usage.cache_read);
    let written = number(usage.cache_creation);
    let input = number(usage.input) + cached + written;
    let output = number(usage.output);
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": number(usage.reasoning),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0
        }
    })
}
