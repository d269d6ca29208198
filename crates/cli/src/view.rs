//! Renders a turn as text for a user: events in, pieces of text out.
//!
//! Pure: it writes nothing and knows no terminal but its width and whether there are colours.

mod asking;
mod call;
mod diff;
pub(crate) mod markdown;
mod summary;
#[cfg(test)]
mod tests;
pub(crate) mod text;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use musher::wire::Json;
use musher::{Event, ToolCall, ToolOutcome, TurnEnd};
use serde_json::Value;

use crate::sanitize::sanitized;
use crate::style::{Style, columns, cut};
use crate::styled::Styled;
use markdown::Markdown;

pub(crate) use asking::{
    Parsed, mismatch_lines, permission, question, read_answer, read_decision, reason, request_lines,
};
pub(crate) use call::{command_output, exit_code, patched, title, told};
pub(crate) use diff::{between, change_lines, reported as diff_of_result};
pub(crate) use summary::{dollars, grouped, percent, summary};

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
    /// On a terminal the agent's text is Markdown; files and pipes get it as it is.
    markdown: Option<Box<Markdown>>,
    /// Whether the last piece of text left its line open.
    is_open: bool,
    /// The ids of messages that were streamed.
    streamed: HashSet<String>,
    /// An error, which is shown unless the turn fails because of it.
    error: Option<String>,
    /// A whole message; shown once another one follows.
    pending: Option<String>,
    calls: HashMap<String, ToolCall>,
    /// Calls whose change was shown with their permission request.
    shown: HashSet<String>,
    tool_calls: usize,
    doing: String,
    /// The delay of a retry, and the time of the turn at which it ends, once that is known.
    retry: Option<(Duration, Option<Duration>)>,
}

impl View {
    /// Creates a view. With `is_live` the agent's text is streamed; otherwise all messages but the last are shown.
    pub(crate) fn new(style: Style, is_live: bool) -> Self {
        Self {
            style,
            folder: None,
            is_live,
            markdown: None,
            is_open: false,
            streamed: HashSet::new(),
            error: None,
            pending: None,
            calls: HashMap::new(),
            shown: HashSet::new(),
            tool_calls: 0,
            doing: "waiting for the model".to_owned(),
            retry: None,
        }
    }

    /// Renders the agent's text as Markdown, for a terminal.
    pub(crate) fn with_markdown(mut self) -> Self {
        self.markdown = Some(Box::default());
        self
    }

    /// Returns the end of the agent's text that is not printed yet: one line of this width.
    pub(crate) fn tail(&self, width: usize) -> Option<Styled> {
        let line = self.markdown.as_ref()?.rest(width).pop()?;
        Some(line.broken(width).pop()?.styled(self.style))
    }

    /// Sets the working directory of the agent.
    pub(crate) fn at(mut self, folder: PathBuf) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Returns the current activity of the agent, in a few words. `since` is the time since the turn began.
    pub(crate) fn doing(&mut self, since: Duration) -> String {
        if let Some((delay, until)) = &mut self.retry {
            let left = until.get_or_insert(since + *delay).saturating_sub(since).as_secs();
            if left > 0 {
                return format!("{} in {left}s,", self.doing);
            }
        }
        self.doing.clone()
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
        self.error_before(event, &mut out);
        match event {
            Event::TextDelta(delta) => {
                "writing".clone_into(&mut self.doing);
                if self.is_live {
                    self.streamed.insert(delta.message_id.clone());
                    self.say(&delta.text, width, &mut out);
                }
            }
            Event::ThinkingDelta(_) => "thinking".clone_into(&mut self.doing),
            Event::Assistant(message) => {
                let text = message.text();
                if !self.is_live {
                    self.pending = Some(text).filter(|text| !text.trim().is_empty());
                } else if !self.streamed.contains(&message.id) && !text.is_empty() {
                    self.say(&text, width, &mut out);
                }
                self.end_text(width, &mut out);
                self.end_line(&mut out);
            }
            // the error before it says the same
            Event::System(message) if self.error.as_ref().is_some_and(|error| *error == message.text()) => {}
            Event::System(message) if message.is_for_people() => {
                self.note(self.style.dim(&sanitized(&message.text(), MAX_MESSAGE_LENGTH)), &mut out);
            }
            Event::ToolCall(call) => {
                self.say_pending(&mut out);
                self.tool_calls += 1;
                self.doing = cut(
                    &title(&call.name, &input(&call.input), self.folder.as_deref()),
                    width.saturating_sub(20),
                );
                self.calls.insert(call.id.clone(), (**call).clone());
            }
            Event::ToolResult(outcome) => self.outcome(outcome, width, &mut out),
            Event::Retracted { message_id } => {
                if self.streamed.remove(message_id) {
                    self.end_text(width, &mut out);
                    self.note(self.style.dim("(incomplete answer discarded)"), &mut out);
                }
                self.pending = None;
            }
            Event::Retry(retry) => {
                let attempt = retry.attempt.map_or_else(String::new, |attempt| format!(" {attempt}"));
                if let Some(message) = &retry.message {
                    let message = sanitized(message, MAX_MESSAGE_LENGTH);
                    let delay = retry.delay.unwrap_or_default().as_secs_f64();
                    let line = format!("! {message}; retry{attempt} in {delay:.0} s");
                    self.note(self.style.notable(&line), &mut out);
                }
                let reason = sanitized(&retry.reason.as_str().replace('_', " "), 40);
                self.doing = format!("retrying the model request ({reason}, attempt{attempt})");
                self.retry = retry.delay.map(|delay| (delay, None));
            }
            Event::Gap => {
                self.end_line(&mut out);
                self.note(self.style.dim("connection lost; parts of the output are missing"), &mut out);
            }
            // the last one is why the turn has failed, and is shown with its outcome
            Event::Error(error) => self.error = Some(sanitized(&error.message, MAX_MESSAGE_LENGTH)),
            Event::HandlerFailed { reason } => {
                let reason = sanitized(reason, MAX_MESSAGE_LENGTH);
                self.note(self.style.bad(&format!("! {reason}")), &mut out);
            }
            Event::Result(_) => {
                self.end_text(width, &mut out);
                self.end_line(&mut out);
            }
            _ => {}
        }
        out
    }

    /// Shows the error before this event, unless the turn fails because of it: then it is shown with the outcome.
    fn error_before(&mut self, event: &Event, out: &mut Vec<Piece>) {
        let is_why = match event {
            Event::Result(result) => matches!(result.end, TurnEnd::Failed(_)),
            Event::System(message) => self.error.as_ref().is_some_and(|error| *error == message.text()),
            Event::State(_) | Event::Usage(_) => return,
            _ => false,
        };
        if matches!(event, Event::System(_)) && is_why {
            return;
        }
        if let Some(error) = self.error.take().filter(|_| !is_why) {
            self.note(self.style.bad(&format!("! {error}")), out);
        }
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
        let title = title(name.unwrap_or("tool"), &input, self.folder.as_deref());
        let told = told(name.unwrap_or("tool"), &input, &outcome.text(), outcome.is_error);
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

    /// The agent's text ends here.
    fn end_text(&mut self, width: usize, out: &mut Vec<Piece>) {
        if let Some(markdown) = &mut self.markdown {
            let lines = markdown.finish(width);
            out.extend(lines.iter().map(|line| Piece::Text(line.styled(self.style) + "\n")));
        }
    }

    fn say(&mut self, text: &str, width: usize, out: &mut Vec<Piece>) {
        if let Some(markdown) = &mut self.markdown {
            let lines = markdown.push(text, width);
            return out.extend(lines.iter().map(|line| Piece::Text(line.styled(self.style) + "\n")));
        }
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

/// Returns the arguments of a call.
pub(crate) fn input(input: &Json) -> Value {
    input.to_value().unwrap_or_default()
}
