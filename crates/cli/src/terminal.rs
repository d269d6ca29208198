//! The terminal: whether there is one, its width and colours, the spinner, and typed answers.
//!
//! A thin shell: `view.rs` renders the text, and the printer writes it.

mod answers;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use crate::printer::Printer;
use crate::style::{Style, cut};
use crate::styled::Styled;
use crate::view::Piece;

pub(crate) use answers::Answers;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// How long a frame is shown.
pub(crate) const FRAME: Duration = Duration::from_millis(100);
/// How long a wait is before the spinner is shown.
const SPINNER_DELAY: Duration = Duration::from_millis(300);

/// The terminal output of a turn.
#[derive(Debug)]
pub(crate) struct Screen {
    printer: Printer,
    has_terminal: bool,
    style: Style,
    is_spinning: bool,
    frame: usize,
}

impl Screen {
    pub(crate) fn new(printer: Printer) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_terminal = io::stderr().is_terminal() && !is_dumb;
        Self { printer, has_terminal, style: Style::of_stderr(), is_spinning: false, frame: 0 }
    }

    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Returns the current number of columns; a window can be resized.
    #[expect(clippy::unused_self, reason = "the width belongs to a screen")]
    pub(crate) fn width(&self) -> usize {
        Style::of_stderr().width.unwrap_or(usize::MAX)
    }

    /// Shows pieces of a turn.
    pub(crate) fn show(&mut self, pieces: &[Piece]) -> io::Result<()> {
        if !pieces.is_empty() {
            self.clear();
        }
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.printer.said(text)?,
                Piece::Note(line) => self.printer.note(line.clone()),
            }
        }
        Ok(())
    }

    pub(crate) fn note(&mut self, line: impl Into<Styled>) {
        self.clear();
        self.printer.note(line);
    }

    /// Shows a spinner with the current activity and the elapsed time.
    pub(crate) fn spin(&mut self, doing: &str, since: Duration) {
        if !self.has_terminal || since < SPINNER_DELAY {
            return;
        }
        self.frame = (self.frame + 1) % FRAMES.len();
        let (frame, seconds) = (FRAMES[self.frame], since.as_secs());
        // one column less than there are, so that no terminal begins a new line
        let line = cut(&format!("{frame} {doing} {seconds}s"), self.width().saturating_sub(1));
        self.printer.redraw(&self.style.dim(&line));
        self.is_spinning = true;
    }

    /// Shows the end of a text that continues, in place of the spinner.
    pub(crate) fn tail(&mut self, line: &Styled) {
        if self.has_terminal {
            self.printer.redraw(line);
            self.is_spinning = true;
        }
    }

    /// Shows the prompt for a typed answer.
    pub(crate) fn prompt(&mut self, label: &str) {
        self.clear();
        self.printer.draw(&(self.style.strong(label) + " "));
    }

    /// Removes the spinner.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_spinning) {
            self.printer.redraw(&Styled::default());
        }
    }
}

/// Returns whether text can be rendered: stdout and stderr are a terminal that understands commands.
pub(crate) fn renders() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    is_stdout_a_terminal() && io::stderr().is_terminal() && !is_dumb
}

/// Returns whether the answer goes to a terminal, piece by piece.
#[expect(clippy::disallowed_methods, reason = "it is only looked at")]
pub(crate) fn is_stdout_a_terminal() -> bool {
    io::stdout().is_terminal()
}
