//! What to write so that the terminal shows a frame: finished lines once, and the live lines below them again and again. Pure.
//!
//! Finished lines are never touched again, so the scrollback of the terminal stays what it is. Only the live lines are erased, and only
//! from the first one that differs.

use crate::sanitize::sanitized;
use crate::style::Style;
use crate::styled::Styled;
use crate::view::text::Line;

/// Begins and ends a frame that the terminal shows as a whole, if it can.
const BEGIN: &str = "\u{1b}[?2026h\u{1b}[?25l";
const END: &str = "\u{1b}[?25h\u{1b}[?2026l";

/// The lines to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// New lines of the scrollback.
    pub(crate) finished: Vec<Line>,
    /// The lines below, none wider than the screen.
    pub(crate) live: Vec<Line>,
    /// The row and the column of the cursor in the live lines.
    pub(crate) cursor: (usize, usize),
}

/// Commands and safe text for the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Paint(String);

impl Paint {
    /// Commands without text.
    pub(super) fn commands(commands: impl Into<String>) -> Self {
        Self(commands.into())
    }

    /// Returns the title of the window, and whether the terminal shows that something runs.
    pub(super) fn title(title: &str, is_busy: bool) -> Self {
        let progress = if is_busy { "3" } else { "0" };
        Self(format!("\u{1b}]0;{}\u{1b}\\\u{1b}]9;4;{progress}\u{1b}\\", sanitized(title, 80)))
    }

    /// Creates a notification: for terminals that show one, and the bell for the others.
    pub(super) fn notification(text: &str) -> Self {
        let text = sanitized(text, 80).replace(';', ",");
        Self(format!("\u{1b}]9;{text}\u{1b}\\\u{1b}]777;notify;musher;{text}\u{1b}\\\u{7}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// What the terminal shows below the scrollback.
#[derive(Debug)]
pub(crate) struct Painter {
    style: Style,
    /// Whether the terminal wraps its lines again when its width changes.
    reflows: bool,
    columns: usize,
    shown: Vec<Styled>,
    /// The columns of each shown line.
    widths: Vec<usize>,
    cursor: (usize, usize),
}

impl Painter {
    pub(crate) fn new(style: Style, reflows: bool) -> Self {
        Self { style, reflows, columns: 0, shown: Vec::new(), widths: Vec::new(), cursor: (0, 0) }
    }

    /// Changes the style of what is painted from now on.
    pub(crate) fn set_style(&mut self, style: Style) {
        self.style = style;
    }

    /// Shows a frame on a screen of this width.
    pub(crate) fn paint(&mut self, frame: &Frame, columns: usize) -> Paint {
        let live: Vec<Styled> = frame.live.iter().map(|line| line.styled(self.style)).collect();
        let is_same_width = columns == self.columns || self.shown.is_empty();
        let mut out = String::from(BEGIN);
        if frame.finished.is_empty() && is_same_width && !self.shown.is_empty() {
            let same = self.shown.iter().zip(&live).take_while(|(old, new)| old == new).count();
            if same < self.shown.len() || same < live.len() {
                let from = same.min(self.shown.len() - 1).min(live.len().saturating_sub(1));
                self.go_to_row(from, &mut out);
                out.push_str("\u{1b}[J");
                write_lines(&live[from..], &mut out);
                self.cursor = (live.len().saturating_sub(1), 0);
            }
        } else {
            let up = self.rows_above_cursor(columns);
            if up > 0 {
                up_by(up, &mut out);
            }
            out.push_str("\r\u{1b}[J");
            for line in &frame.finished {
                out.push_str(line.styled(self.style).as_str());
                out.push_str("\r\n");
            }
            write_lines(&live, &mut out);
            self.cursor = (live.len().saturating_sub(1), 0);
        }
        self.widths = frame.live.iter().map(Line::width).collect();
        self.shown = live;
        self.columns = columns;
        let (row, column) = frame.cursor;
        self.go_to_row(row, &mut out);
        if column > 0 {
            out.push_str(&["\u{1b}[", &column.to_string(), "C"].concat());
        }
        self.cursor = (row, column);
        out.push_str(END);
        Paint(out)
    }

    /// Erases the live lines; the cursor is where they began.
    pub(crate) fn clear(&mut self, columns: usize) -> Paint {
        let up = self.rows_above_cursor(columns);
        self.shown.clear();
        self.widths.clear();
        self.cursor = (0, 0);
        let up = if up > 0 { format!("\u{1b}[{up}A") } else { String::new() };
        Paint(format!("{up}\r\u{1b}[J"))
    }

    /// Forgets what is shown: something else has written to the terminal.
    pub(crate) fn forget(&mut self) {
        self.shown.clear();
        self.widths.clear();
        self.cursor = (0, 0);
    }

    fn go_to_row(&self, row: usize, out: &mut String) {
        match row.cmp(&self.cursor.0) {
            std::cmp::Ordering::Less => up_by(self.cursor.0 - row, out),
            std::cmp::Ordering::Greater => {
                out.push_str(&["\u{1b}[", &(row - self.cursor.0).to_string(), "B"].concat());
            }
            std::cmp::Ordering::Equal => {}
        }
        out.push('\r');
    }

    /// Returns how many rows of the screen are between the first live line and the cursor, now that the screen may have another width.
    fn rows_above_cursor(&self, columns: usize) -> usize {
        let (row, column) = self.cursor;
        if !self.reflows || columns >= self.columns || columns == 0 {
            return row;
        }
        let above: usize = self.widths.iter().take(row).map(|width| width.div_ceil(columns).max(1)).sum();
        above + column / columns
    }
}

fn up_by(rows: usize, out: &mut String) {
    out.push_str(&["\u{1b}[", &rows.to_string(), "A"].concat());
}

fn write_lines(lines: &[Styled], out: &mut String) {
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            out.push_str("\r\n");
        }
        out.push_str(line.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(finished: &[&str], live: &[&str], cursor: (usize, usize)) -> Frame {
        let lines = |texts: &[&str]| texts.iter().map(|text| Line::plain(text)).collect();
        Frame { finished: lines(finished), live: lines(live), cursor }
    }

    /// Returns the rows of a screen and of its scrollback after these frames.
    fn rows(frames: &[Frame], columns: u16, lines: u16) -> (Vec<String>, (u16, u16)) {
        let mut painter = Painter::new(Style::PLAIN, false);
        let mut screen = vt100::Parser::new(nonzero(lines), nonzero(columns), 10_000);
        for frame in frames {
            screen.process(painter.paint(frame, usize::from(columns)).as_str().as_bytes());
        }
        let cursor = screen.screen().cursor_position();
        (all_rows(&mut screen), cursor)
    }

    fn nonzero(size: u16) -> std::num::NonZeroU16 {
        std::num::NonZeroU16::new(size).unwrap()
    }

    fn all_rows(parser: &mut vt100::Parser) -> Vec<String> {
        let screen = parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let above = screen.scrollback();
        let (_, columns) = screen.size();
        let mut rows = Vec::new();
        for offset in (1..=above).rev() {
            screen.set_scrollback(offset);
            rows.extend(screen.rows(0, columns.get()).next());
        }
        screen.set_scrollback(0);
        rows.extend(screen.rows(0, columns.get()));
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    #[test]
    fn finished_lines_stand_once_above_the_live_ones() {
        let frames = [
            frame(&[], &["> a"], (0, 3)),
            frame(&["one"], &["> a"], (0, 3)),
            frame(&[], &["working", "> a"], (1, 3)),
            frame(&["two", "three"], &["working", "> ab", "status"], (1, 4)),
            frame(&[], &["> ab", "status"], (0, 4)),
        ];
        let (rows, cursor) = rows(&frames, 20, 6);
        assert_eq!(rows, ["one", "two", "three", "> ab", "status"]);
        assert_eq!(cursor, (3, 4));
    }

    #[test]
    fn ten_thousand_lines_stay_in_the_scrollback_in_order() {
        let frames: Vec<_> =
            (0..9_000).map(|number| frame(&[&format!("line {number}")], &["live", "> "], (1, 2))).collect();
        let (rows, _) = rows(&frames, 20, 5);
        let expected: Vec<_> = (0..9_000).map(|number| format!("line {number}")).collect();
        assert_eq!(rows[..9_000], expected);
        assert_eq!(rows[9_000..], ["live", "> "]);
    }

    #[test]
    fn only_lines_that_differ_are_written_again() {
        let mut painter = Painter::new(Style::PLAIN, false);
        painter.paint(&frame(&[], &["same", "old", "end"], (2, 3)), 20);
        let paint = painter.paint(&frame(&[], &["same", "new", "end"], (2, 3)), 20);
        assert!(!paint.as_str().contains("same") && paint.as_str().contains("new"), "{paint:?}");
        let paint = painter.paint(&frame(&[], &["same", "new", "end"], (2, 1)), 20);
        assert!(!paint.as_str().contains("end"), "{paint:?}");
    }

    /// A screen that wraps its lines again, as most terminals do: whole lines, the row and column of the cursor in them.
    struct Reflowing {
        lines: Vec<String>,
        cursor: (usize, usize),
        columns: usize,
    }

    impl Reflowing {
        fn new(columns: usize) -> Self {
            Self { lines: vec![String::new()], cursor: (0, 0), columns }
        }

        /// Rows of the screen: the line, and the column at which they begin.
        fn rows(&self) -> Vec<(usize, usize)> {
            let mut rows = Vec::new();
            for (index, line) in self.lines.iter().enumerate() {
                let count = line.chars().count().div_ceil(self.columns).max(1);
                rows.extend((0..count).map(|row| (index, row * self.columns)));
            }
            rows
        }

        fn row_of_cursor(&self) -> usize {
            let (line, column) = self.cursor;
            self.rows().iter().rposition(|(at, start)| *at == line && *start <= column).unwrap()
        }

        fn write(&mut self, text: &str) {
            let mut rest = text;
            while let Some(first) = rest.chars().next() {
                if let Some(after) = rest.strip_prefix("\u{1b}[") {
                    let end = after.find(|it: char| it.is_ascii_alphabetic()).unwrap();
                    let count = after[..end].parse().unwrap_or(1);
                    match after.as_bytes()[end] {
                        b'A' => self.cursor = self.rows()[self.row_of_cursor() - count],
                        b'B' => self.cursor = self.rows()[self.row_of_cursor() + count],
                        b'C' => self.cursor.1 += count,
                        b'J' => {
                            self.lines.truncate(self.cursor.0 + 1);
                            let kept = self.lines[self.cursor.0].chars().take(self.cursor.1).collect();
                            self.lines[self.cursor.0] = kept;
                        }
                        _ => {}
                    }
                    rest = &after[end + 1..];
                    continue;
                }
                match first {
                    '\r' => self.cursor = self.rows()[self.row_of_cursor()],
                    '\n' => {
                        if self.cursor.0 + 1 == self.lines.len() {
                            self.lines.push(String::new());
                        }
                        self.cursor = (self.cursor.0 + 1, 0);
                    }
                    character => {
                        let line = &mut self.lines[self.cursor.0];
                        assert_eq!(line.chars().count(), self.cursor.1, "it writes at the end of a line");
                        line.push(character);
                        self.cursor.1 += 1;
                    }
                }
                rest = &rest[first.len_utf8()..];
            }
        }
    }

    #[test]
    fn another_width_leaves_nothing_behind_and_takes_nothing_away() {
        let mut painter = Painter::new(Style::PLAIN, true);
        let mut screen = Reflowing::new(60);
        let long = "x".repeat(50);
        screen.write(
            painter
                .paint(&frame(&["finished line", &long], &[&long, "> typed", "status"], (1, 7)), 60)
                .as_str(),
        );
        for columns in [40, 13, 90, 20, 21, 60] {
            screen.columns = columns;
            let cut: String = long.chars().take(columns).collect();
            screen.write(painter.paint(&frame(&[], &[&cut, "> typed", "status"], (1, 7)), columns).as_str());
            assert_eq!(screen.lines, ["finished line", &long, &cut, "> typed", "status"], "{columns}");
            assert_eq!(screen.cursor, (3, 7));
        }
    }
}
