//! Fast path for text deltas that are written exactly as droid writes them.
//!
//! Comparing the text between the values replaces parsing it. Returns `None` at the slightest difference: such a notification is
//! parsed like any other. `frame/fast_path.rs` says what it saves.

use crate::{
    AssistantTextDelta, Count, Json, SessionNotification, SessionNotificationParams, ThinkingTextDelta,
};

const TO_SESSION: &str = r#"{"sessionId":""#;
const BEHIND_SESSION: &str = r#"","notification":"#;
const WITHOUT_SESSION: &str = r#"{"notification":"#;
const TO_TEXT: &str = r#"{"type":"assistant_text_delta","messageId":""#;
const TO_THINKING: &str = r#"{"type":"thinking_text_delta","messageId":""#;
const TO_INDEX: &str = r#"","blockIndex":"#;
const TO_DELTA: &str = r#","textDelta":"#;

/// The parts of a text delta, as they are written.
struct Parts<'a> {
    session_id: Option<&'a str>,
    is_thinking: bool,
    message_id: &'a str,
    index: u64,
    /// The text as a literal, and everything behind it.
    rest: &'a str,
}

/// Reads a text delta, if it is written exactly as droid writes it.
pub(crate) fn delta(params: &Json) -> Option<SessionNotificationParams> {
    let Parts { session_id, is_thinking, message_id, index, rest } = parts(params.text())?;
    let delta = string(rest.strip_suffix("}}")?)?;
    let notification = if is_thinking {
        SessionNotification::ThinkingTextDelta(ThinkingTextDelta::new(message_id, Count::from(index), delta))
    } else {
        SessionNotification::AssistantTextDelta(AssistantTextDelta::new(
            message_id,
            Count::from(index),
            delta,
        ))
    };
    let mut params = SessionNotificationParams::new(notification);
    params.session_id = session_id.map(str::to_owned);
    Some(params)
}

/// Splits `text` behind the text delta that it begins with. Unlike for [`delta`], `text` need not be JSON.
pub(crate) fn leading_delta(text: &str) -> Option<(Json, &str)> {
    let parts = parts(text)?;
    let (delta, rest) = plain(parts.rest.strip_prefix('"')?)?;
    let rest = rest.strip_prefix(r#""}}"#)?;
    let strings = [parts.session_id.unwrap_or_default(), parts.message_id, delta];
    // JSON strings contain no control characters
    if strings.iter().any(|string| string.bytes().any(|byte| byte < b' ')) {
        return None;
    }
    Some((Json::known(&text[..text.len() - rest.len()]), rest))
}

fn parts(text: &str) -> Option<Parts<'_>> {
    let (session_id, rest) = match text.strip_prefix(TO_SESSION) {
        Some(rest) => {
            let (session_id, rest) = plain(rest)?;
            (Some(session_id), rest.strip_prefix(BEHIND_SESSION)?)
        }
        None => (None, text.strip_prefix(WITHOUT_SESSION)?),
    };
    let (is_thinking, rest) = match rest.strip_prefix(TO_TEXT) {
        Some(rest) => (false, rest),
        None => (true, rest.strip_prefix(TO_THINKING)?),
    };
    let (message_id, rest) = plain(rest)?;
    let rest = rest.strip_prefix(TO_INDEX)?;
    let (digits, rest) = rest.split_at(rest.bytes().position(|byte| !byte.is_ascii_digit())?);
    // JSON numbers have no leading zero
    let index = (digits == "0" || !digits.starts_with('0')).then(|| digits.parse().ok())??;
    Some(Parts { session_id, is_thinking, message_id, index, rest: rest.strip_prefix(TO_DELTA)? })
}

/// Splits `text` before the quote that ends a string, if nothing in the string is escaped.
pub(crate) fn plain(text: &str) -> Option<(&str, &str)> {
    let end = memchr::memchr2(b'"', b'\\', text.as_bytes())?;
    let (text, rest) = text.split_at(end);
    rest.starts_with('"').then_some((text, rest))
}

/// Reads a string literal.
fn string(literal: &str) -> Option<String> {
    match plain(literal.strip_prefix('"')?) {
        Some((text, rest)) => (rest == "\"").then(|| text.to_owned()),
        None => serde_json::from_str(literal).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_serde(params: &Json) -> SessionNotificationParams {
        params.to().unwrap()
    }

    fn read(text: &str) -> (Option<SessionNotificationParams>, SessionNotificationParams) {
        let params: Json = serde_json::from_str(text).unwrap();
        (delta(&params), by_serde(&params))
    }

    const DELTA: &str = r#"{"sessionId":"s","notification":{"type":"assistant_text_delta","messageId":"m","blockIndex":0,"textDelta":"Hi"}}"#;

    #[test]
    fn fast_path_and_parser_read_the_same() {
        let texts = [
            DELTA.to_owned(),
            DELTA.replace(r#""sessionId":"s","#, ""),
            DELTA.replace("assistant", "thinking"),
            DELTA.replace(":0,", ":18446744073709551615,"),
            DELTA.replace("Hi", ""),
            DELTA.replace("Hi", r#"a \"quoted\"\n\u00e9 text \\"#),
            DELTA.replace("Hi", "ä}}"),
        ];
        for text in texts {
            let (fast, parsed) = read(&text);
            assert_eq!(fast, Some(parsed), "{text}");
            if !text.contains('\\') {
                let behind = format!("{text},more");
                assert_eq!(leading_delta(&behind), Some((Json::known(&text), ",more")));
            }
        }
    }

    #[test]
    fn different_deltas_are_left_to_the_parser() {
        let texts = [
            DELTA.replace("assistant_text_delta", "assistant_text_complete"),
            DELTA.replace("\"m\"", r#""\u006d""#),
            DELTA.replace(":0,", ":1.5,"),
            DELTA.replace(":0,", ":99999999999999999999,"),
            DELTA.replace(":0,", ": 0,"),
            DELTA.replace("}}", r#","more":"x"}}"#),
            DELTA.replace("}}", r#"},"more":{}}"#),
            DELTA.replace("\"s\"", "null"),
        ];
        for text in texts {
            assert_eq!(read(&text).0, None, "{text}");
            assert_eq!(leading_delta(&text), None, "{text}");
        }
    }

    #[test]
    fn invalid_json_is_not_a_text_delta() {
        let texts = [
            DELTA.replace("Hi", "a\nb"),
            DELTA.replace("Hi", "a\\qb"),
            DELTA.replace(":0,", ":00,"),
            DELTA.replace(":0,", ":,"),
            DELTA.replace("\"m\"", "\"\t\""),
            DELTA.replace("\"s\"", "\"\0\""),
            DELTA[..DELTA.len() - 1].to_owned(),
        ];
        for text in texts {
            assert!(serde_json::from_str::<Json>(&text).is_err(), "{text}");
            assert_eq!(leading_delta(&text), None, "{text}");
        }
    }
}
