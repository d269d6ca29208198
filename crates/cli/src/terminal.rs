//! The terminal: whether there is one, its width and colours, the line that shows that we wait, and typed answers.
//!
//! A thin shell: what is shown is made in `view.rs`, and written by the printer.

mod answers;

use std::io::{self, IsTerminal as _};
use std::time::Duration;

use crate::look::{Look, cut};
use crate::printer::Printer;
use crate::styled::Styled;
use crate::view::Piece;

pub(crate) use answers::Answers;

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// How long a frame is shown.
pub(crate) const FRAME: Duration = Duration::from_millis(100);
/// Waiting is shown only if there is something to wait for.
const PATIENCE: Duration = Duration::from_millis(300);

/// Where things are shown.
#[derive(Debug)]
pub(crate) struct Screen {
    printer: Printer,
    has_terminal: bool,
    look: Look,
    is_spinning: bool,
    frame: usize,
}

impl Screen {
    pub(crate) fn new(printer: Printer) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_terminal = io::stderr().is_terminal() && !is_dumb;
        Self { printer, has_terminal, look: Look::of_stderr(), is_spinning: false, frame: 0 }
    }

    pub(crate) fn look(&self) -> Look {
        self.look
    }

    /// How many columns there are now; a window may be resized.
    #[expect(clippy::unused_self, reason = "whoever has a screen may ask for its width")]
    pub(crate) fn width(&self) -> usize {
        Look::of_stderr().width.unwrap_or(usize::MAX)
    }

    /// Shows pieces of a turn.
    pub(crate) fn show(&mut self, pieces: &[Piece]) -> io::Result<()> {
        if !pieces.is_empty() {
            self.clear();
        }
        for piece in pieces {
            match piece {
                Piece::Said(text) => self.printer.said(text)?,
                Piece::Note(line) => self.printer.note(line.clone()),
            }
        }
        Ok(())
    }

    pub(crate) fn note(&mut self, line: impl Into<Styled>) {
        self.clear();
        self.printer.note(line);
    }

    /// Shows that we wait, for what and since when.
    pub(crate) fn spin(&mut self, doing: &str, since: Duration) {
        if !self.has_terminal || since < PATIENCE {
            return;
        }
        self.frame = (self.frame + 1) % FRAMES.len();
        let (frame, seconds) = (FRAMES[self.frame], since.as_secs());
        // one column less than there are, so that no terminal begins a new line
        let line = cut(&format!("{frame} {doing} {seconds}s"), self.width().saturating_sub(1));
        self.printer.redraw(&self.look.dim(&line));
        self.is_spinning = true;
    }

    /// The line where an answer is typed.
    pub(crate) fn prompt(&mut self, label: &str) {
        self.clear();
        self.printer.draw(&(self.look.strong(label) + " "));
    }

    /// Takes away what shows that we wait.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.is_spinning) {
            self.printer.redraw(&Styled::default());
        }
    }
}

/// Whether the answer goes to a terminal, piece by piece.
#[expect(clippy::disallowed_methods, reason = "it is only looked at")]
pub(crate) fn is_stdout_a_terminal() -> bool {
    io::stdout().is_terminal()
}
