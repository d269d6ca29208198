//! The events of a session as lines: what is finished, and what still runs. Pure: time is given.
//!
//! A finished block is given out once. What is live is a few lines: the end of the answer, the thinking, each running call.

mod calls;
mod todo;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use musher::wire::{SessionNotification, ToolProgressType};
use musher::{Event, TurnResult};

use crate::sanitize::sanitized;
use crate::view::markdown::Markdown;
use crate::view::text::{Face, Line};
use crate::view::{self, summary};
use calls::Calls;

/// Maximum length of a shown error message.
const MAX_MESSAGE: usize = 4000;
/// Maximum length of the reason of a retry.
const MAX_REASON: usize = 40;

/// The state of what is shown of a session.
#[derive(Debug)]
pub(crate) struct Transcript {
    finished: Vec<Line>,
    /// The message that is being streamed.
    answer: Option<(String, Markdown)>,
    /// The messages of this turn that were streamed.
    streamed: Vec<String>,
    thought: Option<Thought>,
    /// The last finished thought, for those who want to read it.
    last_thought: String,
    shows_thinking: bool,
    calls: Calls,
    steps: Vec<todo::Step>,
    /// The model request that is tried again.
    retry: Option<Retry>,
    is_blank: bool,
    tool_calls: usize,
}

#[derive(Debug)]
struct Retry {
    reason: String,
    /// When it is tried again; `None` if the agent did not say.
    at: Option<Instant>,
    since: Instant,
}

#[derive(Debug)]
struct Thought {
    since: Instant,
    text: String,
}

impl Transcript {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self {
            finished: Vec::new(),
            answer: None,
            streamed: Vec::new(),
            thought: None,
            last_thought: String::new(),
            shows_thinking: false,
            calls: Calls::new(folder),
            steps: Vec::new(),
            retry: None,
            is_blank: true,
            tool_calls: 0,
        }
    }

    /// Takes the lines that became finished.
    pub(crate) fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.finished)
    }

    /// Whether whole thoughts are printed.
    pub(crate) fn show_thinking(&mut self, shows: bool) {
        self.shows_thinking = shows;
    }

    pub(crate) fn shows_thinking(&self) -> bool {
        self.shows_thinking
    }

    /// Returns the last thought of the model.
    pub(crate) fn last_thought(&self) -> &str {
        &self.last_thought
    }

    /// Returns what happens, in a few words.
    pub(crate) fn doing(&self, now: Instant) -> String {
        if let Some(retry) = &self.retry {
            let reason = &retry.reason;
            return match retry.at {
                Some(at) if at > now => {
                    let left = (at - now).as_millis().div_ceil(1000);
                    format!("retrying the model request in {left}s ({reason})")
                }
                _ => format!("retrying the model request ({reason}) {}", seconds(now - retry.since)),
            };
        }
        if self.calls.is_running() {
            return self.calls.doing();
        }
        match (&self.answer, &self.thought) {
            (Some(_), _) => "writing".to_owned(),
            (None, Some(_)) => "thinking".to_owned(),
            (None, None) => "waiting for the model".to_owned(),
        }
    }

    /// Prints a line of ours.
    pub(crate) fn note(&mut self, line: Line) {
        self.finished.push(line);
        self.is_blank = false;
    }

    fn lines(&mut self, lines: Vec<Line>) {
        for line in lines {
            self.note(line);
        }
    }

    /// Prints a block with a blank line before it.
    pub(crate) fn block(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.gap();
        for line in lines {
            self.note(line);
        }
    }

    /// A blank line, unless there is one.
    pub(crate) fn gap(&mut self) {
        if !std::mem::replace(&mut self.is_blank, true) {
            self.finished.push(Line::default());
        }
    }

    /// Prints the prompt of the user.
    pub(crate) fn prompt(&mut self, text: &str, width: usize) {
        self.gap();
        for (index, line) in text.lines().enumerate().take(40) {
            let mark = if index == 0 { "› " } else { "  " };
            let line = Line::new(mark, Face::GOOD).with(line, Face::STRONG);
            line.wrapped(width, 2).into_iter().for_each(|line| self.note(line));
        }
        let more = text.lines().count().saturating_sub(40);
        if more > 0 {
            self.note(Line::new(&format!("  … {more} more lines"), Face::DIM));
        }
        self.gap();
    }

    /// The user has changed the arguments of this call.
    pub(crate) fn rewritten(&mut self, call_id: &str, input: serde_json::Value) {
        self.calls.rewritten(call_id, input);
    }

    /// The change of this call was shown with its permission request.
    pub(crate) fn has_shown(&mut self, call_id: &str) {
        self.calls.has_shown(call_id);
    }

    /// Takes an event.
    pub(crate) fn event(&mut self, event: &Event, now: Instant, width: usize) {
        if !matches!(event, Event::Retry(_) | Event::Usage(_) | Event::State(_) | Event::Settings(_)) {
            self.retry = None;
        }
        match event {
            Event::TextDelta(delta) => {
                self.end_thought(now, width);
                if self.answer.as_ref().is_none_or(|(id, _)| *id != delta.message_id) {
                    self.end_answer(width);
                    self.gap();
                    self.answer = Some((delta.message_id.clone(), Markdown::default()));
                    self.streamed.push(delta.message_id.clone());
                }
                if let Some((_, markdown)) = &mut self.answer {
                    let lines = markdown.push(&delta.text, width);
                    self.lines(lines);
                }
            }
            Event::ThinkingDelta(delta) => {
                let thought = self.thought.get_or_insert_with(|| Thought { since: now, text: String::new() });
                thought.text.push_str(&delta.text);
            }
            Event::Assistant(message) => {
                self.end_thought(now, width);
                self.end_answer(width);
                let text = message.text();
                if !self.streamed.contains(&message.id) && !text.trim().is_empty() {
                    self.gap();
                    let mut markdown = Markdown::default();
                    let mut lines = markdown.push(&text, width);
                    lines.extend(markdown.finish(width));
                    self.lines(lines);
                }
                self.streamed.push(message.id.clone());
            }
            Event::System(message) if message.is_for_people() => {
                self.end_answer(width);
                self.wrapped(&message.text(), "", Face::DIM, width);
            }
            Event::ToolCall(call) => {
                self.end_thought(now, width);
                self.end_answer(width);
                self.tool_calls += 1;
                let input = view::input(&call.input);
                if call.name == "TodoWrite" {
                    self.steps = todo::steps(&input);
                }
                self.calls.begin(call, input, now);
            }
            Event::ToolPhase(phase) => self.calls.phase(phase, now),
            Event::ToolProgress(progress) => {
                let update = &progress.update;
                match (&update.subagent_session_id, &update.kind) {
                    (
                        Some(_),
                        Some(
                            ToolProgressType::ToolCall
                            | ToolProgressType::ToolResult
                            | ToolProgressType::Message,
                        ),
                    ) => {
                        self.calls.subagent(progress);
                    }
                    _ => self.calls.output(progress),
                }
            }
            Event::ToolResult(outcome) => {
                let Some(lines) = self.calls.end(outcome, now, width) else { return };
                if outcome.tool_name.as_deref() == Some("TodoWrite")
                    && !outcome.is_error
                    && !self.steps.is_empty()
                {
                    let lines = todo::lines(&self.steps, width);
                    return self.block(lines);
                }
                let is_long = lines.len() > 1;
                if is_long {
                    self.gap();
                }
                self.lines(lines);
                if is_long {
                    self.gap();
                }
            }
            Event::Retracted { message_id } => {
                self.thought = None;
                if self.streamed.iter().any(|id| id == message_id) {
                    self.end_answer(width);
                    self.streamed.retain(|id| id != message_id);
                    self.note(Line::new("(incomplete answer discarded)", Face::DIM));
                }
            }
            Event::Retry(retry) => {
                let attempt =
                    retry.attempt.map_or_else(String::new, |attempt| format!(", attempt {attempt}"));
                let reason = sanitized(&retry.reason.as_str().replace('_', " "), MAX_REASON);
                if let Some(message) = &retry.message {
                    self.end_thought(now, width);
                    self.end_answer(width);
                    self.wrapped(message, "! ", Face::NOTABLE, width);
                }
                self.retry = Some(Retry {
                    reason: format!("{}{attempt}", reason.as_str()),
                    at: retry.delay.map(|delay| now + delay),
                    since: now,
                });
            }
            Event::Error(error) => self.problem(&error.message, width),
            Event::HandlerFailed { reason } => self.problem(reason, width),
            Event::Other(notification) => {
                if let SessionNotification::SessionCompacted(compacted) = &**notification {
                    let count = compacted.removed_count.as_ref().map_or(0, musher::wire::Count::get);
                    self.end_answer(width);
                    self.block([Line::new(
                        &format!("── conversation compacted: {count} messages became a summary ──"),
                        Face::DIM,
                    )]);
                }
            }
            Event::Result(result) => self.result(result, now, width),
            _ => {}
        }
    }

    /// Prints an error.
    pub(crate) fn problem(&mut self, message: &str, width: usize) {
        self.end_answer(width);
        self.gap();
        self.wrapped(message, "! ", Face::BAD, width);
    }

    fn wrapped(&mut self, text: &str, mark: &str, face: Face, width: usize) {
        let text: String = text.chars().take(MAX_MESSAGE).collect();
        for (index, line) in text.lines().enumerate() {
            let mark = if index == 0 { mark } else { "" };
            Line::new(&format!("{mark}{line}"), face)
                .wrapped(width, 2)
                .into_iter()
                .for_each(|line| self.note(line));
        }
    }

    fn result(&mut self, result: &TurnResult, now: Instant, width: usize) {
        self.end_thought(now, width);
        self.end_answer(width);
        for line in self.calls.abandon(now, width) {
            self.note(line);
        }
        self.streamed.clear();
        let mut text = summary(result, self.tool_calls);
        if let Some(at) = text.rfind(" · session ") {
            text.truncate(at);
        }
        if result.is_interrupted() {
            text = format!("interrupted · {text}");
        }
        self.tool_calls = 0;
        self.gap();
        Line::new(&text, Face::DIM).wrapped(width, 2).into_iter().for_each(|line| self.note(line));
        self.gap();
    }

    fn end_answer(&mut self, width: usize) {
        if let Some((_, mut markdown)) = self.answer.take() {
            self.lines(markdown.finish(width));
        }
    }

    fn end_thought(&mut self, now: Instant, width: usize) {
        let Some(thought) = self.thought.take() else { return };
        self.gap();
        self.note(Line::new(&format!("✻ thought for {}", seconds(now - thought.since)), Face::DIM));
        if self.shows_thinking {
            let face = Face { is_italic: true, ..Face::DIM };
            for line in thought.text.trim().lines() {
                Line::new(line, face).wrapped(width, 0).into_iter().for_each(|line| self.note(line));
            }
        }
        self.last_thought = thought.text;
    }

    /// Returns the live lines, of which the last ones matter most.
    pub(crate) fn live(&self, now: Instant, width: usize, rows: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        if let Some((_, markdown)) = &self.answer {
            let rest = markdown.rest(width).into_iter().flat_map(|line| line.broken(width));
            lines.extend(rest);
        }
        if let Some(thought) = &self.thought {
            let tail: Vec<_> = thought.text.trim_end().lines().rev().take(2).collect();
            let face = Face { is_italic: true, ..Face::DIM };
            let wrapped = tail.into_iter().rev().flat_map(|line| Line::new(line, face).wrapped(width, 0));
            let wrapped: Vec<_> = wrapped.collect();
            let from = wrapped.len().saturating_sub(2);
            lines.extend(wrapped.into_iter().skip(from));
        }
        let calls = self.calls.live(now, width, rows);
        let left = rows.saturating_sub(calls.len());
        let from = lines.len().saturating_sub(left);
        lines.drain(..from);
        lines.extend(calls);
        lines
    }
}

/// Returns a time in a few characters.
pub(super) fn seconds(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..=9 => format!("{:.1}s", time.as_secs_f64()),
        10..=59 => format!("{seconds}s"),
        60..=3599 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests;
