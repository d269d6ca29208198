//! Documented exchanges: what vendors send in special cases, and how it is sent back. Each test names its source.
//!
//! An answer is decoded, put together as the engine does, and sent back in the next request.

use musher_http::SseEvent;
use musher_model::{
    Block, FinishReason, Format, FormatOptions, Message, ModelError, ModelEvent, Proof, Request, Role,
    Thinking, ToolResult, ToolUse, Usage,
};
use serde_json::{Map, Value, json};

fn decode(format: Format, data: &[Value]) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut decoder = format.decoder();
    let mut out = Vec::new();
    for value in data {
        let event = SseEvent { data: value.to_string(), ..SseEvent::default() };
        if let Err(error) = decoder.event(&event, &mut out) {
            return (out, Err(error));
        }
    }
    let ended = decoder.end(&mut out);
    (out, ended)
}

/// Puts an answer together, every part at its place.
fn answer(events: &[ModelEvent]) -> Message {
    let mut content: Vec<Block> = Vec::new();
    let mut calls: Vec<usize> = Vec::new();
    let mut starts_text = true;
    for event in events {
        match event {
            ModelEvent::TextBreak => starts_text = true,
            ModelEvent::TextDelta(piece) => match content.last_mut() {
                Some(Block::Text { text }) if !starts_text => text.push_str(piece),
                _ => {
                    starts_text = false;
                    content.push(Block::text(piece.clone()));
                }
            },
            ModelEvent::ThinkingEnd(thinking) => content.push(Block::Thinking(thinking.clone())),
            ModelEvent::Label { label, value } => {
                content.push(Block::Label { label: *label, value: value.clone() });
            }
            ModelEvent::Other(part) => content.push(Block::Other(part.clone())),
            ModelEvent::ToolStart { id, name, .. } => {
                calls.push(content.len());
                content.push(Block::ToolUse(ToolUse::new(id.clone(), name.clone(), Map::new())));
            }
            ModelEvent::ToolSignature { index, signature } => {
                if let Some(Block::ToolUse(call)) = content.get_mut(calls[*index]) {
                    call.signature = Some(signature.clone());
                }
            }
            ModelEvent::ToolCall(call) => {
                if let Some(Block::ToolUse(known)) = content.get_mut(calls[call.index]) {
                    known.input = call.to_use().input;
                }
            }
            _ => {}
        }
    }
    Message { role: Role::Assistant, content }
}

/// The body of the request that follows an answer whose calls were run.
fn next_body(format: Format, model: &str, answer: Message) -> Value {
    next_body_with(format, model, answer, &FormatOptions::default())
}

fn next_body_with(format: Format, model: &str, answer: Message, options: &FormatOptions) -> Value {
    let results: Vec<Block> = answer
        .content
        .iter()
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(Block::ToolResult(ToolResult::text(call.id.clone(), "sunny"))),
            _ => None,
        })
        .collect();
    let next = if results.is_empty() {
        Message::user("And now?")
    } else {
        Message { role: Role::User, content: results }
    };
    format.body(&Request::new(model, vec![Message::user("Hello"), answer, next]), options)
}

fn finish(events: &[ModelEvent]) -> Option<&FinishReason> {
    events.iter().find_map(|event| match event {
        ModelEvent::Finish(reason) => Some(reason),
        _ => None,
    })
}

/// The events of an Anthropic stream with these blocks, each sent as a whole.
fn anthropic(blocks: &[Value], stop: &Value) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 100, "cache_read_input_tokens": 40}}}),
    ];
    for (index, block) in blocks.iter().enumerate() {
        let mut start = block.clone();
        let mut deltas = Vec::new();
        match block["type"].as_str() {
            Some("thinking") => {
                deltas.push(json!({"type": "thinking_delta", "thinking": block["thinking"]}));
                deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
                start = json!({"type": "thinking", "thinking": "", "signature": ""});
            }
            Some("text") => {
                deltas.push(json!({"type": "text_delta", "text": block["text"]}));
                start["text"] = json!("");
            }
            Some("tool_use" | "server_tool_use") => {
                let input = block["input"].to_string();
                deltas.push(json!({"type": "input_json_delta", "partial_json": input}));
                start["input"] = json!({});
            }
            _ => {}
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        let delta = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 50}}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// platform.claude.com, "Extended thinking", "Interleaved thinking", and "Preserved thinking": the complete content goes back in its
/// order, thinking with empty text too. Read November 2026.
#[test]
fn anthropic_answer_goes_back_unchanged_and_in_order() {
    let blocks = [
        json!({"type": "thinking", "thinking": "First.", "signature": "s1"}),
        json!({"type": "redacted_thinking", "data": "encrypted"}),
        json!({"type": "text", "text": "I look."}),
        json!({"type": "text", "text": "Twice."}),
        json!({"type": "tool_use", "id": "t1", "name": "Weather", "input": {"at": "Rome"}}),
        json!({"type": "thinking", "thinking": "", "signature": "s2"}),
        json!({"type": "tool_use", "id": "t2", "name": "Weather", "input": {"at": "Oslo"}}),
    ];
    let (events, ended) = decode(Format::Anthropic, &anthropic(&blocks, &json!({"stop_reason": "tool_use"})));
    assert_eq!((ended, finish(&events)), (Ok(()), Some(&FinishReason::ToolCalls)));
    let body = next_body(Format::Anthropic, "claude-opus-5-5", answer(&events));
    assert_eq!(body["messages"][1]["content"], json!(blocks));
    let usage = Usage { input: 100, output: 50, cache_read: 40, ..Usage::default() };
    assert!(events.contains(&ModelEvent::Usage(usage)));
}

/// anthropics/claude-code: an answer that ends with thinking is rejected in every later request ("blocks in the latest assistant message
/// cannot be modified", stepcodex.com, 2026). An answer of thinking alone would be empty.
#[test]
fn answer_of_thinking_alone_is_not_sent() {
    let thought = |proof| Block::Thinking(Thinking { text: "Hm.".to_owned(), proof: Some(proof) });
    let cases = [
        (Format::Anthropic, "messages", Proof::Signature { signature: "s".to_owned() }),
        (Format::Anthropic, "messages", Proof::Redacted { data: "x".to_owned() }),
        (Format::OpenaiResponses, "input", Proof::Encrypted { id: "rs".to_owned(), content: "x".to_owned() }),
        (Format::OpenaiChat, "messages", Proof::Plain),
        (Format::OpenaiChat, "messages", Proof::Details { details: vec![json!({"type": "reasoning.text"})] }),
    ];
    for (format, list, proof) in cases {
        let message = Message { role: Role::Assistant, content: vec![thought(proof)] };
        let body = next_body(format, "some-model", message);
        let roles: Vec<_> = body[list].as_array().unwrap().iter().map(|item| &item["role"]).collect();
        assert!(roles.iter().all(|role| **role == "user"), "{format:?}: {roles:?}");
    }
}

/// platform.claude.com, "Handling stop reasons" and "Streaming refusals": `stop_details` comes with the stop reason. Read November 2026.
#[test]
fn anthropic_refusal_has_its_explanation() {
    let details = json!({"type": "refusal", "category": "cyber", "explanation": "It could enable harm."});
    let stop = json!({"stop_reason": "refusal", "stop_details": details});
    for blocks in [vec![], vec![json!({"type": "text", "text": "Hello.."})]] {
        let (events, ended) = decode(Format::Anthropic, &anthropic(&blocks, &stop));
        assert_eq!((ended, finish(&events)), (Ok(()), Some(&FinishReason::ContentFilter)));
        assert!(events.contains(&ModelEvent::Refusal("It could enable harm.".to_owned())));
    }
}

/// platform.claude.com, "Handling stop reasons", `pause_turn`: the content goes back as it is, with the calls of the vendor's own tools.
#[test]
fn anthropic_pause_keeps_the_parts_of_server_tools() {
    let blocks = [
        json!({"type": "text", "text": "I search."}),
        json!({"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {"query": "rust"}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "srv1", "content": [{"type": "web_search_result", "url": "https://example.com"}]}),
    ];
    let (events, ended) =
        decode(Format::Anthropic, &anthropic(&blocks, &json!({"stop_reason": "pause_turn"})));
    assert_eq!((ended, finish(&events)), (Ok(()), Some(&FinishReason::Paused)));
    let body = next_body(Format::Anthropic, "claude-opus-5-5", answer(&events));
    assert_eq!(body["messages"][1]["content"], json!(blocks));
}

/// platform.claude.com, "Handling stop reasons", and docs.z.ai, "Chat completion", `finish_reason`. Read November 2026.
#[test]
fn full_context_window_is_not_a_long_answer() {
    let text = [json!({"type": "text", "text": "Hi"})];
    let stop = json!({"stop_reason": "model_context_window_exceeded"});
    let (events, _) = decode(Format::Anthropic, &anthropic(&text, &stop));
    assert_eq!(finish(&events), Some(&FinishReason::ContextWindow));
    let (events, _) = chat(&[json!({"content": "Hi"})], "model_context_window_exceeded");
    assert_eq!(finish(&events), Some(&FinishReason::ContextWindow));
}

/// The stream of a chat completion with these deltas.
fn chat(deltas: &[Value], reason: &str) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut chunks: Vec<Value> =
        deltas.iter().map(|delta| json!({"choices": [{"index": 0, "delta": delta}]})).collect();
    chunks.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    decode(Format::OpenaiChat, &chunks)
}

fn call_delta(index: u64, id: &str) -> Value {
    json!({"index": index, "id": id, "type": "function", "function": {"name": "Weather", "arguments": "{}"}})
}

/// ai.google.dev, "Thought signatures" (the first of parallel calls is signed), and discuss.ai.google.dev 109823 for the field in chat
/// completions. Read November 2026.
#[test]
fn gemini_signatures_go_back_to_their_call() {
    let mut signed = call_delta(0, "c0");
    signed["extra_content"] = json!({"google": {"thought_signature": "sig-A"}});
    let deltas = [json!({"role": "assistant", "tool_calls": [signed, call_delta(1, "c1")]})];
    let (events, ended) = chat(&deltas, "tool_calls");
    assert_eq!(ended, Ok(()));
    let body = next_body(Format::OpenaiChat, "gemini-3.1-pro", answer(&events));
    let calls = &body["messages"][1]["tool_calls"];
    assert_eq!(calls[0]["extra_content"], json!({"google": {"thought_signature": "sig-A"}}));
    assert_eq!(calls[1].get("extra_content"), None, "only the first is signed");
}

/// discuss.ai.google.dev 109823: text comes with a signature, too.
#[test]
fn gemini_signature_of_a_text_goes_back_with_the_message() {
    let deltas = [json!({"content": "Hi", "extra_content": {"google": {"thought_signature": "sig-T"}}})];
    let (events, _) = chat(&deltas, "stop");
    let body = next_body(Format::OpenaiChat, "gemini-3.1-pro", answer(&events));
    assert_eq!(body["messages"][1]["extra_content"], json!({"google": {"thought_signature": "sig-T"}}));
}

/// ai.google.dev, "Thought signatures": `skip_thought_signature_validator` for calls that another model has made; Gemini 3 rejects calls
/// without a signature, earlier ones do not. Used by continuedev/continue #8865 and strands-agents/sdk-python #1298.
#[test]
fn gemini_accepts_calls_of_another_model() {
    let (events, _) =
        chat(&[json!({"tool_calls": [call_delta(0, "c0"), call_delta(1, "c1")]})], "tool_calls");
    for (model, is_marked) in [
        ("gemini-3.1-pro", true),
        ("google/gemini-4-flash", true),
        ("gemini-2.5-pro", false),
        ("gpt-5", false),
    ] {
        let body = next_body(Format::OpenaiChat, model, answer(&events));
        let calls = &body["messages"][1]["tool_calls"];
        let mark = json!({"google": {"thought_signature": "skip_thought_signature_validator"}});
        assert_eq!(calls[0].get("extra_content"), is_marked.then_some(&mark), "{model}");
        assert_eq!(calls[1].get("extra_content"), None, "{model}");
    }
}

/// openrouter.ai, "Reasoning Tokens", "Preserving reasoning": the sequence of parts goes back unmodified. Fragments as recorded in
/// charmbracelet/fantasy, providertests. Read November 2026.
#[test]
fn openrouter_reasoning_details_go_back_whole() {
    let summary = |text: &str| json!({"type": "reasoning.summary", "summary": text, "format": "openai-responses-v1", "index": 0});
    let sealed = json!({"type": "reasoning.encrypted", "data": "gAAA", "id": "rs_1", "format": "openai-responses-v1", "index": 0});
    let deltas = [
        json!({"content": "", "reasoning": "I ", "reasoning_details": [summary("I ")]}),
        json!({"content": "", "reasoning": "add.", "reasoning_details": [summary("add.")]}),
        json!({"content": "", "reasoning": null, "reasoning_details": [sealed]}),
        json!({"tool_calls": [call_delta(0, "c0")]}),
    ];
    let (events, ended) = chat(&deltas, "tool_calls");
    assert_eq!(ended, Ok(()));
    let body = next_body(Format::OpenaiChat, "openai/gpt-5", answer(&events));
    assert_eq!(body["messages"][1]["reasoning_details"], json!([summary("I add."), sealed]));
    assert_eq!(body["messages"][1].get("reasoning_content"), None);
}

/// openrouter.ai, "Reasoning Tokens": Claude's signature comes in a fragment of its own. Read November 2026.
#[test]
fn openrouter_signature_joins_its_text() {
    let text = |text: &str| json!({"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0});
    let signature =
        json!({"type": "reasoning.text", "signature": "sig", "format": "anthropic-claude-v1", "index": 0});
    let deltas = [
        json!({"reasoning_details": [text("Let me ")]}),
        json!({"reasoning_details": [text("see.")]}),
        json!({"reasoning_details": [signature]}),
        json!({"content": "Yes."}),
    ];
    let (events, _) = chat(&deltas, "stop");
    let mut whole = text("Let me see.");
    whole["signature"] = json!("sig");
    let body = next_body(Format::OpenaiChat, "anthropic/claude-sonnet-5.5", answer(&events));
    assert_eq!(body["messages"][1]["reasoning_details"], json!([whole]));
}

/// api-docs.deepseek.com, "Thinking Mode" (tool calls: the field must be passed back, also in later turns), and mastra-ai/mastra #12592
/// for Moonshot. Read November 2026.
#[test]
fn reasoning_content_goes_back_to_any_host_that_sent_it() {
    let deltas = [json!({"reasoning_content": "I call."}), json!({"tool_calls": [call_delta(0, "c0")]})];
    let (events, _) = chat(&deltas, "tool_calls");
    let body = next_body(Format::OpenaiChat, "my-own-deepseek", answer(&events));
    assert_eq!(body["messages"][1]["reasoning_content"], "I call.");
    // a host that uses another field does not know this one
    let (events, _) =
        chat(&[json!({"reasoning": "I call."}), json!({"tool_calls": [call_delta(0, "c0")]})], "tool_calls");
    let body = next_body(Format::OpenaiChat, "llama", answer(&events));
    assert_eq!(body["messages"][1].get("reasoning_content"), None);
}

/// mastra-ai/mastra #12592: "`reasoning_content` is missing in assistant tool call message".
#[test]
fn hosts_that_require_reasoning_get_the_field_with_every_call() {
    let options: FormatOptions = serde_json::from_value(json!({"replayReasoning": true})).unwrap();
    let call = Block::ToolUse(ToolUse::new("c0", "Weather", Map::new()));
    let foreign = Block::Thinking(Thinking { text: "Claude thought.".to_owned(), proof: None });
    for (content, expected) in [(vec![call.clone()], ""), (vec![foreign, call], "Claude thought.")] {
        let message = Message { role: Role::Assistant, content };
        let body = next_body_with(Format::OpenaiChat, "kimi-k2.6", message, &options);
        assert_eq!(body["messages"][1]["reasoning_content"], expected);
    }
}

/// The stream of a response with these items.
fn responses(items: &[Value], last: Value) -> Vec<Value> {
    let mut events = Vec::new();
    for (index, item) in items.iter().enumerate() {
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        if let Some(text) = item["content"][0]["text"].as_str() {
            events.push(json!({"type": "response.output_text.delta", "output_index": index, "delta": text}));
        }
        if let Some(text) = item["content"][0]["refusal"].as_str() {
            events.push(json!({"type": "response.refusal.delta", "output_index": index, "delta": text}));
        }
        if let Some(text) = item["summary"][0]["text"].as_str() {
            let kind = "response.reasoning_summary_text.delta";
            events.push(json!({"type": kind, "output_index": index, "delta": text}));
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    events.push(last);
    events
}

/// platform.openai.com, "Reasoning models", "Keeping reasoning items in context", and the field `phase` of the Responses API reference
/// (preserve and resend it for gpt-5.3-codex and later). Read November 2026.
#[test]
fn openai_items_go_back_in_order_with_their_phase() {
    let items = [
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Plan."}], "encrypted_content": "e1"}),
        json!({"type": "message", "role": "assistant", "phase": "commentary", "content": [{"type": "output_text", "text": "I look."}]}),
        json!({"type": "function_call", "call_id": "c1", "name": "Weather", "arguments": "{}"}),
        json!({"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "e2"}),
        json!({"type": "function_call", "call_id": "c2", "name": "Weather", "arguments": "{}"}),
        json!({"type": "message", "role": "assistant", "phase": "final_answer", "content": [{"type": "output_text", "text": "Done."}]}),
    ];
    let usage = json!({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 64}, "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 8}});
    let last = json!({"type": "response.completed", "response": {"usage": usage}});
    let (events, ended) = decode(Format::OpenaiResponses, &responses(&items, last));
    assert_eq!(ended, Ok(()));
    let body = next_body(Format::OpenaiResponses, "gpt-5.5", answer(&events));
    assert_eq!(body["input"].as_array().unwrap()[1..7], items);
    let usage = Usage { input: 36, output: 20, cache_read: 64, thinking: 8, ..Usage::default() };
    assert!(events.contains(&ModelEvent::Usage(usage)));
}

/// platform.openai.com, Responses API reference, refusal parts; chat completions, `message.refusal`. Read November 2026.
#[test]
fn openai_refusals_are_refusals_in_both_formats() {
    let item = json!({"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I can't help."}]});
    let last = json!({"type": "response.completed", "response": {}});
    let (events, _) = decode(Format::OpenaiResponses, &responses(&[item], last));
    assert_eq!(finish(&events), Some(&FinishReason::ContentFilter));
    let (events, _) = chat(&[json!({"refusal": "I can't help."})], "stop");
    assert_eq!(finish(&events), Some(&FinishReason::ContentFilter));
    let last = json!({"type": "response.incomplete", "response": {"incomplete_details": {"reason": "content_filter"}}});
    let (events, _) = decode(Format::OpenaiResponses, &responses(&[], last));
    assert_eq!(finish(&events), Some(&FinishReason::ContentFilter));
}

/// Mid-stream errors: platform.claude.com, "Streaming messages", "Error events"; platform.openai.com, `response.failed` and `error`;
/// openrouter.ai, "Errors", mid-stream; api-docs.deepseek.com, `insufficient_system_resource`. Read November 2026.
#[test]
fn errors_in_the_middle_of_a_stream_can_be_retried() {
    let claude = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "Sorry"}}});
    let error = json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow down"});
    let router = json!({"id": "gen", "error": {"code": 502, "message": "Provider disconnected"}, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]});
    let deepseek =
        json!({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "insufficient_system_resource"}]});
    for (format, event) in [
        (Format::Anthropic, claude),
        (Format::OpenaiResponses, failed),
        (Format::OpenaiResponses, error),
        (Format::OpenaiChat, router),
        (Format::OpenaiChat, deepseek),
    ] {
        let error = decode(format, std::slice::from_ref(&event)).1.unwrap_err();
        assert!(error.class.is_retryable(), "{event}: {:?}", error.class);
    }
}

/// earendil-works/pi #2017, March 2026: Moonshot reports the counts in the choice.
#[test]
fn moonshot_counts_are_read_from_the_choice() {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 3, "cached_tokens": 4});
    let chunks = [
        json!({"choices": [{"delta": {"content": "Hi"}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop", "usage": usage}]}),
    ];
    let (events, _) = decode(Format::OpenaiChat, &chunks);
    assert_eq!(used(&events), Usage { input: 6, output: 3, cache_read: 4, ..Usage::default() });
}

/// The usage of an answer, as it was reported last.
fn used(events: &[ModelEvent]) -> Usage {
    let usage = |event: &ModelEvent| match event {
        ModelEvent::Usage(usage) => Some(*usage),
        _ => None,
    };
    events.iter().rev().find_map(usage).unwrap_or_default()
}

/// developers.openai.com, "Prompt caching": `prompt_tokens_details`, of which cached and written tokens are a part of `prompt_tokens`.
/// api-docs.deepseek.com, "Context caching": `prompt_cache_hit_tokens` and `prompt_cache_miss_tokens`. platform.kimi.ai, chat completions:
/// `cached_tokens` beside `prompt_tokens`. Read November 2026.
#[test]
fn cached_input_is_counted_apart_under_every_name() {
    let counts = |fields: Value| {
        let mut counts = json!({"prompt_tokens": 100, "completion_tokens": 7});
        counts.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let chunks = [
            json!({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}),
            json!({"choices": [], "usage": counts}),
        ];
        used(&decode(Format::OpenaiChat, &chunks).0)
    };
    let cached = |input, cache_read, cache_write| Usage {
        input,
        cache_read,
        cache_write,
        output: 7,
        ..Usage::default()
    };
    assert_eq!(counts(json!({"prompt_tokens_details": {"cached_tokens": 64}})), cached(36, 64, 0));
    let written = json!({"prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 30}});
    assert_eq!(counts(written), cached(6, 64, 30));
    let deepseek = json!({"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36});
    assert_eq!(counts(deepseek), cached(36, 64, 0));
    assert_eq!(counts(json!({"cached_tokens": 64})), cached(36, 64, 0));
    assert_eq!(counts(json!({"prompt_tokens_details": null})), cached(100, 0, 0));
}

/// platform.claude.com, "Prompt caching", "1-hour cache duration": `cache_creation` has the written tokens by the time they are kept.
/// Read November 2026.
#[test]
fn anthropic_cache_writes_are_counted_by_their_time() {
    let start = json!({"input_tokens": 5, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 248,
                       "cache_creation": {"ephemeral_5m_input_tokens": 148, "ephemeral_1h_input_tokens": 100}, "output_tokens": 1});
    let events = [
        json!({"type": "message_start", "message": {"usage": start}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Hi"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 50}}),
        json!({"type": "message_stop"}),
    ];
    let expected = Usage {
        input: 5,
        output: 50,
        cache_read: 10,
        cache_write: 248,
        cache_write_long: 100,
        ..Usage::default()
    };
    assert_eq!(used(&decode(Format::Anthropic, &events).0), expected);
    // a stream that is cut was charged, too
    let cut = decode(Format::Anthropic, &events[..2]);
    assert!(cut.1.is_err());
    assert_eq!(used(&cut.0), Usage { output: 1, ..expected });
}

/// ai.google.dev, "`OpenAI` compatibility", `include_thoughts`: thoughts come as content that is marked, between tags. The closing tag comes
/// with the last thought or before the answer, as in recorded streams of 2026.
#[test]
fn gemini_thoughts_in_the_content_are_reasoning() {
    let thought = |text: &str| json!({"content": text, "extra_content": {"google": {"thought": true}}});
    let streams = [
        vec![thought("<thought>Let me "), thought("see."), json!({"content": "</thought>It is 4."})],
        vec![thought("<thought>Let me see.</thought>It is"), json!({"content": " 4."})],
        vec![thought("Let me see."), json!({"content": "It is 4."})],
    ];
    for deltas in streams {
        let (events, ended) = chat(&deltas, "stop");
        assert_eq!(ended, Ok(()));
        let content = answer(&events).content;
        let said: String = content
            .iter()
            .map(|block| if let Block::Text { text } = block { text.as_str() } else { "" })
            .collect();
        let thought = content.iter().find_map(|block| match block {
            Block::Thinking(thinking) => Some(thinking.text.as_str()),
            _ => None,
        });
        assert_eq!((thought, said.as_str()), (Some("Let me see."), "It is 4."), "{deltas:?}");
    }
}
