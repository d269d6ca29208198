//! Each kind of invalid line: how it parses, and that its text is kept.

use musher_wire::{Frame, Id, MAX_DEPTH, Malformed, Reason};

fn malformed(line: &[u8]) -> Malformed {
    match Frame::parse(line) {
        Frame::Malformed(malformed) => malformed,
        frame => panic!("{frame:?} should be malformed"),
    }
}

/// Returns whether the envelope check rejects `line`.
fn is_rejected(line: &str) -> bool {
    Frame::parse(line.as_bytes()).check_envelope().is_err()
}

#[test]
fn text_that_is_not_json_is_malformed_and_keeps_its_text() {
    for text in [r#"{"jsonrpc":"2.0","#, "oops", "{'a':1}", "\u{feff}{}", "{}{}", "\0", "nul"] {
        let bad = malformed(text.as_bytes());
        assert!(matches!(bad.reason, Reason::NotJson(_)), "{text:?}: {:?}", bad.reason);
        assert_eq!(&*bad.raw, text);
    }
}

#[test]
fn json_that_is_not_an_object_has_its_own_reason() {
    for text in ["[]", "42", "\"x\"", "null", "true", " [1] "] {
        assert_eq!(malformed(text.as_bytes()).reason, Reason::NotAnObject, "{text}");
    }
}

#[test]
fn objects_that_are_not_messages_keep_their_id() {
    let with_id = [
        r#"{"id":"7"}"#,
        r#"{"id":"7","type":"request"}"#,
        r#"{"id":"7","type":"notification"}"#,
        r#"{"id":"7","type":"response"}"#,
        r#"{"id":"7","result":{},"error":{"code":1,"message":"m"}}"#,
        r#"{"id":"7","error":"plain text"}"#,
        r#"{"id":"7","error":{"code":"1","message":"m"}}"#,
        r#"{"id":"7","result":null,"error":null,"type":"nonsense","method":null}"#,
    ];
    for text in &with_id[..7] {
        assert_eq!(malformed(text.as_bytes()).id, Some(Id::from("7")), "{text}");
    }
    assert!(matches!(malformed(with_id[7].as_bytes()).reason, Reason::NotAMessage(_)));
    for text in ["{}", r#"{"id":{},"method":"m"}"#, r#"{"id":true,"result":1}"#, r#"{"result":1}"#] {
        assert_eq!(malformed(text.as_bytes()).id, None, "{text}");
    }
}

#[test]
fn envelopes_that_the_real_agent_rejects_fail_the_check() {
    let good =
        r#"{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"request","id":"b","method":"m","params":{}}"#;
    assert!(!is_rejected(good));
    assert!(!is_rejected(
        &good.replace("}}", r#"},"extra":1,"_meta":{"foo":1},"factoryProtocolVersion":"9.9.9"}"#)
    ));
    for (part, replacement) in [
        (r#""factoryApiVersion":"1.0.0","#, ""),
        (r#""1.0.0""#, r#""2.0.0""#),
        (r#""type":"request","#, ""),
        (r#""type":"request""#, r#""type":"bogus""#),
        (r#""jsonrpc":"2.0","#, ""),
        (r#""2.0""#, "2.0"),
        (r#""id":"b""#, r#""id":5"#),
        (r#""id":"b","#, ""),
        (r#""id":"b""#, r#""id":null"#),
    ] {
        let bad = good.replacen(part, replacement, 1);
        assert_ne!(bad, good);
        assert!(is_rejected(&bad), "{bad}");
    }
}

#[test]
fn invalid_utf8_is_replaced_and_the_message_is_read() {
    let line = b"{\"type\":\"request\",\"id\":\"c2\xff\",\"method\":\"m\",\"params\":{}}";
    let Frame::Request(request) = Frame::parse(line) else { panic!("not a request") };
    assert_eq!(request.id, Id::from("c2\u{fffd}"));
}

#[test]
fn line_ends_are_not_part_of_the_message() {
    let line = br#"{"id":"1","method":"m"}"#;
    let frame = Frame::parse(line);
    for end in ["\n", "\r\n", "\r", ""] {
        assert_eq!(Frame::parse(&[line.as_slice(), end.as_bytes()].concat()), frame);
    }
    for blank in [b"".as_slice(), b"\n", b"   \n", b"\t\r\n"] {
        assert!(Frame::is_blank(blank));
    }
}

#[test]
fn nesting_is_limited_in_every_field() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for place in [r#""params":"#, r#""_meta":"#, r#""anything":"#] {
        // the message itself is one level deep
        let line = |depth| format!(r#"{{"id":"1","method":"m",{place}{}}}"#, nested(depth));
        assert!(matches!(Frame::parse(line(MAX_DEPTH - 1).as_bytes()), Frame::Request(_)), "{place}");
        assert_eq!(malformed(line(MAX_DEPTH).as_bytes()).reason, Reason::TooDeep, "{place}");
    }
    // deep enough to overflow the stack if any code recursed
    let line = format!(r#"{{"id":"1","method":"m","params":{}}}"#, nested(1_000_000));
    assert_eq!(malformed(line.as_bytes()).reason, Reason::TooDeep);
    assert!(matches!(malformed("[".repeat(1_000_000).as_bytes()).reason, Reason::NotJson(_)));
}

#[test]
fn one_of_result_and_error_may_be_null() {
    let ok = r#"{"type":"response","id":"1","result":{},"error":null}"#;
    let Frame::Response(response) = Frame::parse(ok.as_bytes()) else { panic!("not a response") };
    assert!(response.outcome.is_ok());
    let failed = r#"{"type":"response","id":"1","result":null,"error":{"code":-1,"message":"m"}}"#;
    let Frame::Response(response) = Frame::parse(failed.as_bytes()) else { panic!("not a response") };
    assert!(response.outcome.is_err());
}

#[test]
fn error_of_an_invalid_payload_contains_its_path() {
    let line = br#"{"type":"notification","method":"droid.session_notification","params":{"notification":{"type":"create_message","message":{"id":"m","role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":7}]}}}}"#;
    let Frame::Notification(frame) = Frame::parse(line) else { panic!("not a notification") };
    let error = frame.session().unwrap_err();
    assert_eq!(error.path.as_str(), "params.notification.message.content[1].text");
    let expected =
        "invalid payload of `droid.session_notification` at params.notification.message.content[1].text";
    assert_eq!(error.to_string(), expected);
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.starts_with("invalid type: integer `7`, expected a string"), "{cause}");
}
