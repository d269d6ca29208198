//! Where the cursor can go: characters as users see them, words, lines.

use unicode_segmentation::UnicodeSegmentation as _;

use super::Editor;
use crate::view::text::width;

impl Editor {
    pub(super) fn left(&self) -> usize {
        self.text[..self.cursor].grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    pub(super) fn right(&self) -> usize {
        self.text[self.cursor..].graphemes(true).next().map_or(self.text.len(), |it| self.cursor + it.len())
    }

    pub(super) fn word_left(&self) -> usize {
        let mut words = self.text[..self.cursor].unicode_word_indices();
        words.next_back().map_or(0, |(at, _)| at)
    }

    pub(super) fn word_right(&self) -> usize {
        let mut words = self.text[self.cursor..].unicode_word_indices();
        words.next().map_or(self.text.len(), |(at, word)| self.cursor + at + word.len())
    }

    /// Returns the beginning of what stands before the cursor up to a blank.
    pub(super) fn blank_left(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8))
    }

    pub(super) fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    pub(super) fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    /// Moves a line up or down; returns whether there is one.
    pub(super) fn vertical(&mut self, by: isize) -> bool {
        let (start, end) = (self.line_start(), self.line_end());
        let column = self.goal.unwrap_or_else(|| width(&self.text[start..self.cursor]));
        let target = if by < 0 {
            let Some(last) = start.checked_sub(1) else { return false };
            self.text[..last].rfind('\n').map_or(0, |at| at + 1)
        } else {
            if end == self.text.len() {
                return false;
            }
            end + 1
        };
        self.goal = Some(column);
        let line = self.text[target..].split('\n').next().unwrap_or_default();
        let mut used = 0;
        let at = line.grapheme_indices(true).find(|(_, cluster)| {
            used += width(cluster);
            used > column
        });
        self.cursor = target + at.map_or(line.len(), |(at, _)| at);
        true
    }
}
