//! Frames: one line of the protocol as a value. Parsing is total: invalid input becomes a [`Frame`] as well.
//!
//! The parser is liberal: it accepts every message whose kind is clear and keeps the envelope as received. Callers
//! decide whether a frame is acceptable; [`Frame::check_envelope`] is as strict as the real agent.
//! Payloads stay text until they are read as a type.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::object::Key;
use crate::{Extra, Json, Reason, RpcError, depth};

mod fast_path;
mod print;

/// Value of `jsonrpc` in every message.
pub const JSONRPC: &str = "2.0";
/// Value of `factoryApiVersion` in every message.
pub const API_VERSION: &str = "1.0.0";
/// The protocol version that this crate implements, as announced by droid 0.225.2.
pub const PROTOCOL_VERSION: &str = "1.220.0";

/// A short string that usually is one of a few constants, which need no allocation.
pub type Word = Cow<'static, str>;

/// One message, or one line that is not a message.
///
/// ```
/// use musher_wire::Frame;
///
/// let line = r#"{"jsonrpc":"2.0","type":"response","factoryApiVersion":"1.0.0","id":"7","result":{}}"#;
/// let Frame::Response(response) = Frame::parse(line.as_bytes()) else { panic!("not a response") };
/// assert_eq!(response.id.as_str(), Some("7"));
/// assert_eq!(Frame::Response(response).to_line(), line);
///
/// assert!(matches!(Frame::parse(b"oops"), Frame::Malformed(_)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Frame {
    /// A call, which expects a response with its id.
    Request(Request),
    /// The response to a call.
    Response(Response),
    /// A message that expects no response.
    Notification(Notification),
    /// A line that is not a message, with the reason and the text.
    Malformed(Malformed),
}

/// A call, which expects a response with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Id that the response will carry.
    pub id: Id,
    /// The method, such as `droid.initialize_session`.
    pub method: Word,
    /// The parameters. Correct peers always send them.
    pub params: Option<Json>,
    /// The other fields of the message.
    pub envelope: Box<Envelope>,
}

/// The response to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// Id of the call. Null in errors about messages whose id the peer could not or did not read.
    pub id: Id,
    /// The result or the error.
    pub outcome: Result<Json, RpcError>,
    /// The other fields of the message.
    pub envelope: Box<Envelope>,
}

/// A message that expects no response.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// The method, nearly always `droid.session_notification`.
    pub method: Word,
    /// The parameters.
    pub params: Option<Json>,
    /// The other fields of the message.
    pub envelope: Box<Envelope>,
}

/// A line that is not a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Malformed {
    /// Why the line is not a message.
    pub reason: Reason,
    /// The id, if one could be read, so that a pending call with that id can fail at once.
    pub id: Option<Id>,
    /// The text. Invalid UTF-8 is replaced; a line that was too long is truncated.
    pub raw: Box<str>,
}

/// The id of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id {
    /// A string, the only form that correct peers send.
    Text(Box<str>),
    /// A number, as its text.
    Number(Box<str>),
    /// `null`, in errors that belong to no particular call.
    Null,
}

impl Id {
    /// Returns the id if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) | Self::Null => None,
        }
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Id {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Number(text) => f.write_str(text),
            Self::Null => f.write_str("null"),
        }
    }
}

/// The fields around the payload of a message, as received. Boxed in frames, because it is large and frames are moved often.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Envelope {
    /// JSON-RPC version, `2.0`. Wire name: `jsonrpc`.
    pub jsonrpc: Option<Word>,
    /// `request`, `response` or `notification`. Wire name: `type`.
    pub kind: Option<Word>,
    /// API version, `1.0.0`. Wire name: `factoryApiVersion`.
    pub api_version: Option<Word>,
    /// Version of the sender's protocol; not sent by 0.57 and older. Wire name: `factoryProtocolVersion`.
    pub protocol_version: Option<Word>,
    /// Metadata, usually a trace id. Wire name: `_meta`.
    pub meta: Option<Json>,
    /// Fields that this version of the crate does not declare.
    pub extra: Extra,
}

impl Envelope {
    fn of(kind: &'static str) -> Box<Self> {
        Box::new(Self {
            jsonrpc: Some(Word::Borrowed(JSONRPC)),
            kind: Some(Word::Borrowed(kind)),
            api_version: Some(Word::Borrowed(API_VERSION)),
            protocol_version: Some(Word::Borrowed(PROTOCOL_VERSION)),
            meta: None,
            extra: Extra::default(),
        })
    }
}

impl Request {
    /// Creates a call with the current envelope.
    pub fn new(id: impl Into<Id>, method: impl Into<Word>, params: Json) -> Self {
        Self { id: id.into(), method: method.into(), params: Some(params), envelope: Envelope::of(REQUEST) }
    }
}

impl Response {
    /// Creates a response with the current envelope.
    pub fn new(id: Id, outcome: Result<Json, RpcError>) -> Self {
        Self { id, outcome, envelope: Envelope::of(RESPONSE) }
    }
}

impl Notification {
    /// Creates a notification with the current envelope.
    pub fn new(method: impl Into<Word>, params: Json) -> Self {
        Self { method: method.into(), params: Some(params), envelope: Envelope::of(NOTIFICATION) }
    }
}

impl Malformed {
    /// Creates the value for a line longer than `limit` bytes, of which only the beginning was read.
    pub fn too_long(limit: usize, beginning: &[u8]) -> Self {
        let raw = String::from_utf8_lossy(beginning).into_owned().into();
        Self { reason: Reason::TooLong { limit }, id: None, raw }
    }
}

const REQUEST: &str = "request";
const RESPONSE: &str = "response";
const NOTIFICATION: &str = "notification";

impl Frame {
    /// Parses one line, with or without its line end. Never fails: a line that is not a message is [`Frame::Malformed`].
    ///
    /// Invalid UTF-8 is replaced by U+FFFD, as in the real agent.
    pub fn parse(line: &[u8]) -> Self {
        // the check is several times faster than the lossy conversion, which handles each byte
        let text = str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        let text = text.trim_end_matches(['\n', '\r']);
        match classify(text) {
            Ok(frame) => frame,
            Err((reason, id)) => Self::Malformed(Malformed { reason, id, raw: text.into() }),
        }
    }

    /// Returns whether a line is blank. Peers skip such lines without a response.
    pub fn is_blank(line: &[u8]) -> bool {
        line.iter().all(u8::is_ascii_whitespace)
    }

    /// Prints the frame as one line without line breaks. A malformed frame returns the text it was parsed from.
    pub fn to_line(&self) -> String {
        print::line(self)
    }

    /// Checks the envelope as strictly as the real agent, which answers invalid ones with -32700 and a null id.
    pub fn check_envelope(&self) -> Result<(), Reason> {
        let (envelope, kind, id) = match self {
            Self::Request(it) => (&it.envelope, REQUEST, Some(&it.id)),
            Self::Response(it) => (&it.envelope, RESPONSE, None),
            Self::Notification(it) => (&it.envelope, NOTIFICATION, None),
            Self::Malformed(it) => return Err(it.reason.clone()),
        };
        let wrong = if envelope.jsonrpc.as_deref() != Some(JSONRPC) {
            r#""jsonrpc" must be "2.0""#
        } else if envelope.api_version.as_deref() != Some(API_VERSION) {
            r#""factoryApiVersion" must be "1.0.0""#
        } else if envelope.kind.as_deref() != Some(kind) {
            r#""type" must be "request", "response" or "notification""#
        } else if id.is_some_and(|id| id.as_str().is_none()) {
            r#""id" must be a string"#
        } else {
            return Ok(());
        };
        Err(Reason::NotAMessage(wrong))
    }
}

/// The fields of a message before its kind is known.
#[derive(Default)]
struct Fields<'a> {
    envelope: Box<Envelope>,
    id: Option<&'a RawValue>,
    method: Option<Key<'a>>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

type Rejected = (Reason, Option<Id>);

fn classify(text: &str) -> Result<Frame, Rejected> {
    if let Some(notification) = fast_path::notification(text) {
        return Ok(Frame::Notification(notification));
    }
    let fields: Fields<'_> =
        serde_json::from_str(text).map_err(|error| (not_an_object(text, &error), None))?;
    if depth::is_too_deep(text) {
        return Err((Reason::TooDeep, None));
    }
    let id = fields.id.map(read_id).transpose().map_err(|reason| (reason, None))?;
    let reject = |reason: &'static str, id: Option<Id>| Err((Reason::NotAMessage(reason), id));

    let has_answer = fields.result.is_some() || fields.error.is_some();
    match (fields.envelope.kind.as_deref(), &fields.method) {
        (Some(RESPONSE), _) => response(fields, id),
        (Some(REQUEST), None) => reject(r#"a request needs a "method""#, id),
        (Some(NOTIFICATION), None) => reject(r#"a notification needs a "method""#, id),
        (Some(REQUEST), Some(_)) if id.is_none() => reject(r#"a request needs an "id""#, id),
        (Some(NOTIFICATION), Some(_)) => Ok(notification(fields)),
        (_, Some(_)) => Ok(match id {
            Some(id) => request(fields, id),
            None => notification(fields),
        }),
        (_, None) if has_answer => response(fields, id),
        (_, None) => reject(r#"neither "method", "result" nor "error""#, id),
    }
}

fn request(fields: Fields<'_>, id: Id) -> Frame {
    Frame::Request(Request {
        id,
        method: fields.method.map(word).unwrap_or_default(),
        params: fields.params.map(Json::from),
        envelope: fields.envelope,
    })
}

fn notification(fields: Fields<'_>) -> Frame {
    let mut envelope = fields.envelope;
    if let Some(id) = fields.id {
        envelope.extra.push("id", id.into());
    }
    Frame::Notification(Notification {
        method: fields.method.map(word).unwrap_or_default(),
        params: fields.params.map(Json::from),
        envelope,
    })
}

fn response(fields: Fields<'_>, id: Option<Id>) -> Result<Frame, Rejected> {
    let mut envelope = fields.envelope;
    if let Some(params) = fields.params {
        envelope.extra.push("params", params.into());
    }
    if let Some(method) = fields.method {
        envelope.extra.push("method", Json::from(serde_json::Value::from(method.as_str())));
    }
    let reject = |reason: &'static str, id: Option<Id>| Err((Reason::NotAMessage(reason), id));
    let is_null = |value: &&RawValue| value.get() == "null";
    let outcome = match (fields.result, fields.error) {
        (Some(result), None) => Ok(result.into()),
        // some JSON-RPC libraries print both members, one of them null
        (Some(result), Some(error)) if is_null(&error) => {
            envelope.extra.push("error", error.into());
            Ok(result.into())
        }
        (result, Some(error)) if result.is_none_or(|result| is_null(&result)) => {
            if let Some(result) = result {
                envelope.extra.push("result", result.into());
            }
            match serde_json::from_str(error.get()) {
                Ok(error) => Err(error),
                Err(_) => return reject(r#""error" must have a "code" and a "message""#, id),
            }
        }
        _ => return reject(r#"a response needs one of "result" and "error""#, id),
    };
    match id {
        Some(id) => Ok(Frame::Response(Response { id, outcome, envelope })),
        None => reject(r#"a response needs an "id""#, None),
    }
}

/// Returns why `text` is not an object: the parser's error, unless the text is valid JSON of another type.
fn not_an_object(text: &str, error: &serde_json::Error) -> Reason {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) if raw.get().starts_with('{') => Reason::NotAMessage("an envelope field has the wrong type"),
        Ok(_) => Reason::NotAnObject,
        Err(_) => Reason::NotJson(error.to_string().into()),
    }
}

fn read_id(raw: &RawValue) -> Result<Id, Reason> {
    match raw.get().as_bytes().first() {
        Some(b'"') => serde_json::from_str(raw.get())
            .map(Id::Text)
            .map_err(|error| Reason::NotJson(error.to_string().into())),
        Some(b'-' | b'0'..=b'9') => Ok(Id::Number(raw.get().into())),
        Some(b'n') => Ok(Id::Null),
        _ => Err(Reason::NotAMessage(r#""id" must be a string"#)),
    }
}

fn word(key: Key<'_>) -> Word {
    const COMMON: [&str; 8] = [
        JSONRPC,
        REQUEST,
        RESPONSE,
        NOTIFICATION,
        API_VERSION,
        PROTOCOL_VERSION,
        "1.15.0",
        "droid.session_notification",
    ];
    match COMMON.iter().find(|common| **common == key.as_str()) {
        Some(common) => Word::Borrowed(common),
        None => Word::Owned(key.into_string()),
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Message;

        impl<'de> Visitor<'de> for Message {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Fields::default();
                let envelope = &mut fields.envelope;
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    match key.as_str() {
                        "jsonrpc" => envelope.jsonrpc = Some(word(map.next_value()?)),
                        "type" => envelope.kind = Some(word(map.next_value()?)),
                        "factoryApiVersion" => envelope.api_version = Some(word(map.next_value()?)),
                        "factoryProtocolVersion" => envelope.protocol_version = Some(word(map.next_value()?)),
                        "_meta" => envelope.meta = Some(map.next_value()?),
                        "id" => fields.id = Some(map.next_value()?),
                        "method" => fields.method = Some(map.next_value()?),
                        "params" => fields.params = Some(map.next_value()?),
                        "result" => fields.result = Some(map.next_value()?),
                        "error" => fields.error = Some(map.next_value()?),
                        other => envelope.extra.push(other, map.next_value()?),
                    }
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(Message)
    }
}
