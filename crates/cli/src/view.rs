//! Renders a turn as text for a user: events in, pieces of text out.
//!
//! Pure: it writes nothing and knows no terminal but its width and whether there are colours.

mod asking;
mod call;
mod diff;
mod summary;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use musher::wire::Json;
use musher::{Event, ToolCall, ToolOutcome};
use serde_json::Value;

use crate::sanitize::sanitized;
use crate::style::{Style, columns, cut};
use crate::styled::Styled;

pub(crate) use asking::{Parsed, permission, question, read_answer, read_decision, reason};
pub(crate) use diff::between;
pub(crate) use summary::summary;

/// Maximum length of a shown error message.
const MAX_MESSAGE_LENGTH: usize = 2000;

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A piece of the agent's text; need not start or end a line.
    Text(Styled),
    /// A whole line about the agent's work.
    Note(Styled),
}

/// The state of rendering a turn.
#[derive(Debug)]
pub(crate) struct View {
    style: Style,
    /// The working directory of the agent; paths below are shown relative to it.
    folder: Option<PathBuf>,
    /// Whether the agent's text is streamed.
    is_live: bool,
    /// Whether the last piece of text left its line open.
    is_open: bool,
    /// The ids of messages that were streamed.
    streamed: HashSet<String>,
    /// A whole message; shown once another one follows.
    pending: Option<String>,
    calls: HashMap<String, ToolCall>,
    /// Calls whose change was shown with their permission request.
    shown: HashSet<String>,
    tool_calls: usize,
    doing: String,
}

impl View {
    /// Creates a view. With `is_live` the agent's text is streamed; otherwise all messages but the last are shown.
    pub(crate) fn new(style: Style, is_live: bool) -> Self {
        Self {
            style,
            folder: None,
            is_live,
            is_open: false,
            streamed: HashSet::new(),
            pending: None,
            calls: HashMap::new(),
            shown: HashSet::new(),
            tool_calls: 0,
            doing: "waiting for the model".to_owned(),
        }
    }

    /// Sets the working directory of the agent.
    pub(crate) fn at(mut self, folder: PathBuf) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Returns the current activity of the agent, in a few words.
    pub(crate) fn doing(&self) -> &str {
        &self.doing
    }

    /// Returns whether the cursor is at the beginning of a line.
    pub(crate) fn is_between_lines(&self) -> bool {
        !self.is_open
    }

    /// Returns the number of tool calls.
    pub(crate) fn tool_calls(&self) -> usize {
        self.tool_calls
    }

    /// Records that the change of this call was shown.
    pub(crate) fn has_shown(&mut self, call_id: &str) {
        self.shown.insert(call_id.to_owned());
    }

    /// Renders an event. Lines about the agent's work have at most `width` columns.
    pub(crate) fn event(&mut self, event: &Event, width: usize) -> Vec<Piece> {
        let mut out = Vec::new();
        match event {
            Event::TextDelta(delta) => {
                "writing".clone_into(&mut self.doing);
                if self.is_live {
                    self.streamed.insert(delta.message_id.clone());
                    self.say(&delta.text, &mut out);
                }
            }
            Event::ThinkingDelta(_) => "thinking".clone_into(&mut self.doing),
            Event::Assistant(message) => {
                let text = message.text();
                if !self.is_live {
                    self.pending = Some(text).filter(|text| !text.trim().is_empty());
                } else if !self.streamed.contains(&message.id) && !text.is_empty() {
                    self.say(&text, &mut out);
                }
                self.end_line(&mut out);
            }
            Event::System(message) if message.is_for_people() => {
                self.note(self.style.dim(&sanitized(&message.text(), MAX_MESSAGE_LENGTH)), &mut out);
            }
            Event::ToolCall(call) => {
                self.say_pending(&mut out);
                self.tool_calls += 1;
                self.doing = cut(
                    &call::title(&call.name, &input(&call.input), self.folder.as_deref()),
                    width.saturating_sub(20),
                );
                self.calls.insert(call.id.clone(), (**call).clone());
            }
            Event::ToolResult(outcome) => self.outcome(outcome, width, &mut out),
            Event::Retracted { message_id } => {
                if self.streamed.remove(message_id) {
                    self.note(self.style.dim("(incomplete answer discarded)"), &mut out);
                }
                self.pending = None;
            }
            Event::Retry(retry) => {
                let reason = sanitized(&retry.reason.as_str().replace('_', " "), 40);
                let attempt = retry.attempt;
                let attempt = attempt.map_or_else(String::new, |attempt| format!(", attempt {attempt}"));
                self.doing = format!("retrying the model request ({reason}{attempt})");
            }
            Event::Error(error) => {
                let message = sanitized(&error.message, MAX_MESSAGE_LENGTH);
                self.note(self.style.bad(&format!("! {message}")), &mut out);
            }
            Event::HandlerFailed { reason } => {
                let reason = sanitized(reason, MAX_MESSAGE_LENGTH);
                self.note(self.style.bad(&format!("! {reason}")), &mut out);
            }
            Event::Result(_) => self.end_line(&mut out),
            _ => {}
        }
        out
    }

    /// Ends the line that is open, if one is.
    pub(crate) fn end_line(&mut self, out: &mut Vec<Piece>) {
        if std::mem::take(&mut self.is_open) {
            out.push(Piece::Text("\n".into()));
        }
    }

    fn outcome(&mut self, outcome: &ToolOutcome, width: usize, out: &mut Vec<Piece>) {
        self.say_pending(out);
        "waiting for the model".clone_into(&mut self.doing);
        let call = self.calls.remove(&outcome.tool_use_id);
        let name = call.as_ref().map(|call| call.name.as_str()).or(outcome.tool_name.as_deref());
        let input = call.as_ref().map(|call| input(&call.input)).unwrap_or_default();
        let title = call::title(name.unwrap_or("tool"), &input, self.folder.as_deref());
        let told = call::told(name.unwrap_or("tool"), &input, &outcome.text(), outcome.is_error);
        let mark = if outcome.is_error { "✗" } else { "✓" };
        let room = width.saturating_sub(2);
        // the outcome matters more than the end of a long title
        let beside = if told.is_empty() { 0 } else { (columns(&told) + 2).min(room / 5 * 2) };
        let title = cut(&title, room - beside);
        let told = cut(&told, room.saturating_sub(columns(&title) + 2));
        let told = if told.is_empty() { told } else { format!("  {told}") };
        let line = if outcome.is_error {
            self.style.bad(mark) + " " + title + self.style.bad(&told)
        } else {
            self.style.good(mark) + " " + title + self.style.dim(&told)
        };
        self.note(line, out);
        if !outcome.is_error && !self.shown.contains(&outcome.tool_use_id) {
            for line in diff::of_result(&outcome.text(), self.style, width) {
                self.note(line, out);
            }
        }
    }

    fn say(&mut self, text: &str, out: &mut Vec<Piece>) {
        let text = Styled::from(text);
        let shown = text.as_str();
        self.is_open = !shown.ends_with('\n') && (self.is_open || !shown.is_empty());
        out.push(Piece::Text(text));
    }

    fn say_pending(&mut self, out: &mut Vec<Piece>) {
        if let Some(text) = self.pending.take() {
            for line in text.lines() {
                self.note(line, out);
            }
        }
    }

    fn note(&mut self, line: impl Into<Styled>, out: &mut Vec<Piece>) {
        self.end_line(out);
        out.push(Piece::Note(line.into()));
    }
}

fn input(input: &Json) -> Value {
    input.to_value().unwrap_or_default()
}
