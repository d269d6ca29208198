//! Tests of the parser with fixed and generated texts, in chunks of any size.

use proptest::prelude::*;

use super::*;

fn parse(chunks: &[&[u8]]) -> Vec<SseEvent> {
    let mut parser = SseParser::new(SseLimits::default());
    let mut events = Vec::new();
    for chunk in chunks {
        parser.feed(chunk, &mut events).unwrap();
    }
    events
}

fn event(name: &str, data: &str) -> SseEvent {
    SseEvent { name: name.to_owned(), data: data.to_owned(), ..SseEvent::default() }
}

#[test]
fn names_data_and_comments_are_distinguished() {
    let text = b"\xEF\xBB\xBF: hello\nevent: a\ndata: 1\ndata:2\ndata\nunknown: x\n\n\n\ndata: last\n\n";
    assert_eq!(parse(&[text]), [event("a", "1\n2\n"), event("", "last")]);
}

#[test]
fn block_without_data_is_not_an_event_and_its_name_is_dropped() {
    assert_eq!(parse(&[b"event: ping\n\ndata: x\n\n"]), [event("", "x")]);
}

#[test]
fn ids_and_retry_times_belong_to_their_own_event() {
    let text =
        b"id: 7\nretry: 1500\ndata: x\n\ndata: y\n\nid: 8\n\nretry:20\nid\n\nid: a\0b\nretry: soon\n\n";
    let with = |data: &str, id: Option<&str>, retry: Option<u64>| SseEvent {
        id: id.map(str::to_owned),
        retry: retry.map(Duration::from_millis),
        ..event("", data)
    };
    let expected = [
        with("x", Some("7"), Some(1500)),
        event("", "y"),
        with("", Some("8"), None),
        with("", Some(""), Some(20)),
    ];
    assert_eq!(parse(&[text]), expected);
}

#[test]
fn lines_after_the_last_empty_line_are_not_an_event() {
    assert_eq!(parse(&[b"data: a\n\ndata: b\n"]), [event("", "a")]);
}

#[test]
fn only_one_space_is_stripped_and_bad_utf8_is_replaced() {
    assert_eq!(parse(&[b"data:  a\xFF\n\n"]), [event("", " a\u{FFFD}")]);
}

#[test]
fn all_line_ends_are_equivalent() {
    for end in ["\n", "\r", "\r\n"] {
        let text = ["event: a", "data: 1", "data: 2", "", "data: 3", "", ""].join(end);
        assert_eq!(parse(&[text.as_bytes()]), [event("a", "1\n2"), event("", "3")], "{end:?}");
    }
}

#[test]
fn limits_apply_while_reading() {
    let limits = SseLimits { line: 10, event: 12, response: 100 };
    let overflow = |chunks: &[&[u8]]| {
        let mut parser = SseParser::new(limits);
        chunks.iter().find_map(|chunk| parser.feed(chunk, &mut Vec::new()).err()).map(|error| error.what)
    };
    assert_eq!(overflow(&[b"data: 1234\n\n"]), None);
    assert_eq!(overflow(&[b"data: 12345\n"]), Some("a line"));
    assert_eq!(overflow(&[b"data: ", b"12", b"345"]), Some("a line"));
    assert_eq!(overflow(&[b"data: 1234\ndata: 1234\n"]), None);
    assert_eq!(overflow(&[b"data: 1234\ndata: 1234\ndata: 1234\n"]), Some("an event"));
    assert_eq!(overflow(&[&[b'\n'; 100], b"\n"]), Some("a body"));
}

#[test]
fn endless_line_is_not_buffered() {
    let mut parser = SseParser::new(SseLimits { line: 1000, ..SseLimits::default() });
    let mut events = Vec::new();
    let ended = (0..100).find(|_| parser.feed(&[b'x'; 100], &mut events).is_err());
    assert_eq!(ended, Some(10));
    assert!(parser.line.len() <= 1000);
}

fn stream() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just(String::new()),
        "data: ?[a-zé:€ ]{0,12}",
        "event: ?[a-z]{0,5}",
        ": ?[a-z]{0,5}",
        "id: ?[a-z]{0,5}",
        "retry: ?([0-9]{1,5}|soon)",
        "[a-z]{0,4}(: [a-z]{0,4})?",
    ];
    let end = prop_oneof![Just("\n"), Just("\r"), Just("\r\n")];
    proptest::collection::vec((line, end), 0..30)
        .prop_map(|lines| lines.into_iter().map(|(line, end)| line + end).collect())
}

/// Reference implementation of the rules for a complete text.
fn reference(text: &str) -> Vec<SseEvent> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.split('\n').collect();
    lines.pop();
    let (mut events, mut next, mut data) = (Vec::new(), SseEvent::default(), Vec::new());
    for line in lines {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            _ if line.is_empty() => {
                let event = SseEvent { data: data.join("\n"), ..std::mem::take(&mut next) };
                if !data.is_empty() || event.id.is_some() || event.retry.is_some() {
                    events.push(event);
                }
                data = Vec::new();
            }
            "data" => data.push(value),
            "event" => value.clone_into(&mut next.name),
            "id" => next.id = Some(value.to_owned()),
            "retry" => next.retry = value.parse().ok().map(Duration::from_millis).or(next.retry),
            _ => {}
        }
    }
    events
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_events(text in stream(), cuts in proptest::collection::vec(0..400usize, 0..20)) {
        let bytes = text.as_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        prop_assert_eq!(parse(&chunks), reference(&text));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(parse(&single), reference(&text));
    }

    #[test]
    fn any_bytes_parse_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        parse(&[&bytes]);
    }
}
