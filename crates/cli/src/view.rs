//! What happens in a turn as text for people: events in, pieces of text out.
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

use musher::wire::ToolUse;
use musher::{Event, ToolOutcome};
use serde_json::Value;

use crate::look::{Look, columns, cut};
use crate::sanitize::sanitized;
use crate::styled::Styled;

pub(crate) use asking::{Said, permission, question, read_answer, read_decision, reason};
pub(crate) use diff::between;
pub(crate) use summary::summary;

/// The longest message of an error that is shown.
const LONGEST_MESSAGE: usize = 2000;

/// Something to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A piece of what the agent says, wherever the line stands.
    Said(Styled),
    /// A line about what it does.
    Note(Styled),
}

/// How a turn looks.
#[derive(Debug)]
pub(crate) struct View {
    look: Look,
    /// Where the agent works; paths below are shown without it.
    folder: Option<PathBuf>,
    /// What the agent says is shown piece by piece.
    is_live: bool,
    /// The last piece that was said did not end its line.
    is_open: bool,
    /// Messages of which pieces were shown.
    streamed: HashSet<String>,
    /// A message that is whole, and is shown if it was not the last one.
    pending: Option<String>,
    calls: HashMap<String, ToolUse>,
    /// Calls whose change was shown when consent was asked for.
    shown: HashSet<String>,
    tool_calls: usize,
    doing: String,
}

impl View {
    /// `is_live`: what the agent says is shown while it says it; otherwise only what was not its last word.
    pub(crate) fn new(look: Look, is_live: bool) -> Self {
        Self {
            look,
            folder: None,
            is_live,
            is_open: false,
            streamed: HashSet::new(),
            pending: None,
            calls: HashMap::new(),
            shown: HashSet::new(),
            tool_calls: 0,
            doing: "waiting".to_owned(),
        }
    }

    /// With the folder the agent works in.
    pub(crate) fn at(mut self, folder: PathBuf) -> Self {
        self.folder = Some(folder);
        self
    }

    /// What the agent does at the moment, in a few words.
    pub(crate) fn doing(&self) -> &str {
        &self.doing
    }

    /// Whether something could be written at the beginning of a line now.
    pub(crate) fn is_between_lines(&self) -> bool {
        !self.is_open
    }

    /// How many tools were called.
    pub(crate) fn tool_calls(&self) -> usize {
        self.tool_calls
    }

    /// The change of this call was shown already.
    pub(crate) fn has_shown(&mut self, call_id: &str) {
        self.shown.insert(call_id.to_owned());
    }

    /// What is to be shown of an event, in lines of at most `width` columns where they are ours.
    pub(crate) fn event(&mut self, event: &Event, width: usize) -> Vec<Piece> {
        let mut out = Vec::new();
        match event {
            Event::TextDelta(delta) => {
                "writing".clone_into(&mut self.doing);
                if self.is_live {
                    self.streamed.insert(delta.message_id.clone());
                    self.say(&delta.text_delta, &mut out);
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
                self.note(self.look.dim(&sanitized(&message.text(), LONGEST_MESSAGE)), &mut out);
            }
            Event::ToolCall(call) => {
                self.say_pending(&mut out);
                self.tool_calls += 1;
                self.doing = cut(
                    &call::title(&call.name, &input(call), self.folder.as_deref()),
                    width.saturating_sub(20),
                );
                self.calls.insert(call.id.clone(), (**call).clone());
            }
            Event::ToolResult(outcome) => self.outcome(outcome, width, &mut out),
            Event::Retracted { message_id } => {
                if self.streamed.remove(message_id) {
                    self.note(self.look.dim("(the model begins this answer anew)"), &mut out);
                }
                self.pending = None;
            }
            Event::Retry(retry) => {
                self.doing = format!("asking the model again ({})", sanitized(retry.reason.as_str(), 40));
            }
            Event::Error(error) => {
                let message = sanitized(&error.message, LONGEST_MESSAGE);
                self.note(self.look.bad(&format!("! {message}")), &mut out);
            }
            Event::HandlerFailed { reason } => {
                let reason = sanitized(reason, LONGEST_MESSAGE);
                self.note(self.look.bad(&format!("! {reason}")), &mut out);
            }
            Event::Result(_) => self.end_line(&mut out),
            _ => {}
        }
        out
    }

    /// Ends the line that is open, if one is.
    pub(crate) fn end_line(&mut self, out: &mut Vec<Piece>) {
        if std::mem::take(&mut self.is_open) {
            out.push(Piece::Said("\n".into()));
        }
    }

    fn outcome(&mut self, outcome: &ToolOutcome, width: usize, out: &mut Vec<Piece>) {
        self.say_pending(out);
        "waiting".clone_into(&mut self.doing);
        let call = self.calls.remove(&outcome.tool_use_id);
        let name = call.as_ref().map(|call| call.name.as_str()).or(outcome.tool_name.as_deref());
        let input = call.as_ref().map(input).unwrap_or_default();
        let title = call::title(name.unwrap_or("tool"), &input, self.folder.as_deref());
        let told = call::told(name.unwrap_or("tool"), &input, &outcome.text(), outcome.is_error);
        let mark = if outcome.is_error { "✗" } else { "✓" };
        let room = width.saturating_sub(2);
        // what came of it is worth more than the end of a long title
        let beside = if told.is_empty() { 0 } else { (columns(&told) + 2).min(room / 5 * 2) };
        let title = cut(&title, room - beside);
        let told = cut(&told, room.saturating_sub(columns(&title) + 2));
        let told = if told.is_empty() { told } else { format!("  {told}") };
        let line = if outcome.is_error {
            self.look.bad(mark) + " " + title + self.look.bad(&told)
        } else {
            self.look.good(mark) + " " + title + self.look.dim(&told)
        };
        self.note(line, out);
        if !outcome.is_error && !self.shown.contains(&outcome.tool_use_id) {
            for line in diff::of_result(&outcome.text(), self.look, width) {
                self.note(line, out);
            }
        }
    }

    fn say(&mut self, text: &str, out: &mut Vec<Piece>) {
        let text = Styled::from(text);
        let shown = text.as_str();
        self.is_open = !shown.ends_with('\n') && (self.is_open || !shown.is_empty());
        out.push(Piece::Said(text));
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

fn input(call: &ToolUse) -> Value {
    call.input.to_value().unwrap_or_default()
}
