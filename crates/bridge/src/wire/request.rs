//! Parses a line of the front end: a request, or exactly what is wrong with it.

use musher_claude::{Extra, Json};
use musher_rpc::RawLine;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::frame::{Code, ErrorPayload};
use super::payload::{CreatePayload, QueryPayload, SendPayload, SessionOptions, kind_of};

/// A request of the front end.
#[derive(Debug)]
pub(crate) enum Request {
    Create(Box<Create>),
    /// A command for a session.
    Session {
        id: String,
        session_id: String,
        command: Command,
    },
}

/// A request for a new session.
#[derive(Debug)]
pub(crate) struct Create {
    pub(crate) id: String,
    /// `None` if the prompt is blank.
    pub(crate) prompt: Option<PromptContent>,
    pub(crate) cwd: String,
    pub(crate) options: SessionOptions,
    /// The unknown keys of the options.
    pub(crate) unknown_options: Vec<String>,
}

/// The content of a user message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PromptContent {
    Text(String),
    /// Content blocks, each an object.
    Blocks(Vec<Json>),
}

/// A command for a session.
#[derive(Debug)]
pub(crate) enum Command {
    Send(PromptContent),
    Interrupt,
    Kill,
    Answer(Extra),
    Query { method: String, args: Vec<Json> },
}

/// Why a line is not a request, with the ids it had.
#[derive(Debug)]
pub(crate) struct Invalid {
    pub(crate) id: Option<String>,
    pub(crate) session_id: Option<String>,
    pub(crate) error: Box<ErrorPayload>,
}

impl Invalid {
    pub(crate) fn frame(&self) -> String {
        self.error.frame(self.id.as_deref(), self.session_id.as_deref())
    }
}

impl Request {
    /// Parses a line; `None` if it is blank.
    pub(crate) fn parse(line: &RawLine) -> Option<Result<Self, Invalid>> {
        let nameless = |message: &str| Invalid {
            id: None,
            session_id: None,
            error: Box::new(ErrorPayload::new(Code::InvalidMessage, message)),
        };
        if line.is_cut() {
            return Some(Err(nameless("the line is too long")));
        }
        let bytes = line.bytes().strip_prefix("\u{feff}".as_bytes()).unwrap_or(line.bytes());
        let Ok(text) = str::from_utf8(bytes) else { return Some(Err(nameless("the line is not UTF-8"))) };
        if text.trim().is_empty() {
            return None;
        }
        let fields = match serde_json::from_str::<Extra>(text) {
            Ok(fields) => fields,
            Err(error) if error.is_data() => return Some(Err(nameless("the line is not a JSON object"))),
            Err(error) => return Some(Err(nameless(&format!("the line is not JSON: {error}")))),
        };
        Some(Envelope::new(&fields).request())
    }
}

/// The four fields of every message.
struct Envelope<'a> {
    kind: Option<String>,
    id: Option<String>,
    session_id: Option<String>,
    payload: Option<&'a Json>,
}

impl<'a> Envelope<'a> {
    fn new(fields: &'a Extra) -> Self {
        let word = |name| fields.get(name).and_then(|value| value.to().ok());
        Self {
            kind: word("type"),
            id: word("id"),
            session_id: word("session_id"),
            payload: fields.get("payload").filter(|payload| !payload.is_null()),
        }
    }

    fn request(self) -> Result<Request, Invalid> {
        let kind =
            self.kind.clone().ok_or_else(|| self.invalid("missing or invalid `type`: expected a string"))?;
        if ![
            "session.create",
            "session.send",
            "session.interrupt",
            "session.kill",
            "callback.response",
            "query.call",
        ]
        .contains(&kind.as_str())
        {
            return Err(self.invalid(format!("unknown message type `{kind}`")));
        }
        let id = self.id.clone().ok_or_else(|| self.invalid("missing or invalid `id`: expected a string"))?;
        if kind == "session.create" {
            return self.create(id).map(|create| Request::Create(Box::new(create)));
        }
        let session_id = self
            .session_id
            .clone()
            .ok_or_else(|| self.invalid("missing or invalid `session_id`: expected a string"))?;
        let command = match kind.as_str() {
            "session.send" => {
                let SendPayload { message, content } = self.read()?;
                Command::Send(self.content("message", message, content)?)
            }
            "session.interrupt" => Command::Interrupt,
            "session.kill" => Command::Kill,
            "callback.response" => Command::Answer(self.read()?),
            _ => {
                let QueryPayload { method, args } = self.read()?;
                let method = method.ok_or_else(|| self.wrong("method", "a string"))?;
                Command::Query { method, args: args.unwrap_or_default() }
            }
        };
        Ok(Request::Session { id, session_id, command })
    }

    fn create(&self, id: String) -> Result<Create, Invalid> {
        let payload: CreatePayload = self.read()?;
        let cwd = payload.cwd.ok_or_else(|| self.wrong("cwd", "a string"))?;
        let is_blank =
            payload.content.is_none() && payload.prompt.as_ref().is_some_and(|it| it.trim().is_empty());
        let content = self.content("prompt", payload.prompt, payload.content)?;
        Ok(Create {
            id,
            prompt: (!is_blank).then_some(content),
            cwd,
            options: payload.options.unwrap_or_default(),
            unknown_options: self.unknown_options(),
        })
    }

    fn content(
        &self,
        field: &str,
        text: Option<String>,
        content: Option<Vec<Json>>,
    ) -> Result<PromptContent, Invalid> {
        match (content, text) {
            (Some(blocks), _) => match blocks.iter().find(|block| kind_of(block.text()) != "object") {
                Some(_) => Err(self.wrong("content", "a list of content blocks")),
                None => Ok(PromptContent::Blocks(blocks)),
            },
            (None, Some(text)) => Ok(PromptContent::Text(text)),
            (None, None) => Err(self.wrong(field, "a string")),
        }
    }

    fn unknown_options(&self) -> Vec<String> {
        let field = |json: &Json, name| json.to::<Extra>().ok().and_then(|it| it.get(name).cloned());
        let options = self.payload.and_then(|payload| field(payload, "options"));
        let options: Extra = options.and_then(|options| options.to().ok()).unwrap_or_default();
        let names = options.iter().map(|(name, _)| name);
        names.filter(|name| !SessionOptions::NAMES.contains(name)).map(ToOwned::to_owned).collect()
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T, Invalid> {
        let payload = self.payload.ok_or_else(|| self.invalid("missing `payload`"))?;
        if kind_of(payload.text()) != "object" {
            return Err(self.invalid("invalid `payload`: expected an object"));
        }
        let read = &mut serde_json::Deserializer::from_str(payload.text());
        serde_path_to_error::deserialize(read).map_err(|error| {
            let path = error.path().to_string();
            let (path, text) = deepest(path, &error.inner().to_string());
            let expected = text.rsplit_once(", expected ").map_or(text.as_str(), |(_, expected)| expected);
            let message = format!("invalid `payload.{path}`: {text}");
            self.invalid(message).details(json!({"path": path, "expected": expected}))
        })
    }

    fn wrong(&self, path: &str, expected: &str) -> Invalid {
        let message = format!("missing or invalid `payload.{path}`: expected {expected}");
        self.invalid(message).details(json!({"path": path, "expected": expected}))
    }

    fn invalid(&self, message: impl Into<String>) -> Invalid {
        Invalid {
            id: self.id.clone(),
            session_id: self.session_id.clone(),
            error: Box::new(ErrorPayload::new(Code::InvalidMessage, message)),
        }
    }
}

impl Invalid {
    fn details(mut self, details: serde_json::Value) -> Self {
        self.error = Box::new(self.error.details(details));
        self
    }
}

/// Returns the whole path and the plain message of an error: an object that is passed on has its part of the path in its message.
fn deepest(path: String, text: &str) -> (String, String) {
    let text = text.rsplit_once(" at line ").map_or(text, |(text, _)| text);
    match text.strip_prefix("in `").and_then(|rest| rest.split_once("`: ")) {
        Some((".", inner)) => (path, plain(inner)),
        Some((below, inner)) => (format!("{path}.{below}"), plain(inner)),
        None => (path, text.to_owned()),
    }
}

fn plain(text: &str) -> String {
    text.rsplit_once(" at line ").map_or(text, |(text, _)| text).to_owned()
}
