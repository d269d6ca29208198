//! A response of the model as it arrives: the events for clients, and the complete response, every part at its place. Pure.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use musher_model::{ErrorClass, FinishReason, Label, ModelEvent, Retry, ToolCall, ToolUse, Usage};
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
    /// Whether the next text is a block of its own.
    starts_text: bool,
    calls: Vec<ToolCall>,
    /// The places of the calls in the content, by their index.
    places: HashMap<usize, usize>,
    labels: Vec<PlacedLabel>,
    refusal: Option<String>,
    usage: Option<Usage>,
    is_streaming: bool,
    last_delta: String,
    equal_deltas: usize,
}

#[derive(Debug, Clone, Copy)]
enum Open {
    Nothing,
    /// The text at this place.
    Text(usize),
    Thinking(Instant),
}

/// A field of the response that its vendor requires back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlacedLabel {
    /// The index of the first part of the content it is about.
    pub(crate) index: usize,
    pub(crate) label: Label,
    pub(crate) value: String,
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
    pub(crate) labels: Vec<PlacedLabel>,
    /// Why the model has refused, if it says so.
    pub(crate) refusal: Option<String>,
    pub(crate) usage: Usage,
    pub(crate) reason: FinishReason,
}

impl ModelResponse {
    /// Returns the text of the response, without thinking.
    pub(crate) fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns whether it has text, calls or parts of the vendor's own tools: more than thinking.
    pub(crate) fn has_answer(&self) -> bool {
        self.content.iter().any(|content| match content {
            Content::Text(text) => !text.trim().is_empty(),
            Content::Thinking(_) => false,
            _ => true,
        })
    }
}

impl Draft {
    pub(crate) fn new(message_id: Arc<str>) -> Self {
        Self {
            message_id,
            content: Vec::new(),
            open: Open::Nothing,
            starts_text: false,
            calls: Vec::new(),
            places: HashMap::new(),
            labels: Vec::new(),
            refusal: None,
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
                let last = self.content.len().saturating_sub(1);
                let continues = matches!(self.open, Open::Text(block) if block == last);
                if std::mem::take(&mut self.starts_text) || !continues {
                    self.end_text(out);
                    self.open = Open::Text(self.content.len());
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
            ModelEvent::TextBreak => self.starts_text = true,
            ModelEvent::Label { label, value } => {
                let index = self.content.len();
                self.labels.push(PlacedLabel { index, label, value });
            }
            ModelEvent::Other(part) => {
                self.end_thinking(now, out);
                self.content.push(Content::Unknown(part));
            }
            ModelEvent::Refusal(reason) => self.refusal = Some(reason),
            ModelEvent::ToolStart { index, id, name } => {
                self.end_thinking(now, out);
                self.stream(out);
                self.places.insert(index, self.content.len());
                self.content.push(Content::ToolUse(ToolUse::new(id.clone(), name.clone(), Map::new())));
                out.push(Event::ToolCall { id, name, input: Map::new() });
            }
            ModelEvent::ToolSignature { index, signature } => {
                let place = self.places.get(&index).and_then(|place| self.content.get_mut(*place));
                if let Some(Content::ToolUse(call)) = place {
                    call.signature = Some(signature);
                }
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

    /// Returns whether clients have got any part of it.
    pub(crate) fn has_shown(&self) -> bool {
        self.is_streaming || !self.content.is_empty()
    }

    /// Starts again, under the same id.
    pub(crate) fn retract(&mut self, out: &mut Vec<Event>) {
        out.push(Event::Retracted { message_id: Arc::clone(&self.message_id) });
        *self = Self { is_streaming: self.is_streaming, ..Self::new(Arc::clone(&self.message_id)) };
    }

    fn retry(&mut self, retry: &Retry, out: &mut Vec<Event>) {
        out.push(Event::Retry {
            attempt: retry.attempt,
            reason: retry_reason(retry.reason),
            delay: retry.delay,
            message: retry.message.clone(),
        });
        self.retract(out);
    }

    fn complete(&mut self, reason: FinishReason, out: &mut Vec<Event>) -> ModelResponse {
        let calls = std::mem::take(&mut self.calls);
        let mut content = std::mem::take(&mut self.content);
        for call in &calls {
            let mut tool = call.to_use();
            // without arguments there is nothing to add to the first event
            if !tool.input.is_empty() {
                let (id, name, input) = (tool.id.clone(), tool.name.clone(), tool.input.clone());
                out.push(Event::ToolCall { id, name, input });
            }
            match self.places.get(&call.index).and_then(|place| content.get_mut(*place)) {
                Some(Content::ToolUse(started)) => {
                    tool.signature = started.signature.take();
                    *started = tool;
                }
                _ => content.push(Content::ToolUse(tool)),
            }
        }
        // a call that has started and was never completed
        let known: HashSet<usize> = calls.iter().map(|call| call.index).collect();
        let mut lost: Vec<usize> =
            self.places.iter().filter(|(call, _)| !known.contains(call)).map(|(_, place)| *place).collect();
        lost.sort_unstable();
        for place in lost.into_iter().rev().filter(|place| *place < content.len()).collect::<Vec<_>>() {
            content.remove(place);
        }
        ModelResponse {
            message_id: Arc::clone(&self.message_id),
            content,
            calls,
            labels: std::mem::take(&mut self.labels),
            refusal: self.refusal.take(),
            usage: self.usage.take().unwrap_or_default(),
            reason,
        }
    }

    fn stream(&mut self, out: &mut Vec<Event>) {
        if !std::mem::replace(&mut self.is_streaming, true) {
            out.push(Event::State(WorkingState::Streaming));
        }
    }

    fn end_text(&mut self, out: &mut Vec<Event>) {
        if let Open::Text(block) = self.open {
            self.open = Open::Nothing;
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
