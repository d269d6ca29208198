//! The keys of vi: insert and normal mode, the usual motions, and the operators `d`, `c` and `y`.

use super::super::keys::{Code, Key};
use super::Editor;

/// The state of vi.
#[derive(Debug, Default)]
pub(super) struct Vi {
    pub(super) is_normal: bool,
    /// An operator, or a key that needs another one.
    pending: Option<char>,
}

impl Editor {
    /// Handles a key of vi; `None` if it has its usual meaning.
    pub(super) fn vi_key(&mut self, key: Key) -> Option<bool> {
        let is_normal = self.vi.as_ref()?.is_normal;
        if key.code == Code::Escape {
            if is_normal {
                let had_pending = self.vi.as_mut()?.pending.take().is_some();
                return Some(had_pending);
            }
            if self.cursor > self.line_start() {
                self.cursor = self.left();
            }
            self.vi.as_mut()?.is_normal = true;
            self.is_typing = false;
            return Some(true);
        }
        if !is_normal {
            return None;
        }
        let Some(typed) = key.typed() else {
            let moves =
                matches!(key.code, Code::Left | Code::Right | Code::Up | Code::Down | Code::Home | Code::End);
            return if moves || key.ctrl || key.code == Code::Enter { None } else { Some(true) };
        };
        match self.vi.as_mut()?.pending.take() {
            Some('r') => {
                if self.cursor < self.line_end() {
                    self.replace(self.cursor..self.right(), &typed.to_string());
                    self.cursor = self.left();
                }
            }
            Some('g') => {
                if typed == 'g' {
                    self.cursor = 0;
                }
            }
            Some(operator) => self.operate(operator, typed),
            None => return Some(self.command(typed)),
        }
        Some(true)
    }

    fn command(&mut self, typed: char) -> bool {
        match typed {
            'i' => self.begin_insert(),
            'a' => {
                if self.cursor < self.line_end() {
                    self.cursor = self.right();
                }
                self.begin_insert();
            }
            'I' => {
                self.cursor = self.first_word_of_line();
                self.begin_insert();
            }
            'A' => {
                self.cursor = self.line_end();
                self.begin_insert();
            }
            'o' => {
                self.cursor = self.line_end();
                self.insert("\n");
                self.begin_insert();
            }
            'O' => {
                self.cursor = self.line_start();
                self.insert("\n");
                self.cursor = self.left();
                self.begin_insert();
            }
            'x' => {
                let end = self.line_end().min(self.right());
                self.kill(self.cursor..end);
            }
            'X' => {
                let from = self.left().max(self.line_start());
                self.kill(from..self.cursor);
            }
            'D' => self.kill(self.cursor..self.line_end()),
            'C' => {
                self.kill(self.cursor..self.line_end());
                self.begin_insert();
            }
            'p' | 'P' => self.put(typed == 'p'),
            'u' => self.undo(),
            'd' | 'c' | 'y' | 'r' | 'g' => {
                if let Some(vi) = &mut self.vi {
                    vi.pending = Some(typed);
                }
            }
            'j' => return self.vertical(1),
            'k' => return self.vertical(-1),
            motion => match self.motion(motion) {
                Some(to) => self.cursor = to,
                // other commands have no meaning here, and are not text either
                None => return !matches!(motion, '?' | '/'),
            },
        }
        true
    }

    fn begin_insert(&mut self) {
        if let Some(vi) = &mut self.vi {
            vi.is_normal = false;
        }
    }

    fn operate(&mut self, operator: char, motion: char) {
        if motion == operator && operator != 'c' {
            return self.operate_on_line(operator);
        }
        let range = if motion == operator {
            self.line_start()..self.line_end()
        } else {
            let Some(to) = self.motion(motion) else { return };
            // `e` includes the character it goes to
            let to = if motion == 'e' { self.after(to) } else { to };
            to.min(self.cursor)..to.max(self.cursor)
        };
        if operator == 'y' {
            self.text[range.clone()].clone_into(&mut self.killed);
            self.cursor = range.start;
            return;
        }
        self.kill(range);
        if operator == 'c' {
            self.begin_insert();
        }
    }

    /// `dd` and `yy`: what is kept ends with a line end, so that it is put back as a line.
    fn operate_on_line(&mut self, operator: char) {
        let (start, end) = (self.line_start(), self.line_end());
        let line = format!("{}\n", &self.text[start..end]);
        if operator == 'd' {
            // the last line goes with the line end before it
            let range = if end < self.text.len() { start..end + 1 } else { start.saturating_sub(1)..end };
            self.delete(range);
            self.cursor = self.line_start();
        }
        self.killed = line;
    }

    fn put(&mut self, is_after: bool) {
        let killed = self.killed.clone();
        let Some(line) = killed.strip_suffix('\n') else {
            if is_after && self.cursor < self.line_end() {
                self.cursor = self.right();
            }
            return self.insert(&killed);
        };
        if is_after {
            self.cursor = self.line_end();
            let start = self.cursor + 1;
            self.insert(&format!("\n{line}"));
            self.cursor = start;
        } else {
            self.cursor = self.line_start();
            let start = self.cursor;
            self.insert(&killed);
            self.cursor = start;
        }
    }

    fn motion(&self, key: char) -> Option<usize> {
        Some(match key {
            'h' => self.left().max(self.line_start()),
            'l' | ' ' => self.right().min(self.line_end()),
            'w' => self.next_word(),
            'b' => self.word_left(),
            'e' => self.word_end(),
            '0' => self.line_start(),
            '^' => self.first_word_of_line(),
            '$' => self.line_end(),
            'G' => self.text.len(),
            _ => return None,
        })
    }

    fn next_word(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let word = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let blank = rest[word..].find(|it: char| !it.is_whitespace()).unwrap_or(rest.len() - word);
        self.cursor + word + blank
    }

    fn word_end(&self) -> usize {
        let from = self.right();
        let rest = &self.text[from..];
        let Some(start) = rest.find(|it: char| !it.is_whitespace()) else { return self.text.len() };
        let end = rest[start..].find(char::is_whitespace).map_or(rest.len(), |at| start + at);
        rest[..end].char_indices().next_back().map_or(from, |(at, _)| from + at)
    }

    fn after(&self, at: usize) -> usize {
        self.text[at..].chars().next().map_or(at, |it| at + it.len_utf8())
    }

    fn first_word_of_line(&self) -> usize {
        let (start, end) = (self.line_start(), self.line_end());
        self.text[start..end].find(|it: char| !it.is_whitespace()).map_or(end, |at| start + at)
    }
}
