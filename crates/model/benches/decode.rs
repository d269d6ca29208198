//! Time to decode a long answer: 20,000 text fragments, in each format.
#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use divan::Bencher;
use musher_http::{SseLimits, SseParser};
use musher_model::{Format, ModelEvent};
use musher_rehearse::{Api, Rehearsal, Reply, Script, Step};
use serde_json::json;

fn main() {
    divan::main();
}

fn answer(api: Api) -> Vec<u8> {
    let messages = json!([{"role": "user", "content": "hello"}]);
    let body = json!({"model": "m", "stream": true, "messages": messages, "input": messages});
    let call = api.read(&body).unwrap();
    let text =
        musher_rehearse::Pieces::Explicit((0..20_000).map(|number| format!("word{number} ")).collect());
    let reply = Reply::empty().and(Step::Text(text));
    let answer = Rehearsal::new(Script::new().otherwise(reply)).answer(&call);
    api.plan(&call, &answer, 0).chunks.iter().flat_map(|chunk| chunk.bytes.to_vec()).collect()
}

fn decode(bencher: Bencher<'_, '_>, format: Format, api: Api) {
    let bytes = answer(api);
    bencher.counter(divan::counter::BytesCount::of_slice(&bytes)).bench(|| {
        let mut parser = SseParser::new(SseLimits::default());
        let mut decoder = format.decoder();
        let (mut events, mut out): (Vec<_>, Vec<ModelEvent>) = (Vec::new(), Vec::new());
        for piece in bytes.chunks(4096) {
            parser.feed(piece, &mut events).unwrap();
            for event in events.drain(..) {
                decoder.event(&event, &mut out).unwrap();
            }
        }
        decoder.end(&mut out).unwrap();
        out
    });
}

#[divan::bench]
fn openai_chat(bencher: Bencher<'_, '_>) {
    decode(bencher, Format::OpenaiChat, Api::OpenaiChat);
}

#[divan::bench]
fn openai_responses(bencher: Bencher<'_, '_>) {
    decode(bencher, Format::OpenaiResponses, Api::OpenaiResponses);
}

#[divan::bench]
fn anthropic(bencher: Bencher<'_, '_>) {
    decode(bencher, Format::Anthropic, Api::Anthropic);
}
