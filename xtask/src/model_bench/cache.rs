//! What a vendor's prompt cache would do with the requests of a session: a simulation of documented rules. Pure.
//!
//! Tokens are estimated as a quarter of the characters, on both sides of a comparison. Anthropic: the request names up to four marks; a
//! prefix is read if it was written at a mark before, looking back 20 blocks from each mark; reads cost 0.1, writes 1.25, or 2 for an
//! hour. `OpenAI`: the longest common prefix with an earlier request, in steps of 128 tokens from 1024 on, costs 0.1.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::Value;

/// The least number of tokens that is cached.
const MIN_CACHED: f64 = 1024.0;
/// The step in which `OpenAI` caches.
const STEP: f64 = 128.0;
/// How far Anthropic looks back from a mark, in blocks.
const LOOK_BACK: usize = 20;

const READ: f64 = 0.1;
const WRITE: f64 = 1.25;
const WRITE_LONG: f64 = 2.0;

/// How a vendor caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rules {
    /// Marks in the request.
    Anthropic,
    /// The longest common prefix.
    OpenAi,
}

/// A piece of a request in the order in which the vendor reads it: a tool, a part of the system prompt, a block of a message.
#[derive(Debug, Clone, PartialEq)]
struct Piece {
    text: String,
    /// Set if the prefix up to here is to be cached; whether for an hour.
    mark: Option<bool>,
}

/// The input of a session, in tokens. `cost` is in tokens at the price of uncached input.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Input {
    pub(super) tokens: f64,
    pub(super) read: f64,
    pub(super) cost: f64,
}

/// Returns the input of all requests of one session, in their order.
pub(super) fn simulate(requests: &[Value], rules: Rules) -> Input {
    let mut written: HashSet<u64> = HashSet::new();
    let mut earlier: Vec<String> = Vec::new();
    let mut all = Input::default();
    for request in requests {
        let pieces = pieces(request);
        let one = match rules {
            Rules::Anthropic => marked(&pieces, &mut written),
            Rules::OpenAi => longest_prefix(&pieces, &mut earlier),
        };
        all.tokens += one.tokens;
        all.read += one.read;
        all.cost += one.cost;
    }
    all
}

/// Returns the size of a request in tokens: tools, system prompt and messages.
pub(super) fn size(request: &Value) -> f64 {
    pieces(request).iter().map(tokens).sum()
}

fn marked(pieces: &[Piece], written: &mut HashSet<u64>) -> Input {
    let mut hasher = DefaultHasher::new();
    let mut prefixes = Vec::new();
    let mut length = 0.0;
    for piece in pieces {
        piece.text.hash(&mut hasher);
        length += tokens(piece);
        prefixes.push((hasher.finish(), length));
    }
    let marks: Vec<usize> = (0..pieces.len()).filter(|at| pieces[*at].mark.is_some()).collect();
    let hit = |mark: usize| {
        let known = (mark.saturating_sub(LOOK_BACK)..=mark).rev();
        known
            .map(|at| prefixes[at])
            .find(|(hash, _)| written.contains(hash))
            .map_or(0.0, |(_, length)| length)
    };
    let read = marks.iter().map(|mark| hit(*mark)).fold(0.0, f64::max);
    let (mut cost, mut from) = (read * READ, read);
    for mark in &marks {
        let (hash, length) = prefixes[*mark];
        if length < MIN_CACHED {
            continue;
        }
        written.insert(hash);
        let rate = if pieces[*mark].mark == Some(true) { WRITE_LONG } else { WRITE };
        cost += (length - from).max(0.0) * rate;
        from = from.max(length);
    }
    cost += (length - from).max(0.0);
    Input { tokens: length, read, cost }
}

fn longest_prefix(pieces: &[Piece], earlier: &mut Vec<String>) -> Input {
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let common = |old: &String| {
        let equal = old.bytes().zip(text.bytes()).take_while(|(old, new)| old == new).count();
        quarter(equal)
    };
    let common = earlier.iter().map(common).fold(0.0, f64::max);
    let read = if common < MIN_CACHED { 0.0 } else { (common / STEP).floor() * STEP };
    let length = quarter(text.len());
    earlier.push(text);
    Input { tokens: length, read, cost: length - read + read * READ }
}

/// Takes a request of any of the three formats apart.
fn pieces(request: &Value) -> Vec<Piece> {
    let list = |key: &str| request[key].as_array().cloned().unwrap_or_default();
    let mut pieces: Vec<Piece> = list("tools").iter().map(piece).collect();
    match &request["system"] {
        Value::Array(parts) => pieces.extend(parts.iter().map(piece)),
        Value::Null => {}
        text => pieces.push(piece(text)),
    }
    if !request["instructions"].is_null() {
        pieces.push(piece(&request["instructions"]));
    }
    for message in list("messages").iter().chain(&list("input")) {
        match &message["content"] {
            Value::Array(blocks) => pieces.extend(blocks.iter().map(piece)),
            _ => pieces.push(piece(message)),
        }
        if let Some(calls) = message["tool_calls"].as_array().filter(|_| message["content"].is_array()) {
            pieces.extend(calls.iter().map(piece));
        }
    }
    pieces
}

fn piece(value: &Value) -> Piece {
    let mut value = value.clone();
    let control = value.as_object_mut().and_then(|object| object.remove("cache_control"));
    let mark = control.map(|control| control["ttl"] == "1h");
    Piece { text: value.to_string(), mark }
}

fn tokens(piece: &Piece) -> f64 {
    quarter(piece.text.len())
}

#[expect(clippy::cast_precision_loss, reason = "lengths of requests")]
fn quarter(bytes: usize) -> f64 {
    bytes as f64 / 4.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 30.0
    }

    fn marked_request(messages: &[&str]) -> Value {
        let last = messages.len() - 1;
        let blocks = messages.iter().enumerate().map(|(at, text)| {
            let mut block = json!({"type": "text", "text": text});
            if at == last {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            json!({"role": "user", "content": [block]})
        });
        json!({"system": [{"text": "s".repeat(8000), "cache_control": {"ttl": "1h"}}], "messages": blocks.collect::<Vec<_>>()})
    }

    #[test]
    fn marked_prefix_is_written_once_and_then_read() {
        let (one, two) = ("a".repeat(4000), "b".repeat(4000));
        let input = simulate(&[marked_request(&[&one]), marked_request(&[&one, &two])], Rules::Anthropic);
        assert!(close(input.tokens, 3000.0 + 4000.0), "{input:?}");
        assert!(close(input.read, 3000.0), "{input:?}");
        let expected = 2000.0 * WRITE_LONG + 1000.0 * WRITE + 3000.0 * READ + 1000.0 * WRITE;
        assert!((input.cost - expected).abs() < 60.0, "{input:?} {expected}");
        // another system prompt: nothing is read
        let mut other = marked_request(&[&one]);
        other["system"][0]["text"] = "t".into();
        assert!(close(simulate(&[marked_request(&[&one]), other], Rules::Anthropic).read, 0.0));
    }

    #[test]
    fn common_prefix_is_read_in_steps() {
        let request = |text: &str| json!({"messages": [{"role": "user", "content": text}]});
        let long = "a".repeat(8000);
        let requests = [request(&long), request(&(long.clone() + "more")), request("short")];
        let input = simulate(&requests, Rules::OpenAi);
        assert!(close(input.read, 1920.0), "{input:?}");
        assert!(close(input.cost, input.tokens - input.read * 0.9), "{input:?}");
    }
}
