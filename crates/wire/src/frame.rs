//! One line of the protocol as a value. Parsing is total: every input is a [`Frame`], bad input included.
//!
//! The parser is liberal: it takes what it can tell apart and keeps the envelope as it came. Whether a frame is good
//! enough to act on is for the layers above; [`Frame::check_envelope`] answers as strictly as the real agent does.
//! Payloads stay text until someone asks for them by type.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::object::Key;
use crate::{Extra, Json, Reason, RpcError, depth};

mod print;
mod usual;

/// The value of `jsonrpc` in every message.
pub const JSONRPC: &str = "2.0";
/// The value of `factoryApiVersion` in every message.
pub const API_VERSION: &str = "1.0.0";
/// The protocol version whose shapes this crate knows, as droid 0.225.2 names it.
pub const PROTOCOL_VERSION: &str = "1.220.0";

/// A short word that nearly always has one of a few values, which then cost no allocation.
pub type Word = Cow<'static, str>;

/// One message, or one line that is none.
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
    /// A call that wants an answer with its id.
    Request(Request),
    /// The answer to a call.
    Response(Response),
    /// News that wants no answer.
    Notification(Notification),
    /// A line that is no message, with the reason and the text.
    Malformed(Malformed),
}

/// A call that wants an answer with its id.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// What the answer will carry.
    pub id: Id,
    /// Which method is called, such as `droid.initialize_session`.
    pub method: Word,
    /// The arguments. Always sent by a correct peer.
    pub params: Option<Json>,
    /// The rest of the message.
    pub envelope: Box<Envelope>,
}

/// The answer to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The id of the call; null in errors about messages whose id the peer could not read, or did not care to.
    pub id: Id,
    /// What came of it.
    pub outcome: Result<Json, RpcError>,
    /// The rest of the message.
    pub envelope: Box<Envelope>,
}

/// News that wants no answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// What kind of news, nearly always `droid.session_notification`.
    pub method: Word,
    /// The news.
    pub params: Option<Json>,
    /// The rest of the message.
    pub envelope: Box<Envelope>,
}

/// A line that is no message.
#[derive(Debug, Clone, PartialEq)]
pub struct Malformed {
    /// What is wrong with it.
    pub reason: Reason,
    /// Its id, if one could be read: who waits for that id can stop waiting.
    pub id: Option<Id>,
    /// Its text. Invalid UTF-8 is replaced; of a line that was too long only the beginning is here.
    pub raw: Box<str>,
}

/// What identifies a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id {
    /// A string: the only kind that a correct peer sends.
    Text(Box<str>),
    /// A number, as its text.
    Number(Box<str>),
    /// `null`, in errors that answer no particular call.
    Null,
}

impl Id {
    /// The id if it is a string.
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

/// What surrounds the payload of every message, as it came. Frames keep it boxed: they are moved often, and it is large.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Envelope {
    /// `jsonrpc`
    pub jsonrpc: Option<Word>,
    /// `type`: `request`, `response` or `notification`
    pub kind: Option<Word>,
    /// `factoryApiVersion`
    pub api_version: Option<Word>,
    /// `factoryProtocolVersion`, which 0.57 and older do not send
    pub protocol_version: Option<Word>,
    /// `_meta`, mostly a trace id
    pub meta: Option<Json>,
    /// Fields this version of the crate does not name.
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
    /// A call as we send it.
    pub fn new(id: impl Into<Id>, method: impl Into<Word>, params: Json) -> Self {
        Self { id: id.into(), method: method.into(), params: Some(params), envelope: Envelope::of(REQUEST) }
    }
}

impl Response {
    /// An answer as we send it.
    pub fn new(id: Id, outcome: Result<Json, RpcError>) -> Self {
        Self { id, outcome, envelope: Envelope::of(RESPONSE) }
    }
}

impl Notification {
    /// News as we send it.
    pub fn new(method: impl Into<Word>, params: Json) -> Self {
        Self { method: method.into(), params: Some(params), envelope: Envelope::of(NOTIFICATION) }
    }
}

impl Malformed {
    /// A line of which only the beginning was read, because it is longer than `limit`.
    pub fn too_long(limit: usize, beginning: &[u8]) -> Self {
        let raw = String::from_utf8_lossy(beginning).into_owned().into();
        Self { reason: Reason::TooLong { limit }, id: None, raw }
    }
}

const REQUEST: &str = "request";
const RESPONSE: &str = "response";
const NOTIFICATION: &str = "notification";

impl Frame {
    /// Reads one line, with or without its line end. Never fails: what is no message is [`Frame::Malformed`].
    ///
    /// Invalid UTF-8 is replaced by U+FFFD and read on, as the real agent does.
    pub fn parse(line: &[u8]) -> Self {
        // checking first is several times faster than the lossy conversion, which looks at each byte
        let text = str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
        let text = text.trim_end_matches(['\n', '\r']);
        match classify(text) {
            Ok(frame) => frame,
            Err((reason, id)) => Self::Malformed(Malformed { reason, id, raw: text.into() }),
        }
    }

    /// Whether a line holds nothing: such lines are skipped by every peer, without an answer.
    pub fn is_blank(line: &[u8]) -> bool {
        line.iter().all(u8::is_ascii_whitespace)
    }

    /// The line, without a line end and without a line break inside. A malformed frame gives back the text it came from.
    pub fn to_line(&self) -> String {
        print::line(self)
    }

    /// What the real agent would reject in this frame's envelope, which answers -32700 without an id.
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
        Err(Reason::NoMessage(wrong))
    }
}

/// The fields of any message, before it is known which kind it is.
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
    if let Some(notification) = usual::notification(text) {
        return Ok(Frame::Notification(notification));
    }
    let fields: Fields<'_> = serde_json::from_str(text).map_err(|error| (no_object(text, &error), None))?;
    if depth::is_too_deep(text) {
        return Err((Reason::TooDeep, None));
    }
    let id = fields.id.map(read_id).transpose().map_err(|reason| (reason, None))?;
    let reject = |reason: &'static str, id: Option<Id>| Err((Reason::NoMessage(reason), id));

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
    let reject = |reason: &'static str, id: Option<Id>| Err((Reason::NoMessage(reason), id));
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

/// Why `text` is no object: the parser's error, unless the text is valid JSON of another kind.
fn no_object(text: &str, error: &serde_json::Error) -> Reason {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) if raw.get().starts_with('{') => Reason::NoMessage("an envelope field has the wrong type"),
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
        _ => Err(Reason::NoMessage(r#""id" must be a string"#)),
    }
}

fn word(key: Key<'_>) -> Word {
    const USUAL: [&str; 8] = [
        JSONRPC,
        REQUEST,
        RESPONSE,
        NOTIFICATION,
        API_VERSION,
        PROTOCOL_VERSION,
        "1.15.0",
        "droid.session_notification",
    ];
    match USUAL.iter().find(|usual| **usual == key.as_str()) {
        Some(usual) => Word::Borrowed(usual),
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
