//! The live lines: what runs, what waits, the panel, the prompt with its completion, the status.

use super::{App, Overlay};
use crate::chat::editor::layout;
use crate::chat::painter::Frame;
use crate::chat::transcript::seconds;
use crate::view::dollars;
use crate::view::text::{Color, Face, Line};

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// How long a picture of the spinner is shown, in milliseconds.
const FRAME_MS: u128 = 100;
/// Rows of the prompt before it scrolls.
const MAX_PROMPT_ROWS: usize = 10;
/// Prompts that wait are shown up to this number.
const MAX_SHOWN_QUEUE: usize = 3;

impl App {
    /// Returns what to show on a screen of this size.
    pub(crate) fn frame(&mut self, columns: usize, rows: usize) -> Frame {
        self.width = columns;
        let finished = self.transcript.take();
        let (bottom, cursor) = self.bottom(columns, rows.saturating_sub(2).max(3));
        let room = rows.saturating_sub(bottom.len() + 1).min(rows / 2 + 1);
        let mut live = self.transcript.live(self.now, columns, room);
        let above = live.len();
        live.extend(bottom);
        // a line that is too wide would take rows that are not counted
        let live = live.into_iter().map(|line| line.cut(columns)).collect();
        Frame { finished, live, cursor: (cursor.0 + above, cursor.1.min(columns.saturating_sub(1))) }
    }

    /// Returns the lines below the transcript, and where the cursor is in them.
    fn bottom(&self, columns: usize, rows: usize) -> (Vec<Line>, (usize, usize)) {
        let mut out = Vec::new();
        out.extend(self.queued(columns));
        out.extend(self.activity(columns));
        if self.shows_help {
            out.extend(self.keymap.help(columns));
        }
        let mut cursor = None;
        if self.words.is_none() {
            out.extend(self.request_list(columns));
        }
        match &self.overlay {
            Some(Overlay::Picker { picker, .. }) => {
                let (lines, column) = picker.lines(columns, rows.saturating_sub(out.len()));
                cursor = Some((out.len(), column));
                out.extend(lines);
            }
            Some(Overlay::Permission { panel, .. }) => {
                let (lines, row) = panel.lines(columns, self.arming.is_armed());
                if self.words.is_none() {
                    cursor = self.arming.is_armed().then_some((out.len() + row, 0));
                    out.extend(lines);
                }
            }
            Some(Overlay::Question { questions, .. }) if self.words.is_none() => {
                let (lines, row) = questions.lines(columns, self.arming.is_armed());
                cursor = self.arming.is_armed().then_some((out.len() + row, 0));
                out.extend(lines);
            }
            _ => {}
        }
        if let Some(words) = &self.words {
            let label = match &self.overlay {
                Some(Overlay::Permission { .. }) => "why not: ",
                _ => "answer: ",
            };
            let at = self.typed(words.text(), words.cursor(), label, Face::NOTABLE, columns, &mut out);
            cursor = Some(at);
        } else if !matches!(self.overlay, Some(Overlay::Picker { .. }))
            && (cursor.is_none() || !self.editor.is_empty())
        {
            let is_shell = self.editor.text().starts_with('!');
            let face = if is_shell { Face::of(Color::Magenta) } else { Face::GOOD };
            let at = self.typed(self.editor.text(), self.editor.cursor(), "› ", face, columns, &mut out);
            cursor = cursor.or(Some(at));
        }
        if let Some(menu) = &self.menu {
            out.extend(menu.lines(columns));
        }
        out.push(self.status_line(columns));
        // what is nearest to the prompt matters most
        let surplus = out.len().saturating_sub(rows);
        out.drain(..surplus);
        let (row, column) = cursor.unwrap_or((0, 0));
        (out, (row.saturating_sub(surplus), column))
    }

    fn queued(&self, columns: usize) -> Vec<Line> {
        let line = |label: &str, prompt: &str| {
            Line::new(label, Face::DIM).with(&prompt.replace('\n', " ⏎ "), Face::DIM).cut(columns)
        };
        let sent = self.joining.iter().take(MAX_SHOWN_QUEUE).map(|(_, prompt)| line("  sent: ", prompt));
        let waits = self.queue.iter().take(MAX_SHOWN_QUEUE).map(|prompt| line("  waits: ", prompt));
        let mut out: Vec<_> = sent.chain(waits).collect();
        if self.queue.len() > MAX_SHOWN_QUEUE {
            out.push(Line::new(&format!("  … {} more wait", self.queue.len() - MAX_SHOWN_QUEUE), Face::DIM));
        }
        out
    }

    /// Returns what happens, since when, and how it is stopped.
    fn activity(&self, columns: usize) -> Option<Line> {
        let waiting = self.waiting_requests();
        if self.is_asking() {
            let hint = match (self.words.is_some(), self.arming.is_armed()) {
                (true, _) => "Enter sends it, Esc goes back",
                (false, true) => "press a key, or choose with the arrows and Enter",
                (false, false) => "…",
            };
            let more = if waiting > 0 { format!("  ({waiting} more after this one)") } else { String::new() };
            return Some(Line::new(&format!("{hint}{more}"), Face::DIM).cut(columns));
        }
        if let Some((notice, _)) = &self.notice {
            return Some(Line::new(notice, Face::NOTABLE).cut(columns));
        }
        let millis = |since: std::time::Instant| (self.now - since).as_millis();
        let (what, since) = match (&self.busy, &self.working) {
            (Some(busy), _) if busy.is_stopping => ("stopping".to_owned(), Some(busy.since)),
            (Some(busy), _) => (self.transcript.doing(self.now), Some(busy.since)),
            (None, Some((what, since))) => (what.clone(), Some(*since)),
            (None, None) => return None,
        };
        let picture = since.map_or(0, |since| millis(since) / FRAME_MS % 10);
        let picture = FRAMES.get(usize::try_from(picture).unwrap_or(0)).copied().unwrap_or("⠋");
        let time = since.map_or_else(String::new, |since| format!(" {}", seconds(self.now - since)));
        let line =
            Line::new(&format!("{picture} {what}{time}"), Face::NOTABLE).with("  Esc interrupts", Face::DIM);
        Some(line.cut(columns))
    }

    /// Adds the rows of a text with the cursor in it; returns where that is.
    fn typed(
        &self,
        text: &str,
        cursor: usize,
        label: &str,
        face: Face,
        columns: usize,
        out: &mut Vec<Line>,
    ) -> (usize, usize) {
        let indent = crate::style::columns(label);
        let laid = layout(text, cursor, columns.saturating_sub(indent + 1));
        let first = (laid.row + 1).saturating_sub(MAX_PROMPT_ROWS);
        let top = out.len();
        for (index, row) in laid.rows.iter().enumerate().skip(first).take(MAX_PROMPT_ROWS) {
            let mut line = if index == 0 { Line::new(label, face) } else { Line::plain(&" ".repeat(indent)) };
            line.push(row, Face::PLAIN);
            out.push(line);
        }
        if text.is_empty()
            && self.words.is_none()
            && self.busy.is_none()
            && let Some(line) = out.last_mut()
        {
            line.push("Ask for a change, / for commands, @ for files, ? for keys", Face::DIM);
        }
        (top + laid.row - first, indent + laid.column)
    }

    fn status_line(&self, columns: usize) -> Line {
        let status = &self.status;
        let mut parts: Vec<(String, Face)> = Vec::new();
        let mut add = |text: String, face: Face| {
            if !text.is_empty() {
                parts.push((text, face));
            }
        };
        add(self.editor.mode().unwrap_or_default().to_owned(), Face::NOTABLE);
        let model = if status.effort.is_empty() {
            status.model.clone()
        } else {
            format!("{} {}", status.model, status.effort)
        };
        add(model, Face::DIM);
        let mode =
            if status.mode == "spec" { "plan".to_owned() } else { format!("auto {}", status.autonomy) };
        let face = if status.autonomy == "high" || status.mode == "spec" { Face::NOTABLE } else { Face::DIM };
        if !(status.autonomy.is_empty() && status.mode.is_empty()) {
            add(mode, face);
        }
        if let Some(percent) = status.context {
            add(format!("context {percent}%"), if percent >= 80 { Face::NOTABLE } else { Face::DIM });
        }
        if status.cost > 0.0 {
            add(dollars(status.cost), Face::DIM);
        }
        add(status.folder.clone(), Face::DIM);
        add(status.title.clone(), Face::DIM);
        let mut line = Line::default();
        for (index, (text, face)) in parts.into_iter().enumerate() {
            if index > 0 {
                line.push(" · ", Face::DIM);
            }
            line.push(&text, face);
        }
        line.cut(columns)
    }
}
