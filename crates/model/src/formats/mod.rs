//! The three vendor formats as pure functions: request to JSON body, server-sent event to [`ModelEvent`]s.
//!
//! Each format is one file with the same parts: `body`, and a decoder with `event`. None of them does IO.

mod answer;
mod anthropic;
mod openai_chat;
mod openai_responses;
mod openai_tools;

use musher_http::SseEvent;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{ErrorClass, ModelError, ModelEvent, Reasoning, Request, Verbosity};
use answer::Answer;

/// The maximum length of the message of a vendor behind a gateway, in characters.
const MAX_UPSTREAM: usize = 1000;

/// The value of `anthropic-beta` with which a model thinks between tool calls.
const INTERLEAVED_THINKING: &str = "interleaved-thinking-2025-05-14";

/// The API format of a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// `OpenAI` chat completions: `POST <base>/chat/completions`. Many vendors are compatible with it.
    OpenaiChat,
    /// `OpenAI` responses: `POST <base>/responses`.
    OpenaiResponses,
    /// Anthropic messages: `POST <base>/v1/messages`.
    Anthropic,
}

/// Deviations of a vendor from its format, and additional fields of the user.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct FormatOptions {
    /// Chat: send the output limit as `max_completion_tokens` instead of `max_tokens`.
    pub max_completion_tokens: bool,
    /// Chat: send earlier reasoning back in `reasoning_content`, which some vendors require in tool loops.
    pub replay_reasoning: bool,
    /// Chat: omit `stream_options`, for servers that reject unknown fields.
    pub no_stream_options: bool,
    /// How the model is asked to reason. Default: by a budget in the Anthropic format, by an effort in the others.
    pub reasoning: Option<Reasoning>,
    /// Anthropic: the model thinks between tool calls only if a beta header asks for it.
    pub interleaves_by_header: bool,
    /// Chat and responses: how long answers should be, for models that know it.
    pub verbosity: Option<Verbosity>,
    /// Additional fields of the body. They override the default ones.
    pub extra: Map<String, Value>,
}

impl Format {
    /// Returns the body of the request.
    ///
    /// Pairs tool calls and results first, because vendors reject conversations with unpaired calls.
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

    /// Returns the beta header that a request needs, if it needs one.
    ///
    /// Claude models before 4.6 think between tool calls only with it (Anthropic, "Interleaved thinking", November 2026).
    pub(crate) fn beta_header(body: &Value, options: &FormatOptions) -> Option<&'static str> {
        let is_thinking = body["thinking"]["type"] == "enabled" && body.get("tools").is_some();
        (options.interleaves_by_header && is_thinking).then_some(INTERLEAVED_THINKING)
    }

    /// Returns the URL for requests, given a base URL.
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

    /// Creates a decoder for one answer.
    pub fn decoder(self) -> Decoder {
        let state = match self {
            Self::OpenaiChat => State::Chat(openai_chat::State::default()),
            Self::OpenaiResponses => State::Responses(openai_responses::State::default()),
            Self::Anthropic => State::Anthropic(anthropic::State::default()),
        };
        Decoder { answer: Answer::default(), state }
    }

    /// Returns the error that a failed response reports.
    pub fn error(self, status: u16, body: &str) -> ModelError {
        Self::reported_error(status, body)
            .unwrap_or_else(|| ModelError::reported(status, "", unexplained(status, body)))
    }

    /// Returns the error that a body contains. All formats use an object `error` with `message`, `type` and optionally `code`.
    pub(crate) fn reported_error(status: u16, body: &str) -> Option<ModelError> {
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
    /// Decodes the next event. After an error, no further events follow.
    pub fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.answer.is_over() {
            return Ok(());
        }
        let decoded = match &mut self.state {
            State::Chat(state) => state.event(event, &mut self.answer, out),
            State::Responses(state) => state.event(event, &mut self.answer, out),
            State::Anthropic(state) => state.event(event, &mut self.answer, out),
        };
        decoded.inspect_err(|_| self.answer.report_usage(out))
    }

    /// Handles the end of the response: emits the withheld events, or fails if the answer was truncated.
    pub fn end(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.answer.is_over() {
            return Ok(());
        }
        let ended = match &self.state {
            // the `[DONE]` event is optional: the finish reason alone ends the answer
            State::Chat(_) if self.answer.has_finish() => self.answer.complete(out),
            _ => Err(ModelError::new(ErrorClass::Cut, "the answer was truncated: the stream ended early")),
        };
        ended.inspect_err(|_| self.answer.report_usage(out))
    }

    /// Returns whether the answer is complete, so that the rest of the response can be ignored.
    pub fn is_over(&self) -> bool {
        self.answer.is_over()
    }
}

/// Parses the data of an event.
fn read<'a, T: Deserialize<'a>>(event: &'a SseEvent) -> Result<T, ModelError> {
    serde_json::from_str(&event.data).map_err(|error| {
        let start: String = event.data.chars().take(200).collect();
        ModelError::new(ErrorClass::Protocol, format!("cannot parse the answer: {error}: {start}"))
    })
}

/// Returns the error in an error object, at any of its usual places.
fn reported(status: u16, value: &Value) -> Option<ModelError> {
    // some gateways wrap the object in a list
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let message = error.as_str().or_else(|| text("message")).or_else(|| value.get("message")?.as_str())?;
    // `code` is more specific than `type`; some vendors put the HTTP status into it
    let number = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let codes: Vec<&str> = [text("code"), text("type")].into_iter().flatten().collect();
    let status = if status == 0 { number.unwrap_or(0) } else { status };
    let details = upstream(error);
    let message = match details.as_deref() {
        Some(details) if !message.contains(details) => format!("{message}: {details}"),
        _ => message.to_owned(),
    };
    Some(ModelError::with_codes(status, &codes, message))
}

/// Returns the message of the vendor behind a gateway (`metadata.raw` of `OpenRouter`).
fn upstream(error: &Value) -> Option<String> {
    let raw = error.get("metadata")?.get("raw")?;
    let parsed = raw.as_str().and_then(|raw| serde_json::from_str::<Value>(raw).ok());
    let value = parsed.as_ref().unwrap_or(raw);
    let inner = value.get(0).unwrap_or(value);
    let inner = inner.get("error").unwrap_or(inner);
    let message = inner.get("message").and_then(Value::as_str).or_else(|| inner.as_str()).or(raw.as_str())?;
    Some(message.chars().take(MAX_UPSTREAM).collect())
}

fn unexplained(status: u16, body: &str) -> String {
    let start: String = body.trim().chars().take(300).collect();
    if start.is_empty() {
        format!("the vendor returned status {status}")
    } else {
        format!("the vendor returned status {status}: {start}")
    }
}

#[cfg(test)]
mod tests;
