//! The short way for the news that come most: a piece of text, written exactly as droid writes it.
//!
//! Comparing the text between the values replaces reading it. Gives up at the slightest difference: then the news are read like any others.

use crate::{
    AssistantTextDelta, Count, Json, SessionNotification, SessionNotificationParams, ThinkingTextDelta,
};

const TO_SESSION: &str = r#"{"sessionId":""#;
const BEHIND_SESSION: &str = r#"","notification":"#;
const WITHOUT_SESSION: &str = r#"{"notification":"#;
const TO_TEXT: &str = r#"{"type":"assistant_text_delta","messageId":""#;
const TO_THOUGHT: &str = r#"{"type":"thinking_text_delta","messageId":""#;
const TO_INDEX: &str = r#"","blockIndex":"#;
const TO_DELTA: &str = r#","textDelta":"#;

/// What is in a piece of text, as it stands there.
struct Parts<'a> {
    session_id: Option<&'a str>,
    is_thought: bool,
    message_id: &'a str,
    index: u64,
    /// The text as a literal, and all behind it.
    rest: &'a str,
}

/// The piece of text that `params` is, if it is written in the usual way.
pub(crate) fn delta(params: &Json) -> Option<SessionNotificationParams> {
    let Parts { session_id, is_thought, message_id, index, rest } = parts(params.text())?;
    let delta = string(rest.strip_suffix("}}")?)?;
    let notification = if is_thought {
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

/// The piece of text that `text` begins with, and what comes behind it. Unlike above nothing is known of `text` before.
pub(crate) fn leading_delta(text: &str) -> Option<(Json, &str)> {
    let parts = parts(text)?;
    let (delta, rest) = plain(parts.rest.strip_prefix('"')?)?;
    let rest = rest.strip_prefix(r#""}}"#)?;
    let strings = [parts.session_id.unwrap_or_default(), parts.message_id, delta];
    // JSON has no line breaks and the like in strings
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
    let (is_thought, rest) = match rest.strip_prefix(TO_TEXT) {
        Some(rest) => (false, rest),
        None => (true, rest.strip_prefix(TO_THOUGHT)?),
    };
    let (message_id, rest) = plain(rest)?;
    let rest = rest.strip_prefix(TO_INDEX)?;
    let (digits, rest) = rest.split_at(rest.bytes().position(|byte| !byte.is_ascii_digit())?);
    // numbers of JSON do not begin with a nought
    let index = (digits == "0" || !digits.starts_with('0')).then(|| digits.parse().ok())??;
    Some(Parts { session_id, is_thought, message_id, index, rest: rest.strip_prefix(TO_DELTA)? })
}

/// What comes before the quote that ends a string, if nothing in it is escaped, and the rest with the quote.
pub(crate) fn plain(text: &str) -> Option<(&str, &str)> {
    let end = memchr::memchr2(b'"', b'\\', text.as_bytes())?;
    let (text, rest) = text.split_at(end);
    rest.starts_with('"').then_some((text, rest))
}

/// The string that `literal` is, and nothing more than it.
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

    const USUAL: &str = r#"{"sessionId":"s","notification":{"type":"assistant_text_delta","messageId":"m","blockIndex":0,"textDelta":"Hi"}}"#;

    #[test]
    fn the_short_way_and_the_long_way_read_the_same() {
        let texts = [
            USUAL.to_owned(),
            USUAL.replace(r#""sessionId":"s","#, ""),
            USUAL.replace("assistant", "thinking"),
            USUAL.replace(":0,", ":18446744073709551615,"),
            USUAL.replace("Hi", ""),
            USUAL.replace("Hi", r#"a \"quoted\"\n\u00e9 text \\"#),
            USUAL.replace("Hi", "ä}}"),
        ];
        for text in texts {
            let (short, long) = read(&text);
            assert_eq!(short, Some(long), "{text}");
            if !text.contains('\\') {
                let behind = format!("{text},more");
                assert_eq!(leading_delta(&behind), Some((Json::known(&text), ",more")));
            }
        }
    }

    #[test]
    fn whatever_differs_is_left_to_the_long_way() {
        let texts = [
            USUAL.replace("assistant_text_delta", "assistant_text_complete"),
            USUAL.replace("\"m\"", r#""\u006d""#),
            USUAL.replace(":0,", ":1.5,"),
            USUAL.replace(":0,", ":99999999999999999999,"),
            USUAL.replace(":0,", ": 0,"),
            USUAL.replace("}}", r#","more":"x"}}"#),
            USUAL.replace("}}", r#"},"more":{}}"#),
            USUAL.replace("\"s\"", "null"),
        ];
        for text in texts {
            assert_eq!(read(&text).0, None, "{text}");
            assert_eq!(leading_delta(&text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_not_taken_for_a_piece_of_text() {
        let texts = [
            USUAL.replace("Hi", "a\nb"),
            USUAL.replace("Hi", "a\\qb"),
            USUAL.replace(":0,", ":00,"),
            USUAL.replace(":0,", ":,"),
            USUAL.replace("\"m\"", "\"\t\""),
            USUAL.replace("\"s\"", "\"\0\""),
            USUAL[..USUAL.len() - 1].to_owned(),
        ];
        for text in texts {
            assert!(serde_json::from_str::<Json>(&text).is_err(), "{text}");
            assert_eq!(leading_delta(&text), None, "{text}");
        }
    }
}
