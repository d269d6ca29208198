//! Complete answers of the scripted model, decoded in each format and compared with the files in `streams/`.

use musher_http::{SseLimits, SseParser};
use musher_model::{ErrorClass, Format, ModelError, ModelEvent};
use musher_rehearse::{Api, Call, Finish, Rehearsal, Reply, Script, Step, ToolCall, Usage};
use serde_json::json;

use crate::snapshot::assert_snapshot;

const FORMATS: [(Format, Api, &str); 3] = [
    (Format::OpenaiChat, Api::OpenaiChat, "openai_chat"),
    (Format::OpenaiResponses, Api::OpenaiResponses, "openai_responses"),
    (Format::Anthropic, Api::Anthropic, "anthropic"),
];

fn everything() -> Reply {
    let usage = Usage {
        input: Some(100),
        output: Some(50),
        cache_read: Some(20),
        cache_creation: Some(10),
        reasoning: Some(7),
    };
    Reply::thinking(["Let me ", "look."])
        .and_text(["Looking", " now."])
        .and(Step::Tool(ToolCall::new("Read", json!({"path": "ä.rs"})).chunk(8)))
        .and_tool("LS", json!({}))
        .usage(usage)
}

fn bytes(api: Api, reply: Reply) -> Vec<u8> {
    let messages = json!([{"role": "user", "content": "hello"}]);
    let body = json!({"model": "m", "stream": true, "messages": messages, "input": messages,
                      "stream_options": {"include_usage": true}, "include": ["reasoning.encrypted_content"]});
    let call: Call = api.read(&body).unwrap();
    let rehearsal = Rehearsal::new(Script::new().otherwise(reply));
    let answer = rehearsal.answer(&call);
    api.plan(&call, &answer, 0).chunks.iter().flat_map(|chunk| chunk.bytes.to_vec()).collect()
}

fn decode(format: Format, bytes: &[u8], chunk: usize) -> Vec<ModelEvent> {
    let mut parser = SseParser::new(SseLimits::default());
    let mut decoder = format.decoder();
    let (mut events, mut out) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(chunk) {
        parser.feed(piece, &mut events).unwrap();
    }
    for event in &events {
        decoder.event(event, &mut out).unwrap();
    }
    decoder.end(&mut out).unwrap();
    assert!(decoder.is_over());
    out
}

#[test]
fn full_answer_decodes_equally_for_every_chunking() {
    for (format, api, name) in FORMATS {
        let bytes = bytes(api, everything());
        let events = decode(format, &bytes, usize::MAX);
        let lines: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
        let text = lines.join("\n") + "\n";
        assert_snapshot(&format!("streams/{name}.txt"), &text);
        for chunk in [1, 2, 3, 7, 64] {
            assert_eq!(decode(format, &bytes, chunk), events, "{name} in pieces of {chunk}");
        }
    }
}

#[test]
fn every_finish_reason_has_the_same_name_in_every_format() {
    use musher_model::FinishReason;
    let cases = [
        (Finish::Stop, FinishReason::Stop),
        (Finish::Length, FinishReason::Length),
        (Finish::ContentFilter, FinishReason::ContentFilter),
    ];
    for (format, api, name) in FORMATS {
        for (finish, reason) in &cases {
            let events = decode(format, &bytes(api, Reply::text("Hi").finish(*finish)), 1000);
            assert_eq!(events.last(), Some(&ModelEvent::Finish(reason.clone())), "{name}");
        }
    }
}

/// Decodes a stream that may be truncated or damaged; returns its events and how it ended.
fn attempt(format: Format, bytes: &[u8]) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut parser = SseParser::new(SseLimits::default());
    let mut decoder = format.decoder();
    let (mut events, mut out) = (Vec::new(), Vec::new());
    parser.feed(bytes, &mut events).unwrap();
    for event in &events {
        if let Err(error) = decoder.event(event, &mut out) {
            return (out, Err(error));
        }
    }
    let ended = decoder.end(&mut out);
    (out, ended)
}

fn has_call(events: &[ModelEvent]) -> bool {
    events.iter().any(|event| matches!(event, ModelEvent::ToolCall(_)))
}

#[test]
fn stream_truncated_anywhere_has_no_complete_call() {
    for (format, api, name) in FORMATS {
        let bytes = bytes(api, everything());
        let text = String::from_utf8(bytes.clone()).unwrap();
        // the event that ends the answer in each format
        let end = match format {
            Format::OpenaiChat => "\"finish_reason\":\"tool_calls\"",
            Format::OpenaiResponses => "event: response.completed",
            _ => "event: message_stop",
        };
        let end = text.find(end).unwrap();
        let end = end + text[end..].find("\n\n").unwrap() + 2;
        // every position near the end, and every fifth one before
        for cut in (0..bytes.len()).filter(|cut| cut % 5 == 0 || cut + 200 > end) {
            let (events, ended) = attempt(format, &bytes[..cut]);
            if cut < end {
                assert_eq!(ended.map_err(|error| error.class), Err(ErrorClass::Cut), "{name} cut at {cut}");
                assert!(!has_call(&events), "{name} cut at {cut}");
            } else {
                assert_eq!(ended, Ok(()), "{name} cut at {cut}");
                assert!(has_call(&events), "{name} cut at {cut}");
            }
        }
    }
}

#[test]
fn damaged_stream_reports_calls_only_at_its_proper_end() {
    for (format, api, name) in FORMATS {
        let bytes = bytes(api, everything());
        // testing every position takes minutes; a prime step still reaches every kind of position
        for at in (0..bytes.len()).step_by(17) {
            for damage in [b'\n', b'"', b'}', 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = damage;
                let (events, ended) = attempt(format, &damaged);
                if has_call(&events) {
                    assert_eq!(ended, Ok(()), "{name} damaged at {at} with {damage}");
                    assert!(matches!(events.last(), Some(ModelEvent::Finish(_))), "{name} damaged at {at}");
                }
            }
        }
    }
}
