//! A chat on the screen of an emulated terminal.

use std::time::{Duration, Instant};

use crate::pty::Terminal;
use crate::run::stage::Stage;

/// Generous: it only ends tests that would never end.
const DEADLINE: Duration = Duration::from_secs(40);
/// Around each frame.
const BEGIN: &[u8] = b"\x1b[?2026h";
const END: &[u8] = b"\x1b[?2026l";
/// How often files are looked at while nothing is written to the screen.
const LOOK: Duration = Duration::from_millis(100);
/// Shown when keys are answers.
pub(super) const ARMED: &str = "press a key, or choose";

/// The program on a screen.
pub(super) struct Screen {
    pub(super) terminal: Terminal,
    emulator: vt100::Parser,
    /// The beginning of a frame that is not complete.
    rest: Vec<u8>,
}

impl Screen {
    /// Starts a chat with these arguments on a screen of 80 columns and 24 rows.
    pub(super) fn start(stage: &Stage, arguments: &[&str]) -> Self {
        Self::sized(stage, arguments, (80, 24))
    }

    pub(super) fn sized(stage: &Stage, arguments: &[&str], size: (u16, u16)) -> Self {
        Self::of(stage.musher(&[&["chat"], arguments].concat()), size)
    }

    pub(super) fn of(mut command: std::process::Command, size: (u16, u16)) -> Self {
        // the emulator does not wrap lines again, as xterm
        command.env("XTERM_VERSION", "test");
        let terminal = Terminal::start_sized(command, None, size);
        Self {
            terminal,
            emulator: vt100::Parser::new(nonzero(size.1), nonzero(size.0), 20_000),
            rest: Vec::new(),
        }
    }

    /// Shows whole frames only, as a terminal that knows them does: half a frame is not what a user sees.
    fn process(&mut self, bytes: &[u8]) {
        self.rest.extend(bytes);
        let find = |wanted: &[u8]| self.rest.windows(wanted.len()).rposition(|it| it == wanted);
        let begun = find(BEGIN).filter(|begun| find(END).is_none_or(|end| end < *begun));
        let cut = (1..BEGIN.len()).rev().find(|count| self.rest.ends_with(&BEGIN[..*count]));
        let until = begun.or(cut.map(|count| self.rest.len() - count)).unwrap_or(self.rest.len());
        let whole: Vec<u8> = self.rest.drain(..until).collect();
        self.emulator.process(&whole);
    }

    /// Types keys.
    pub(super) fn press(&mut self, keys: &str) {
        self.terminal.type_in(keys);
    }

    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.emulator.screen_mut().set_size(nonzero(size.1), nonzero(size.0));
        self.terminal.resize_to(size);
    }

    /// The rows of the screen, without the empty ones at the end.
    pub(super) fn rows(&self) -> Vec<String> {
        let screen = self.emulator.screen();
        let mut rows: Vec<String> =
            screen.rows(0, screen.size().1.get()).map(|row| row.trim_end().to_owned()).collect();
        while rows.last().is_some_and(String::is_empty) {
            rows.pop();
        }
        rows
    }

    pub(super) fn text(&self) -> String {
        self.rows().join("\n")
    }

    /// The rows of the scrollback and of the screen.
    pub(super) fn all_rows(&mut self) -> Vec<String> {
        let screen = self.emulator.screen_mut();
        screen.set_scrollback(usize::MAX);
        let (above, columns) = (screen.scrollback(), screen.size().1);
        let mut rows = Vec::new();
        for offset in (1..=above).rev() {
            screen.set_scrollback(offset);
            rows.extend(screen.rows(0, columns.get()).next().map(|row| row.trim_end().to_owned()));
        }
        screen.set_scrollback(0);
        rows.extend(self.rows());
        rows
    }

    /// The row and column of the cursor.
    pub(super) fn cursor(&self) -> (u16, u16) {
        self.emulator.screen().cursor_position()
    }

    /// Waits until the screen is as it should be.
    pub(super) fn until_it(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        while !is_so(self) {
            assert!(Instant::now() < deadline, "not in time: {what}\n{}", self.text());
            // not all that is waited for is on the screen
            match self.terminal.more(deadline.min(Instant::now() + LOOK)) {
                Some(bytes) => self.process(&bytes),
                None => panic!("the program has ended before: {what}\n{}", self.text()),
            }
        }
    }

    /// Waits until this is on the screen.
    pub(super) fn until(&mut self, text: &str) {
        self.until_it(&format!("`{text}`"), |screen| screen.text().contains(text));
    }

    /// Waits until this is not on the screen.
    pub(super) fn until_gone(&mut self, text: &str) {
        self.until_it(&format!("no `{text}`"), |screen| !screen.text().contains(text));
    }

    /// Waits until the prompt is ready and no turn runs.
    pub(super) fn until_idle(&mut self) {
        self.until_it("idle", |screen| {
            let text = screen.text();
            text.contains("› Ask for a change") && !text.contains("Esc interrupts")
        });
    }

    /// Waits for the end of the program: its exit code.
    pub(super) fn end(&mut self) -> Option<i32> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            match self.terminal.more(deadline) {
                Some(bytes) if bytes.is_empty() => panic!("it does not end\n{}", self.text()),
                Some(bytes) => self.process(&bytes),
                None => {
                    self.emulator.process(&std::mem::take(&mut self.rest));
                    return self.terminal.end();
                }
            }
        }
    }

    /// Leaves the chat with an empty prompt.
    pub(super) fn quit(&mut self) {
        self.press("\u{4}");
        assert_eq!(self.end(), Some(0), "{}", self.text());
    }
}

fn nonzero(size: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(size).unwrap()
}
