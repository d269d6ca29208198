//! Tests of the decoders with unusual streams. `tests/it` compares complete bodies and streams.

use super::*;
use crate::{Arguments, Effort, FinishReason, Message, Proof, Thinking, ToolCall, ToolSpec, Usage};

fn decode(format: Format, data: &[Value]) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut decoder = format.decoder();
    let mut out = Vec::new();
    for value in data {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let event = SseEvent { data: text, ..SseEvent::default() };
        if let Err(error) = decoder.event(&event, &mut out) {
            return (out, Err(error));
        }
    }
    let ended = decoder.end(&mut out);
    (out, ended)
}

fn chat(deltas: Vec<Value>, finish: &str) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut chunks: Vec<Value> =
        deltas.into_iter().map(|delta| serde_json::json!({"choices": [{"delta": delta}]})).collect();
    chunks.push(serde_json::json!({"choices": [{"delta": {}, "finish_reason": finish}]}));
    chunks.push(serde_json::json!("[DONE]"));
    decode(Format::OpenaiChat, &chunks)
}

fn calls(events: &[ModelEvent]) -> Vec<ToolCall> {
    let call = |event: &ModelEvent| match event {
        ModelEvent::ToolCall(call) => Some(call.clone()),
        _ => None,
    };
    events.iter().filter_map(call).collect()
}

fn texts(events: &[ModelEvent]) -> String {
    let text = |event: &ModelEvent| match event {
        ModelEvent::TextDelta(text) => Some(text.clone()),
        ModelEvent::ThinkingDelta(text) => Some(format!("({text})")),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

fn delta(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
    let mut call = serde_json::json!({"function": {"arguments": arguments}});
    if let Some(index) = index {
        call["index"] = index.into();
    }
    if let Some(id) = id {
        call["id"] = id.into();
    }
    if let Some(name) = name {
        call["function"]["name"] = name.into();
    }
    serde_json::json!({"tool_calls": [call]})
}

fn summary(events: &[ModelEvent]) -> Vec<String> {
    let text = |arguments: &Arguments| match arguments {
        Arguments::Object(map) => Value::Object(map.clone()).to_string(),
        Arguments::Malformed { text, .. } => format!("malformed {text}"),
    };
    calls(events).iter().map(|call| format!("{} {} {}", call.id, call.name, text(&call.arguments))).collect()
}

#[test]
fn calls_are_distinguished_for_every_numbering_of_vendors() {
    let both = ["a Read {\"p\":1}", "b LS {}"];
    let by_index = vec![
        delta(Some(0), Some("a"), Some("Read"), "{\"p\""),
        delta(Some(1), Some("b"), Some("LS"), ""),
        delta(Some(0), None, None, ":1}"),
    ];
    let same_index = vec![
        delta(Some(0), Some("a"), Some("Read"), "{\"p\":1}"),
        delta(Some(0), Some("b"), Some("LS"), "{}"),
    ];
    let no_index = vec![
        delta(None, Some("a"), Some("Read"), "{\"p\""),
        delta(None, None, None, ":1}"),
        delta(None, Some("b"), Some("LS"), "{}"),
    ];
    let repeated = vec![
        delta(Some(0), Some("a"), Some("Read"), "{\"p\""),
        delta(Some(0), Some("a"), Some("Read"), ":1}"),
        delta(Some(1), Some("b"), Some("LS"), "{}"),
    ];
    for deltas in [by_index, same_index, no_index, repeated] {
        let (events, ended) = chat(deltas.clone(), "tool_calls");
        assert_eq!(ended, Ok(()));
        assert_eq!(summary(&events), both, "{deltas:?}");
    }
}

#[test]
fn duplicate_id_is_made_unique_and_a_missing_one_generated() {
    let deltas = vec![
        delta(Some(0), Some("x"), Some("Read"), "{}"),
        delta(Some(1), Some("x"), Some("Read"), "{}"),
        delta(Some(2), None, Some("Read"), "{}"),
    ];
    let (events, _) = chat(deltas, "tool_calls");
    assert_eq!(summary(&events), ["x Read {}", "x_2 Read {}", "call_2 Read {}"]);
}

#[test]
fn malformed_arguments_are_reported_and_not_repaired() {
    for text in ["{\"a\":", "[1]", "{\"a\":1}}", "nonsense"] {
        let (events, ended) = chat(vec![delta(Some(0), Some("x"), Some("T"), text)], "tool_calls");
        assert_eq!(ended, Ok(()));
        assert_eq!(summary(&events), [format!("x T malformed {text}")]);
    }
}

#[test]
fn call_truncated_by_the_limit_is_malformed_even_without_arguments() {
    let (events, _) = chat(vec![delta(Some(0), Some("x"), Some("T"), "")], "length");
    assert_eq!(summary(&events), ["x T malformed "]);
    let (events, _) = chat(vec![delta(Some(0), Some("x"), Some("T"), "")], "tool_calls");
    assert_eq!(summary(&events), ["x T {}"]);
}

#[test]
fn reasoning_is_read_from_every_field_that_vendors_use() {
    let detail = serde_json::json!({"type": "reasoning.summary", "summary": "hm"});
    let ways = [
        (serde_json::json!({"reasoning_content": "hm"}), Some(Proof::Plain)),
        (serde_json::json!({"reasoning": "hm"}), None),
        (
            serde_json::json!({"reasoning": "hm", "reasoning_details": [detail]}),
            Some(Proof::Details { details: vec![detail.clone()] }),
        ),
        (
            serde_json::json!({"reasoning_details": [detail]}),
            Some(Proof::Details { details: vec![detail.clone()] }),
        ),
        (
            serde_json::json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
            None,
        ),
    ];
    for (way, proof) in ways {
        let (events, ended) = chat(vec![way.clone(), serde_json::json!({"content": "yes"})], "stop");
        assert_eq!((texts(&events), ended), ("(hm)yes".to_owned(), Ok(())), "{way}");
        assert_eq!(events[1], ModelEvent::ThinkingEnd(Thinking { text: "hm".to_owned(), proof }));
    }
}

#[test]
fn stop_with_tool_calls_finishes_with_tool_calls() {
    let (events, _) = chat(vec![delta(Some(0), Some("x"), Some("T"), "{}")], "stop");
    assert_eq!(events.last(), Some(&ModelEvent::Finish(FinishReason::ToolCalls)));
}

#[test]
fn empty_answer_is_an_error_unless_its_finish_reason_explains_it() {
    assert_eq!(chat(vec![], "stop").1.unwrap_err().class, ErrorClass::Empty);
    assert_eq!(chat(vec![], "content_filter").1, Ok(()));
    assert_eq!(chat(vec![], "length").1, Ok(()));
}

#[test]
fn without_a_finish_reason_no_call_is_complete() {
    let started = serde_json::json!({"choices": [{"delta": delta(Some(0), Some("x"), Some("T"), "{}")}]});
    for end in [None, Some(serde_json::json!("[DONE]"))] {
        let chunks: Vec<Value> = std::iter::once(started.clone()).chain(end).collect();
        let (events, ended) = decode(Format::OpenaiChat, &chunks);
        assert_eq!(ended.unwrap_err().class, ErrorClass::Cut);
        assert_eq!(calls(&events), []);
    }
}

#[test]
fn finish_reason_ends_the_answer_without_a_done_event() {
    let chunks = [
        serde_json::json!({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}),
        serde_json::json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}),
    ];
    let (events, ended) = decode(Format::OpenaiChat, &chunks);
    assert_eq!(ended, Ok(()));
    assert!(events.contains(&ModelEvent::Usage(Usage { input: 5, output: 2, ..Usage::default() })));
}

#[test]
fn answer_without_the_end_of_its_format_is_truncated() {
    let anthropic = [
        serde_json::json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "x", "name": "T"}}),
        serde_json::json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}}),
        serde_json::json!({"type": "content_block_stop", "index": 0}),
        serde_json::json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
    ];
    let item = serde_json::json!({"type": "function_call", "call_id": "x", "name": "T", "arguments": "{}"});
    let responses =
        [serde_json::json!({"type": "response.output_item.done", "output_index": 0, "item": item})];
    for (format, chunks) in [(Format::Anthropic, &anthropic[..]), (Format::OpenaiResponses, &responses[..])] {
        let (events, ended) = decode(format, chunks);
        assert_eq!(ended.unwrap_err().class, ErrorClass::Cut);
        assert!(!events.is_empty());
        assert_eq!(calls(&events), []);
    }
    let mut whole = anthropic.to_vec();
    whole.push(serde_json::json!({"type": "message_stop"}));
    assert_eq!(summary(&decode(Format::Anthropic, &whole).0), ["x T {}"]);
    let mut whole = responses.to_vec();
    whole.push(serde_json::json!({"type": "response.completed", "response": {}}));
    assert_eq!(summary(&decode(Format::OpenaiResponses, &whole).0), ["x T {}"]);
}

#[test]
fn errors_inside_a_stream_are_classified() {
    let cases = [
        (
            Format::OpenaiChat,
            serde_json::json!({"error": {"message": "slow", "code": 429}}),
            ErrorClass::RateLimit,
        ),
        (Format::OpenaiChat, serde_json::json!({"error": "broken"}), ErrorClass::Server),
        (
            Format::OpenaiResponses,
            serde_json::json!({"type": "response.failed", "response": {"error": {"code": "context_length_exceeded", "message": "long"}}}),
            ErrorClass::ContextLength,
        ),
        (
            Format::Anthropic,
            serde_json::json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            ErrorClass::Overloaded,
        ),
        (Format::Anthropic, serde_json::json!({"type": "error"}), ErrorClass::Server),
    ];
    for (format, event, class) in cases {
        assert_eq!(decode(format, std::slice::from_ref(&event)).1.unwrap_err().class, class, "{event}");
    }
}

#[test]
fn invalid_json_is_reported_with_its_beginning_and_unknown_events_are_ignored() {
    let (_, ended) = decode(Format::Anthropic, &["<html>".into()]);
    let error = ended.unwrap_err();
    assert_eq!(error.class, ErrorClass::Protocol);
    assert!(error.message.ends_with("<html>"), "{error}");
    for format in [Format::OpenaiChat, Format::OpenaiResponses, Format::Anthropic] {
        let (events, ended) = decode(format, &[serde_json::json!({"type": "brand_new", "object": "x"})]);
        assert_eq!((events, ended.unwrap_err().class), (vec![], ErrorClass::Cut));
    }
}

#[test]
fn deep_nesting_is_rejected() {
    let deep = "[".repeat(200_000);
    let text = format!("{{\"type\":\"message_start\",\"x\":{deep}");
    assert_eq!(decode(Format::Anthropic, &[text.into()]).1.unwrap_err().class, ErrorClass::Protocol);
    let (events, _) =
        chat(vec![delta(Some(0), Some("x"), Some("T"), &format!("{{\"a\":{deep}"))], "tool_calls");
    assert!(matches!(calls(&events)[0].arguments, Arguments::Malformed { .. }));
}

#[test]
fn redacted_reasoning_is_preserved_for_its_vendor() {
    let chunks = [
        serde_json::json!({"type": "content_block_start", "index": 0, "content_block": {"type": "redacted_thinking", "data": "secret"}}),
        serde_json::json!({"type": "content_block_stop", "index": 0}),
    ];
    let (events, _) = decode(Format::Anthropic, &chunks);
    let proof = Some(Proof::Redacted { data: "secret".to_owned() });
    assert_eq!(events, [ModelEvent::ThinkingEnd(Thinking { text: String::new(), proof })]);
}

#[test]
fn error_bodies_of_every_form_are_read() {
    let cases = [
        (r#"{"error":{"message":"m","type":"t"}}"#, "m"),
        (r#"[{"error":{"message":"m","code":400}}]"#, "m"),
        (r#"{"error":"m"}"#, "m"),
        (r#"{"message":"m"}"#, "m"),
        ("<h1>Bad gateway</h1>", "the vendor returned status 502: <h1>Bad gateway</h1>"),
        ("", "the vendor returned status 502"),
        ("{}", "the vendor returned status 502: {}"),
    ];
    for (body, message) in cases {
        let error = Format::OpenaiChat.error(502, body);
        assert_eq!((error.message.as_str(), error.class), (message, ErrorClass::Server), "{body}");
    }
}

/// Anthropic, "Interleaved thinking": models before Claude 4.6 need the header, later ones reject or ignore it. Read in November 2026.
#[test]
fn beta_header_is_sent_with_tools_to_models_that_need_it() {
    let options = FormatOptions { interleaves_by_header: true, ..FormatOptions::default() };
    let mut request = Request::new("claude-opus-4-5", vec![Message::user("Hello")]);
    request.effort = Some(Effort::Medium);
    let header = |request: &Request, options: &FormatOptions| {
        Format::beta_header(&Format::Anthropic.body(request, options), options)
    };
    assert_eq!(header(&request, &options), None, "no tools to think between");
    request.tools = vec![ToolSpec {
        name: "T".to_owned(),
        description: "A tool.".to_owned(),
        schema: serde_json::json!({"type": "object"}),
    }];
    assert_eq!(header(&request, &options), Some("interleaved-thinking-2025-05-14"));
    assert_eq!(header(&request, &FormatOptions::default()), None);
    request.effort = Some(Effort::Off);
    assert_eq!(header(&request, &options), None);
}
