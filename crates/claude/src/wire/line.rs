//! Classifies a line of the CLI by the fields that tell its kind.

use std::borrow::Cow;
use std::fmt;

use musher_rpc::RawLine;
use musher_wire::{Json, Word};
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::message::Message;
use crate::Refusal;

/// A line of the CLI.
#[derive(Debug)]
pub(crate) enum CliLine {
    Message(Message),
    Request {
        id: String,
        subtype: String,
        request: Json,
    },
    Response {
        id: String,
        outcome: Result<Json, Refusal>,
    },
    Cancel {
        id: String,
    },
    /// Internal messages of the CLI.
    Housekeeping,
    /// Not an object: some builds print debug text on stdout.
    Noise(String),
    /// An object that cannot be parsed.
    Malformed(String),
}

impl CliLine {
    pub(crate) fn parse(line: RawLine) -> Self {
        if line.is_cut() {
            return Self::Malformed("the line is longer than the limit".to_owned());
        }
        let text = match String::from_utf8(line.into_bytes()) {
            Ok(text) => text,
            Err(error) if error.as_bytes().trim_ascii_start().starts_with(b"{") => {
                return Self::Malformed("the line is not UTF-8".to_owned());
            }
            Err(error) => return Self::Noise(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        };
        if !text.trim_start().starts_with('{') {
            return Self::Noise(text);
        }
        let head = match serde_json::from_str::<Head<'_>>(&text) {
            Ok(head) => head,
            Err(error) => return Self::Malformed(error.to_string()),
        };
        let parsed = match head.kind.as_deref().unwrap_or_default() {
            "control_request" => request(&text),
            "control_response" => response(&text),
            "control_cancel_request" => {
                serde_json::from_str(&text).map(|Cancel { request_id: id }| Self::Cancel { id })
            }
            "keep_alive" | "transcript_mirror" => Ok(Self::Housekeeping),
            kind => {
                let (kind, subtype) = (known(kind), head.subtype.as_deref().map(known));
                Ok(Self::Message(Message::new(text, kind, subtype)))
            }
        };
        parsed.unwrap_or_else(|error| Self::Malformed(error.to_string()))
    }
}

fn request(text: &str) -> serde_json::Result<CliLine> {
    let Request { request_id: id, request } = serde_json::from_str(text)?;
    let head: Head<'_> = serde_json::from_str(request.text())?;
    let subtype = head.subtype.unwrap_or_default().into_owned();
    Ok(CliLine::Request { id, subtype, request })
}

fn response(text: &str) -> serde_json::Result<CliLine> {
    let Response { response: it } = serde_json::from_str(text)?;
    let outcome = if it.subtype == "success" {
        // older versions omit an empty response
        Ok(it.response.unwrap_or_else(Json::empty_object))
    } else {
        Err(Refusal {
            message: it.error.unwrap_or_else(|| "no reason given".to_owned()),
            code: it.error_code,
        })
    };
    Ok(CliLine::Response { id: it.request_id, outcome })
}

#[derive(serde::Deserialize)]
struct Request {
    request_id: String,
    request: Json,
}

#[derive(serde::Deserialize)]
struct Cancel {
    request_id: String,
}

#[derive(serde::Deserialize)]
struct Response {
    response: Answer,
}

#[derive(serde::Deserialize)]
struct Answer {
    subtype: String,
    request_id: String,
    response: Option<Json>,
    #[serde(default, deserialize_with = "super::lenient::field")]
    error: Option<String>,
    #[serde(default, deserialize_with = "super::lenient::field")]
    error_code: Option<String>,
}

/// The two fields that tell the kind of an object. Other fields are skipped; the last of duplicate fields counts.
#[derive(Default)]
struct Head<'a> {
    kind: Option<Cow<'a, str>>,
    subtype: Option<Cow<'a, str>>,
}

impl<'de> Deserialize<'de> for Head<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Head<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Head<'de>, A::Error> {
                let mut head = Head::default();
                while let Some(key) = map.next_key::<Text<'de>>()? {
                    match &*key.0 {
                        "type" => head.kind = word(map.next_value()?),
                        "subtype" => head.subtype = word(map.next_value()?),
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(head)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

/// Returns a string value.
fn word(value: &serde_json::value::RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(value.get()).ok().map(|text| text.0)
}

/// Returns the word. The names in almost all messages need no allocation.
fn known(word: &str) -> Word {
    const WORDS: [&str; 8] =
        ["stream_event", "assistant", "user", "system", "result", "init", "success", "status"];
    WORDS.into_iter().find(|known| *known == word).map_or_else(|| word.to_owned().into(), Word::Borrowed)
}

#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> CliLine {
        CliLine::parse(RawLine::from(text.to_owned()))
    }

    #[test]
    fn non_object_is_noise_and_broken_object_is_malformed() {
        assert!(matches!(parse("[debug] hello"), CliLine::Noise(text) if text == "[debug] hello"));
        assert!(matches!(parse("{\"type\":"), CliLine::Malformed(_)));
        assert!(matches!(parse("{\"type\":\"control_request\"}"), CliLine::Malformed(_)));
    }

    #[test]
    fn unknown_kind_is_a_message_with_its_own_text() {
        let text = r#"{ "type": "new_kind", "n": 12345678901234567890123, "b": 1, "a": 2 }"#;
        let CliLine::Message(message) = parse(text) else { panic!("not a message") };
        assert_eq!((message.kind(), message.subtype(), message.text()), ("new_kind", None, text));
    }

    #[test]
    fn kind_that_is_not_a_string_is_still_a_message() {
        assert!(matches!(parse(r#"{"type":7}"#), CliLine::Message(_)));
        assert!(matches!(parse(r#"{"type":"a","type":"keep_alive"}"#), CliLine::Housekeeping));
    }

    #[test]
    fn success_without_an_answer_is_an_empty_one() {
        let text = r#"{"type":"control_response","response":{"subtype":"success","request_id":"1"}}"#;
        assert!(
            matches!(parse(text), CliLine::Response { outcome: Ok(answer), .. } if answer.text() == "{}")
        );
    }
}
