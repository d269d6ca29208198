//! A response of the model as it arrives: the events for clients, and the complete response. Pure.

use std::sync::Arc;
use std::time::Instant;

use musher_model::{ErrorClass, FinishReason, ModelEvent, Retry, ToolCall, Usage};
use serde_json::Map;

use crate::Event;
use crate::event::{RetryReason, WorkingState};
use musher_message::Content;

/// The maximum number of equal text deltas in a row; more are a malfunction of the model.
const MAX_EQUAL_DELTAS: usize = 50;

/// An incomplete response.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) message_id: Arc<str>,
    content: Vec<Content>,
    open: Open,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    is_streaming: bool,
    last_delta: String,
    equal_deltas: usize,
}

#[derive(Debug, Clone, Copy)]
enum Open {
    Nothing,
    Text,
    Thinking(Instant),
}

/// What an event of the model leads to.
#[derive(Debug)]
pub(crate) enum Progress {
    /// The response is not complete.
    More,
    /// The model repeats itself endlessly.
    Degenerate,
    /// The response is complete.
    Complete(Box<ModelResponse>),
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct ModelResponse {
    pub(crate) message_id: Arc<str>,
    pub(crate) content: Vec<Content>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) usage: Usage,
    pub(crate) reason: FinishReason,
}

impl ModelResponse {
    /// The text of the response, without thinking.
    pub(crate) fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl Draft {
    pub(crate) fn new(message_id: Arc<str>) -> Self {
        Self {
            message_id,
            content: Vec::new(),
            open: Open::Nothing,
            calls: Vec::new(),
            usage: None,
            is_streaming: false,
            last_delta: String::new(),
            equal_deltas: 0,
        }
    }

    /// Adds an event of the model. Appends the events for clients to `out`.
    pub(crate) fn take(&mut self, event: ModelEvent, now: Instant, out: &mut Vec<Event>) -> Progress {
        match event {
            ModelEvent::TextDelta(text) => {
                if self.is_repetition(&text) {
                    return Progress::Degenerate;
                }
                self.end_thinking(now, out);
                self.stream(out);
                if !matches!(self.open, Open::Text) {
                    self.open = Open::Text;
                    self.content.push(Content::Text(String::new()));
                }
                let block = self.content.len().saturating_sub(1);
                if let Some(Content::Text(all)) = self.content.last_mut() {
                    all.push_str(&text);
                }
                out.push(Event::TextDelta { message_id: Arc::clone(&self.message_id), block, text });
            }
            ModelEvent::ThinkingDelta(text) => {
                self.end_text(out);
                if !matches!(self.open, Open::Thinking(_)) {
                    self.open = Open::Thinking(now);
                    self.content.push(Content::Thinking(musher_model::Thinking::default()));
                }
                let block = self.content.len().saturating_sub(1);
                if let Some(Content::Thinking(all)) = self.content.last_mut() {
                    all.text.push_str(&text);
                }
                out.push(Event::ThinkingDelta { message_id: Arc::clone(&self.message_id), block, text });
            }
            ModelEvent::ThinkingEnd(thinking) => {
                if let (Open::Thinking(_), Some(Content::Thinking(all))) =
                    (self.open, self.content.last_mut())
                {
                    *all = thinking;
                    self.end_thinking(now, out);
                } else {
                    // hidden thinking, which is only sent back to the vendor
                    self.end_text(out);
                    self.content.push(Content::Thinking(thinking));
                }
            }
            ModelEvent::ToolStart { id, name, .. } => {
                self.end_thinking(now, out);
                self.stream(out);
                out.push(Event::ToolCall { id, name, input: Map::new() });
            }
            ModelEvent::ToolCall(call) => self.calls.push(call),
            ModelEvent::Usage(usage) => self.usage = Some(usage),
            ModelEvent::Retry(retry) => self.retry(&retry, out),
            ModelEvent::Finish(reason) => {
                self.end_thinking(now, out);
                self.end_text(out);
                return Progress::Complete(Box::new(self.complete(reason, out)));
            }
            _ => {}
        }
        Progress::More
    }

    /// Whether clients have got any part of it.
    pub(crate) fn has_shown(&self) -> bool {
        self.is_streaming || !self.content.is_empty()
    }

    /// Starts again, under the same id.
    pub(crate) fn retract(&mut self, out: &mut Vec<Event>) {
        out.push(Event::Retracted { message_id: Arc::clone(&self.message_id) });
        *self = Self { is_streaming: self.is_streaming, ..Self::new(Arc::clone(&self.message_id)) };
    }

    fn retry(&mut self, retry: &Retry, out: &mut Vec<Event>) {
        out.push(Event::Retry { attempt: retry.attempt, reason: retry_reason(retry.reason) });
        self.retract(out);
    }

    fn complete(&mut self, reason: FinishReason, out: &mut Vec<Event>) -> ModelResponse {
        let calls = std::mem::take(&mut self.calls);
        let mut content = std::mem::take(&mut self.content);
        for call in &calls {
            let tool = call.to_use();
            // without arguments there is nothing to add to the first event
            if !tool.input.is_empty() {
                let (id, name, input) = (tool.id.clone(), tool.name.clone(), tool.input.clone());
                out.push(Event::ToolCall { id, name, input });
            }
            content.push(Content::ToolUse(tool));
        }
        let usage = self.usage.take().unwrap_or_default();
        ModelResponse { message_id: Arc::clone(&self.message_id), content, calls, usage, reason }
    }

    fn stream(&mut self, out: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.is_streaming, true) {
            out.push(Event::State(WorkingState::Streaming));
        }
    }

    fn end_text(&mut self, out: &mut Vec<Event>) {
        if matches!(self.open, Open::Text) {
            self.open = Open::Nothing;
            let block = self.content.len().saturating_sub(1);
            out.push(Event::TextComplete { message_id: Arc::clone(&self.message_id), block });
        }
    }

    fn end_thinking(&mut self, now: Instant, out: &mut Vec<Event>) {
        if let Open::Thinking(since) = self.open {
            self.open = Open::Nothing;
            let (message_id, block) = (Arc::clone(&self.message_id), self.content.len().saturating_sub(1));
            out.push(Event::ThinkingComplete { message_id, block, took: now.duration_since(since) });
        }
    }

    fn is_repetition(&mut self, piece: &str) -> bool {
        if piece.trim().is_empty() || piece != self.last_delta {
            self.equal_deltas = 0;
            piece.clone_into(&mut self.last_delta);
        }
        self.equal_deltas += 1;
        self.equal_deltas > MAX_EQUAL_DELTAS && !piece.trim().is_empty()
    }
}

fn retry_reason(class: ErrorClass) -> RetryReason {
    match class {
        ErrorClass::RateLimit => RetryReason::RateLimited,
        ErrorClass::Overloaded | ErrorClass::Server => RetryReason::Overloaded,
        ErrorClass::Network | ErrorClass::Timeout | ErrorClass::Cut => RetryReason::Timeout,
        ErrorClass::Empty => RetryReason::EmptyResponse,
        _ => RetryReason::Other,
    }
}
