//! A model's answer as it comes in: what clients are shown of it piece by piece, and the message it becomes.
//!
//! Pure. Says nothing about what is done with the answer.

use std::sync::Arc;
use std::time::Instant;

use musher_model::{ErrorClass, FinishReason, ModelEvent, Retry, ToolCall, Usage};
use serde_json::Map;

use crate::Happening;
use crate::event::{RetryReason, WorkingState};
use musher_message::Content;

/// So many equal pieces in a row are no answer any more.
const MOST_EQUAL_PIECES: usize = 50;

/// An answer as far as it has come.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) message_id: Arc<str>,
    content: Vec<Content>,
    open: Open,
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    is_streaming: bool,
    last_piece: String,
    equal_pieces: usize,
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
    /// More is to come.
    More,
    /// The model repeats itself without end.
    Degenerate,
    /// The answer is complete.
    Complete(Box<Answer>),
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) message_id: Arc<str>,
    pub(crate) content: Vec<Content>,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) usage: Usage,
    pub(crate) reason: FinishReason,
}

impl Answer {
    /// The text of the answer, without thinking.
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
            last_piece: String::new(),
            equal_pieces: 0,
        }
    }

    /// Takes in one event, and tells what clients are shown.
    pub(crate) fn take(&mut self, event: ModelEvent, now: Instant, out: &mut Vec<Happening>) -> Progress {
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
                out.push(Happening::TextDelta { message_id: Arc::clone(&self.message_id), block, text });
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
                out.push(Happening::ThinkingDelta { message_id: Arc::clone(&self.message_id), block, text });
            }
            ModelEvent::ThinkingEnd(thinking) => {
                if let (Open::Thinking(_), Some(Content::Thinking(all))) =
                    (self.open, self.content.last_mut())
                {
                    *all = thinking;
                    self.end_thinking(now, out);
                } else {
                    // thinking that is not shown at all, only sent back
                    self.end_text(out);
                    self.content.push(Content::Thinking(thinking));
                }
            }
            ModelEvent::ToolStart { id, name, .. } => {
                self.end_thinking(now, out);
                self.stream(out);
                out.push(Happening::ToolCall { id, name, input: Map::new() });
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

    /// Whether clients have seen anything of it.
    pub(crate) fn has_shown(&self) -> bool {
        self.is_streaming || !self.content.is_empty()
    }

    /// Begins anew, under the same id.
    pub(crate) fn retract(&mut self, out: &mut Vec<Happening>) {
        out.push(Happening::Retracted { message_id: Arc::clone(&self.message_id) });
        *self = Self { is_streaming: self.is_streaming, ..Self::new(Arc::clone(&self.message_id)) };
    }

    fn retry(&mut self, retry: &Retry, out: &mut Vec<Happening>) {
        out.push(Happening::Retry { attempt: retry.attempt, reason: retry_reason(retry.reason) });
        self.retract(out);
    }

    fn complete(&mut self, reason: FinishReason, out: &mut Vec<Happening>) -> Answer {
        let calls = std::mem::take(&mut self.calls);
        let mut content = std::mem::take(&mut self.content);
        for call in &calls {
            let tool = call.to_use();
            // without arguments there is nothing to add to what was told when it began
            if !tool.input.is_empty() {
                let (id, name, input) = (tool.id.clone(), tool.name.clone(), tool.input.clone());
                out.push(Happening::ToolCall { id, name, input });
            }
            content.push(Content::ToolUse(tool));
        }
        let usage = self.usage.take().unwrap_or_default();
        Answer { message_id: Arc::clone(&self.message_id), content, calls, usage, reason }
    }

    fn stream(&mut self, out: &mut Vec<Happening>) {
        if !std::mem::replace(&mut self.is_streaming, true) {
            out.push(Happening::State(WorkingState::Streaming));
        }
    }

    fn end_text(&mut self, out: &mut Vec<Happening>) {
        if matches!(self.open, Open::Text) {
            self.open = Open::Nothing;
            let block = self.content.len().saturating_sub(1);
            out.push(Happening::TextComplete { message_id: Arc::clone(&self.message_id), block });
        }
    }

    fn end_thinking(&mut self, now: Instant, out: &mut Vec<Happening>) {
        if let Open::Thinking(since) = self.open {
            self.open = Open::Nothing;
            let (message_id, block) = (Arc::clone(&self.message_id), self.content.len().saturating_sub(1));
            out.push(Happening::ThinkingComplete { message_id, block, took: now.duration_since(since) });
        }
    }

    fn is_repetition(&mut self, piece: &str) -> bool {
        if piece.trim().is_empty() || piece != self.last_piece {
            self.equal_pieces = 0;
            piece.clone_into(&mut self.last_piece);
        }
        self.equal_pieces += 1;
        self.equal_pieces > MOST_EQUAL_PIECES && !piece.trim().is_empty()
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
