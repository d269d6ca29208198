//! The three vendor formats as pure functions: request to JSON body, server-sent event to [`ModelEvent`]s.
//!
//! Each format is one file with the same parts: `body`, and a decoder with `event`. None does IO.

mod answer;
mod anthropic;
mod openai_chat;
mod openai_responses;
mod openai_tools;

use musher_http::SseEvent;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{ErrorClass, ModelError, ModelEvent, Request};
use answer::Answer;

/// A vendor's way to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// `POST <base>/chat/completions`, which many vendors imitate.
    OpenaiChat,
    /// `POST <base>/responses`.
    OpenaiResponses,
    /// `POST <base>/v1/messages`.
    Anthropic,
}

/// In what a vendor differs from others of its format, and what the user wants added.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct FormatOptions {
    /// Chat: the limit of output tokens goes by its newer name.
    pub max_completion_tokens: bool,
    /// Chat: earlier thinking is sent back in `reasoning_content`, as some vendors demand in tool loops.
    pub replay_reasoning: bool,
    /// Chat: no `stream_options`, for servers that refuse what they do not know.
    pub no_stream_options: bool,
    /// Chat and responses: no word on effort, for models that do not think.
    pub no_effort: bool,
    /// Anthropic: the model decides how much to think, and effort is a hint.
    pub adaptive_thinking: bool,
    /// Fields added to the body, over ours.
    pub extra: Map<String, Value>,
}

impl Format {
    /// The body of the request.
    ///
    /// Calls and results are paired first, so that no vendor refuses the conversation for a hole in it.
    pub fn body(self, request: &Request, options: &FormatOptions) -> Value {
        let messages = crate::paired(&request.messages);
        let mut body = match self {
            Self::OpenaiChat => openai_chat::body(request, &messages, options),
            Self::OpenaiResponses => openai_responses::body(request, &messages, options),
            Self::Anthropic => anthropic::body(request, &messages, options),
        };
        if let Value::Object(fields) = &mut body {
            fields.extend(options.extra.clone());
        }
        body
    }

    /// The address to post to, below a base address.
    ///
    /// ```
    /// use musher_model::Format;
    ///
    /// assert_eq!(Format::OpenaiChat.url("https://host/v1/"), "https://host/v1/chat/completions");
    /// assert_eq!(Format::Anthropic.url("https://host"), "https://host/v1/messages");
    /// assert_eq!(Format::Anthropic.url("https://host/v1"), "https://host/v1/messages");
    /// ```
    pub fn url(self, base: &str) -> String {
        let base = base.trim_end_matches('/');
        match self {
            Self::OpenaiChat => format!("{base}/chat/completions"),
            Self::OpenaiResponses => format!("{base}/responses"),
            Self::Anthropic => format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base)),
        }
    }

    /// A decoder at the beginning of an answer.
    pub fn decoder(self) -> Decoder {
        let state = match self {
            Self::OpenaiChat => State::Chat(openai_chat::State::default()),
            Self::OpenaiResponses => State::Responses(openai_responses::State::default()),
            Self::Anthropic => State::Anthropic(anthropic::State::default()),
        };
        Decoder { answer: Answer::default(), state }
    }

    /// The error in the body of a response that is none.
    pub fn error(self, status: u16, body: &str) -> ModelError {
        Self::told_error(status, body)
            .unwrap_or_else(|| ModelError::reported(status, "", unexplained(status, body)))
    }

    /// The error a body tells of. The three formats agree: an object `error` with `message`, `type` and perhaps `code`.
    pub(crate) fn told_error(status: u16, body: &str) -> Option<ModelError> {
        reported(status, &serde_json::from_str(body).ok()?)
    }
}

/// Turns server-sent events into [`ModelEvent`]s.
#[derive(Debug)]
pub struct Decoder {
    answer: Answer,
    state: State,
}

#[derive(Debug)]
enum State {
    Chat(openai_chat::State),
    Responses(openai_responses::State),
    Anthropic(anthropic::State),
}

impl Decoder {
    /// Takes the next event. After an error nothing more is to be expected.
    pub fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.answer.is_over() {
            return Ok(());
        }
        match &mut self.state {
            State::Chat(state) => state.event(event, &mut self.answer, out),
            State::Responses(state) => state.event(event, &mut self.answer, out),
            State::Anthropic(state) => state.event(event, &mut self.answer, out),
        }
    }

    /// The response is over: gives what was held back until its proper end, or says that there was none.
    pub fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.answer.is_over() {
            return Ok(());
        }
        match &self.state {
            // its last words are optional: the finish reason is what counts
            State::Chat(_) if self.answer.has_finish() => self.answer.complete(out),
            _ => Err(ModelError::new(ErrorClass::Cut, "the answer ended before its end")),
        }
    }

    /// Whether the answer is complete, so that nothing more has to be read.
    pub fn is_over(&self) -> bool {
        self.answer.is_over()
    }
}

/// The data of an event, or what is wrong with it.
fn read<'a, T: Deserialize<'a>>(event: &'a SseEvent) -> Result<T, ModelError> {
    serde_json::from_str(&event.data).map_err(|error| {
        let start: String = event.data.chars().take(200).collect();
        ModelError::new(ErrorClass::Protocol, format!("the answer cannot be read ({error}): {start}"))
    })
}

/// An error object, wherever it stands.
fn reported(status: u16, value: &Value) -> Option<ModelError> {
    // some gateways wrap the whole in a list
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let message = error.as_str().or_else(|| text("message")).or_else(|| value.get("message")?.as_str())?;
    // the code is the more exact word where there is one; some vendors put the status there
    let number = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let kind = text("code").or_else(|| text("type")).unwrap_or_default();
    let status = if status == 0 { number.unwrap_or(0) } else { status };
    Some(ModelError::reported(status, kind, message))
}

fn unexplained(status: u16, body: &str) -> String {
    let start: String = body.trim().chars().take(300).collect();
    if start.is_empty() {
        format!("the vendor answered with status {status}")
    } else {
        format!("the vendor answered with status {status}: {start}")
    }
}

#[cfg(test)]
mod tests;
