//! Lines of styled text that can be measured and wrapped before they become text for a terminal. Pure.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::sanitize::sanitized_text;
use crate::style::Style;
use crate::styled::Styled;

/// Spaces of a tab.
const TAB: &str = "    ";

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Face {
    pub(crate) is_strong: bool,
    pub(crate) is_dim: bool,
    pub(crate) is_italic: bool,
    pub(crate) is_underlined: bool,
    pub(crate) is_struck: bool,
    pub(crate) color: Option<Color>,
}

/// A color of the terminal's own palette, so that it fits light and dark backgrounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    Red = 31,
    Green = 32,
    Yellow = 33,
    Blue = 34,
    Magenta = 35,
    Cyan = 36,
}

impl Face {
    pub(crate) const PLAIN: Self = Self {
        is_strong: false,
        is_dim: false,
        is_italic: false,
        is_underlined: false,
        is_struck: false,
        color: None,
    };
    pub(crate) const STRONG: Self = Self { is_strong: true, ..Self::PLAIN };
    pub(crate) const DIM: Self = Self { is_dim: true, ..Self::PLAIN };
    pub(crate) const ITALIC: Self = Self { is_italic: true, ..Self::PLAIN };
    pub(crate) const GOOD: Self = Self::of(Color::Green);
    pub(crate) const BAD: Self = Self::of(Color::Red);
    pub(crate) const NOTABLE: Self = Self::of(Color::Yellow);
    pub(crate) const CODE: Self = Self::of(Color::Cyan);

    pub(crate) const fn of(color: Color) -> Self {
        Self { color: Some(color), ..Self::PLAIN }
    }

    fn codes(self) -> Vec<u8> {
        let flags = [
            (self.is_strong, 1),
            (self.is_dim, 2),
            (self.is_italic, 3),
            (self.is_underlined, 4),
            (self.is_struck, 9),
        ];
        let flags = flags.into_iter().filter_map(|(is_set, code)| is_set.then_some(code));
        flags.chain(self.color.map(|color| color as u8)).collect()
    }
}

/// A piece of a line in one face.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    text: String,
    face: Face,
}

/// A line: safe text without line ends and tabs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line {
    spans: Vec<Span>,
}

impl Line {
    pub(crate) fn new(text: &str, face: Face) -> Self {
        Self::default().with(text, face)
    }

    pub(crate) fn plain(text: &str) -> Self {
        Self::new(text, Face::PLAIN)
    }

    /// Adds text.
    #[must_use]
    pub(crate) fn with(mut self, text: &str, face: Face) -> Self {
        self.push(text, face);
        self
    }

    /// Adds text, made safe.
    pub(crate) fn push(&mut self, text: &str, face: Face) {
        if text.is_empty() {
            return;
        }
        let mut text = sanitized_text(text).into_owned();
        if text.contains('\t') {
            text = text.replace('\t', TAB);
        }
        if text.contains('\n') {
            text = text.replace('\n', " ");
        }
        match self.spans.last_mut() {
            Some(last) if last.face == face => last.text.push_str(&text),
            _ => self.spans.push(Span { text, face }),
        }
    }

    /// Adds another line.
    pub(crate) fn append(&mut self, other: Self) {
        for span in other.spans {
            match self.spans.last_mut() {
                Some(last) if last.face == span.face => last.text.push_str(&span.text),
                _ => self.spans.push(span),
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the number of columns.
    pub(crate) fn width(&self) -> usize {
        self.spans.iter().map(|span| width(&span.text)).sum()
    }

    /// Returns the text without its faces.
    #[cfg(test)]
    pub(crate) fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// Returns the line as it is written.
    pub(crate) fn styled(&self, style: Style) -> Styled {
        self.spans
            .iter()
            .fold(Styled::default(), |line, span| line + style.painted(&span.face.codes(), &span.text))
    }

    /// Cuts the line to this number of columns.
    #[must_use]
    pub(crate) fn cut(self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let mut line = Self::default();
        let mut left = columns.saturating_sub(1);
        'all: for span in self.spans {
            let mut kept = String::new();
            for cluster in span.text.graphemes(true) {
                let columns = width(cluster);
                if columns > left {
                    kept.push('…');
                    line.spans.push(Span { text: kept, face: span.face });
                    break 'all;
                }
                left -= columns;
                kept.push_str(cluster);
            }
            line.spans.push(Span { text: kept, face: span.face });
        }
        line
    }

    /// Wraps the line between words; every line but the first begins with `hang` spaces.
    pub(crate) fn wrapped(self, columns: usize, hang: usize) -> Vec<Self> {
        let columns = columns.max(2);
        if self.width() <= columns {
            return vec![self];
        }
        let hang = hang.min(columns / 2);
        let cells: Vec<(&str, usize, Face)> = self
            .spans
            .iter()
            .flat_map(|span| span.text.graphemes(true).map(|it| (it, width(it), span.face)))
            .collect();
        let is_space = |at: usize| cells[at].0 == " ";
        let mut out = Vec::new();
        let mut start = 0;
        while start < cells.len() {
            let room = if out.is_empty() { columns } else { columns - hang };
            let (mut used, mut end, mut after_word) = (0, start, None);
            while end < cells.len() && used + cells[end].1 <= room {
                used += cells[end].1;
                // scripts without spaces have wide characters
                if is_space(end) || cells[end].1 > 1 {
                    after_word = Some(end + 1);
                }
                end += 1;
            }
            let cut = match end {
                end if end == cells.len() || is_space(end) => end,
                end => after_word.filter(|at| *at > start).unwrap_or(end.max(start + 1)),
            };
            let mut line = Self::default();
            if !out.is_empty() && hang > 0 {
                line.push(&" ".repeat(hang), Face::PLAIN);
            }
            let last = (start..cut).rev().find(|at| !is_space(*at)).map_or(start, |at| at + 1);
            for (text, _, face) in &cells[start..last] {
                line.push_safe(text, *face);
            }
            out.push(line);
            start = (cut..cells.len()).find(|at| !is_space(*at)).unwrap_or(cells.len());
        }
        out
    }

    /// Breaks the line wherever a row is full, as a terminal does.
    pub(crate) fn broken(self, columns: usize) -> Vec<Self> {
        let columns = columns.max(2);
        let (mut out, mut line, mut used) = (Vec::new(), Self::default(), 0);
        for span in &self.spans {
            for cluster in span.text.graphemes(true) {
                let wide = width(cluster);
                if used + wide > columns {
                    out.push(std::mem::take(&mut line));
                    used = 0;
                }
                line.push_safe(cluster, span.face);
                used += wide;
            }
        }
        out.push(line);
        out
    }

    fn push_safe(&mut self, text: &str, face: Face) {
        match self.spans.last_mut() {
            Some(last) if last.face == face => last.text.push_str(text),
            _ => self.spans.push(Span { text: text.to_owned(), face }),
        }
    }
}

/// Returns the number of columns of a text.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, columns: usize, hang: usize) -> Vec<String> {
        Line::plain(text).wrapped(columns, hang).iter().map(Line::text).collect()
    }

    #[test]
    fn lines_are_wrapped_between_words_and_long_words_are_broken() {
        assert_eq!(wrapped("one two three", 8, 0), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 7, 2), ["one two", "  three"]);
        assert_eq!(wrapped("abcdefghij", 4, 0), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("a  b", 80, 0), ["a  b"]);
        assert_eq!(wrapped("", 80, 0), [""]);
    }

    #[test]
    fn width_is_that_of_the_screen() {
        assert_eq!(wrapped("日本語です", 6, 0), ["日本語", "です"]);
        assert_eq!(wrapped("e\u{301}e\u{301}e\u{301}", 2, 0), ["e\u{301}e\u{301}", "e\u{301}"]);
        assert_eq!(Line::plain("日本語").cut(5).text(), "日本…");
        assert_eq!(Line::plain("日本語").cut(6).text(), "日本語");
        let broken: Vec<_> = Line::plain("日本語").broken(5).iter().map(Line::text).collect();
        assert_eq!(broken, ["日本", "語"]);
    }

    #[test]
    fn line_is_safe_and_keeps_its_faces() {
        let line = Line::plain("a\tb\u{1b}[2J\n").with("c", Face::STRONG);
        assert_eq!(line.text(), "a    b\\u{1b}[2J c");
        assert_eq!(line.styled(Style::COLORED), "a    b\\u{1b}[2J \u{1b}[1mc\u{1b}[0m");
        assert_eq!(line.styled(Style::PLAIN), "a    b\\u{1b}[2J c");
        let both = Face { is_dim: true, ..Face::BAD };
        assert_eq!(Line::new("x", both).styled(Style::COLORED), "\u{1b}[2;31mx\u{1b}[0m");
    }

    #[test]
    fn faces_survive_wrapping() {
        let lines = Line::plain("one ").with("two three", Face::STRONG).wrapped(8, 0);
        assert_eq!(lines[1], Line::new("three", Face::STRONG));
    }
}
