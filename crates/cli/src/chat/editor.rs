//! The editor of the prompt: text of several lines, moves by what a user sees as a character, kills and undo, Emacs and vi keys. Pure.
//!
//! Long pastes stand in the text as one mark, so that editing stays quick; [`Editor::expanded`] puts them back.
//!
//! It is not reedline, because that owns the terminal while a line is read: it has no place for text that streams in above the prompt, a
//! request that takes the keys meanwhile, or a test without a terminal. It is not ratatui with a text widget, because its inline viewport
//! has a fixed height and draws full-screen frames, which costs the scrollback that finished lines are kept in.

mod layout;
mod moves;
mod vi;

use super::keys::{Code, Key};

pub(crate) use layout::layout;

/// A paste that is longer than this, or has more lines, is shown as a mark.
const MAX_SHOWN_PASTE: usize = 2000;
const MAX_SHOWN_LINES: usize = 12;
/// Maximum number of states to undo to.
const MAX_UNDO: usize = 200;

/// The editor.
#[derive(Debug, Default)]
pub(crate) struct Editor {
    text: String,
    /// The byte before which the cursor stands.
    cursor: usize,
    /// The column that moves up and down keep to.
    goal: Option<usize>,
    killed: String,
    undo: Vec<(String, usize)>,
    /// Whether the last change was a typed character, so that a word is one step of undo.
    is_typing: bool,
    pastes: Vec<String>,
    vi: Option<vi::Vi>,
}

impl Editor {
    pub(crate) fn new(is_vi: bool) -> Self {
        Self { vi: is_vi.then(vi::Vi::default), ..Self::default() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the mode of vi, for the status line.
    pub(crate) fn mode(&self) -> Option<&'static str> {
        self.vi.as_ref().map(|vi| if vi.is_normal { "NORMAL" } else { "INSERT" })
    }

    /// Returns whether Escape has a meaning here.
    pub(crate) fn wants_escape(&self) -> bool {
        self.vi.as_ref().is_some_and(|vi| !vi.is_normal)
    }

    pub(crate) fn set_vi(&mut self, is_vi: bool) {
        self.vi = is_vi.then(vi::Vi::default);
    }

    /// Returns the text with all pastes.
    pub(crate) fn expanded(&self) -> String {
        let mut text = self.text.clone();
        for (index, paste) in self.pastes.iter().enumerate() {
            text = text.replace(&mark(index, paste), paste);
        }
        text
    }

    /// Replaces the text; the cursor goes to its end.
    pub(crate) fn set(&mut self, text: &str) {
        self.remember();
        self.pastes.clear();
        self.text.clear();
        self.cursor = 0;
        if is_long(text) {
            self.paste(text);
        } else {
            self.insert_text(text);
        }
    }

    /// Empties the editor, and returns the text with all pastes.
    pub(crate) fn take(&mut self) -> String {
        let text = self.expanded();
        let (killed, vi) = (std::mem::take(&mut self.killed), self.vi.is_some());
        *self = Self { killed, ..Self::new(vi) };
        text
    }

    /// Inserts a pasted text.
    pub(crate) fn paste(&mut self, text: &str) {
        self.remember();
        let text: String = text.chars().filter(|it| !it.is_control() || matches!(it, '\n' | '\t')).collect();
        if is_long(&text) {
            let mark = mark(self.pastes.len(), &text);
            self.pastes.push(text);
            self.insert_text(&mark);
        } else {
            self.insert_text(&text);
        }
    }

    /// Replaces a part of the text, and puts the cursor behind it.
    pub(crate) fn replace(&mut self, range: std::ops::Range<usize>, by: &str) {
        self.remember();
        self.text.replace_range(range.clone(), by);
        self.cursor = range.start + by.len();
    }

    /// Handles a key; returns whether it had a meaning. Up on the first line and Down on the last have none.
    pub(crate) fn key(&mut self, key: Key) -> bool {
        if !matches!(key.code, Code::Up | Code::Down) && key != Key::ctrl('p') && key != Key::ctrl('n') {
            self.goal = None;
        }
        if self.vi.is_some()
            && let Some(is_handled) = self.vi_key(key)
        {
            return is_handled;
        }
        self.emacs_key(key)
    }

    fn emacs_key(&mut self, key: Key) -> bool {
        if let Some(character) = key.typed() {
            self.type_character(character);
            return true;
        }
        let Key { code, ctrl, alt, .. } = key;
        match (code, ctrl, alt) {
            (Code::Enter, ..) | (Code::Char('j'), true, false) => self.insert("\n"),
            (Code::Char('a'), true, false) | (Code::Home, false, _) => self.cursor = self.line_start(),
            (Code::Char('e'), true, false) | (Code::End, false, _) => self.cursor = self.line_end(),
            (Code::Home, true, _) | (Code::Char('<'), false, true) => self.cursor = 0,
            (Code::End, true, _) | (Code::Char('>'), false, true) => self.cursor = self.text.len(),
            (Code::Char('b'), true, false) | (Code::Left, false, false) => self.cursor = self.left(),
            (Code::Char('f'), true, false) | (Code::Right, false, false) => self.cursor = self.right(),
            (Code::Char('b'), false, true) | (Code::Left, ..) => self.cursor = self.word_left(),
            (Code::Char('f'), false, true) | (Code::Right, ..) => self.cursor = self.word_right(),
            (Code::Up, ..) | (Code::Char('p'), true, false) => return self.vertical(-1),
            (Code::Down, ..) | (Code::Char('n'), true, false) => return self.vertical(1),
            (Code::Char('h'), true, false) | (Code::Backspace, false, false) => {
                let from = self.left();
                self.delete(from..self.cursor);
            }
            (Code::Delete, false, false) => self.delete(self.cursor..self.right()),
            (Code::Char('d'), true, false) if !self.text.is_empty() => self.delete(self.cursor..self.right()),
            (Code::Char('w'), true, false) => {
                let from = self.blank_left();
                self.kill(from..self.cursor);
            }
            (Code::Backspace, ..) => {
                let from = self.word_left();
                self.kill(from..self.cursor);
            }
            (Code::Char('d'), false, true) | (Code::Delete, ..) => self.kill(self.cursor..self.word_right()),
            (Code::Char('k'), true, false) => {
                let end = self.line_end();
                // at the end of a line, the line end itself
                let end = if end == self.cursor { self.right() } else { end };
                self.kill(self.cursor..end);
            }
            (Code::Char('u'), true, false) => {
                let start = self.line_start();
                let start = if start == self.cursor { self.left() } else { start };
                self.kill(start..self.cursor);
            }
            (Code::Char('y'), true, false) => {
                let killed = self.killed.clone();
                self.insert(&killed);
            }
            (Code::Char('_'), true, false) | (Code::Char('/'), false, true) => self.undo(),
            (Code::Char('t'), true, false) => self.transpose(),
            _ => return false,
        }
        true
    }

    fn type_character(&mut self, character: char) {
        if !self.is_typing || character == ' ' {
            self.remember();
        }
        self.is_typing = true;
        self.text.insert(self.cursor, character);
        self.cursor += character.len_utf8();
    }

    fn insert(&mut self, text: &str) {
        self.remember();
        self.insert_text(text);
    }

    fn insert_text(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    fn delete(&mut self, range: std::ops::Range<usize>) {
        if range.is_empty() {
            return;
        }
        self.remember();
        self.cursor = range.start;
        self.text.replace_range(range, "");
    }

    fn kill(&mut self, range: std::ops::Range<usize>) {
        if !range.is_empty() {
            self.text[range.clone()].clone_into(&mut self.killed);
            self.delete(range);
        }
    }

    fn transpose(&mut self) {
        let (from, to) = (self.left(), self.right());
        if from < self.cursor && self.cursor < to {
            let swapped = format!("{}{}", &self.text[self.cursor..to], &self.text[from..self.cursor]);
            self.replace(from..to, &swapped);
        }
    }

    fn remember(&mut self) {
        self.is_typing = false;
        if self.undo.last().is_some_and(|(text, _)| *text == self.text) {
            return;
        }
        if self.undo.len() == MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push((self.text.clone(), self.cursor));
    }

    fn undo(&mut self) {
        while let Some((text, cursor)) = self.undo.pop() {
            if text != self.text {
                (self.text, self.cursor) = (text, cursor);
                break;
            }
        }
        self.is_typing = false;
    }
}

fn is_long(text: &str) -> bool {
    text.len() > MAX_SHOWN_PASTE || text.lines().count() > MAX_SHOWN_LINES
}

/// Returns what stands in the text for a long paste.
fn mark(index: usize, paste: &str) -> String {
    format!("[paste {}: {} lines, {} bytes]", index + 1, paste.lines().count(), paste.len())
}

#[cfg(test)]
mod tests;
