//! The only place that writes to stdout and stderr: data to the one, everything else to the other.
//!
//! All output to a terminal is safe: text for users is [`Styled`], which is made safe when it is built, and exact data and JSON are
//! made safe here if stdout is a terminal. Files and pipes get exact data and JSON byte for byte.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write};

use crate::agent_error;
use crate::chat::Paint;
use crate::exit::{Exit, Failure};
use crate::sanitize::{sanitized_json, sanitized_text};
use crate::style::Style;
use crate::styled::Styled;

/// Back to the first column, and the line empty.
const CLEAR: &str = "\r\u{1b}[2K";

/// Writes for the user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    /// Whether stdout is a terminal.
    is_terminal: bool,
}

impl Printer {
    #[expect(clippy::disallowed_methods, reason = "it is only looked at")]
    pub(crate) fn new() -> Self {
        Self { is_terminal: io::stdout().is_terminal() }
    }

    /// Prints a line of the requested data, formatted for users.
    pub(crate) fn data(self, line: impl Into<Styled>) -> io::Result<()> {
        self.write(&[line.into().as_str(), "\n"])
    }

    /// Prints data unchanged to files and pipes, and made safe to a terminal.
    pub(crate) fn exact(self, text: &str) -> io::Result<()> {
        self.write(&[&self.exact_text(text), "\n"])
    }

    /// Prints JSON; on a terminal unsafe characters are escaped, with the same meaning.
    pub(crate) fn json(self, json: &str) -> io::Result<()> {
        self.write(&[&self.json_text(json), "\n"])
    }

    /// Returns a writer for data that is printed in pieces.
    pub(crate) fn stream(self, form: Form) -> Stream {
        Stream { printer: self, form, pending: Vec::new() }
    }

    /// A piece of the data, wherever its line stands.
    pub(crate) fn said(self, text: &Styled) -> io::Result<()> {
        self.write(&[text.as_str()])
    }

    /// Writes a part of a line to stderr.
    pub(crate) fn draw(self, text: &Styled) {
        self.write_error(text.as_str());
    }

    /// Replaces the current line on stderr.
    pub(crate) fn redraw(self, text: &Styled) {
        self.write_error(&format!("{CLEAR}{}", text.as_str()));
    }

    /// Writes a line to stderr. A closed stderr is not an error.
    pub(crate) fn note(self, line: impl Into<Styled>) {
        self.write_error(&format!("{}\n", line.into().as_str()));
    }

    /// Writes a line of the log, which must be safe.
    pub(crate) fn log_line(self, line: &str) {
        self.write_error(line);
    }

    /// Prints why the command failed, with hints.
    pub(crate) fn failure(self, failure: &Failure) {
        let mut causes = agent_error::causes(&failure.error).into_iter();
        let mut shown = causes.next().unwrap_or_default();
        self.note(format!("error: {shown}"));
        for cause in causes {
            // many errors include their cause
            if !shown.contains(&cause) {
                self.note(format!("  caused by: {cause}"));
            }
            shown = cause;
        }
        for (index, hint) in failure.hints.iter().enumerate() {
            let blank = if index == 0 { "\n" } else { "" };
            self.note(format!("{blank}hint: {hint}"));
        }
    }

    /// Prints the help of the program to stderr, since it was not asked for.
    pub(crate) fn help(self, command: &mut clap::Command) {
        self.write_error(&command.render_help().to_string());
    }

    /// Prints help, the version, or an error of the arguments.
    pub(crate) fn usage(self, error: &clap::Error) -> Exit {
        if !error.use_stderr() {
            // nothing in it is from outside, and printing help into a closed pipe is not a failure
            drop(error.print());
            return Exit::Done;
        }
        // it quotes the arguments, which a script may have from anywhere
        let text = error.render().to_string();
        let text = text.trim_end();
        self.note(match text.strip_prefix("error:") {
            Some(rest) => Style::of_stderr().bad("error:") + rest,
            None => text.into(),
        });
        Exit::Setup
    }

    fn exact_text(self, text: &str) -> Cow<'_, str> {
        if self.is_terminal { sanitized_text(text) } else { Cow::Borrowed(text) }
    }

    fn json_text(self, json: &str) -> Cow<'_, str> {
        if self.is_terminal { sanitized_json(json) } else { Cow::Borrowed(json) }
    }

    #[expect(clippy::disallowed_methods, reason = "this is the place where stdout is written")]
    #[expect(clippy::unused_self, reason = "only a caller with a printer may print")]
    fn write(self, parts: &[&str]) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        for part in parts {
            stdout.write_all(part.as_bytes())?;
        }
        stdout.flush()
    }

    #[expect(clippy::unused_self, reason = "only a caller with a printer may print")]
    fn write_error(self, text: &str) {
        let mut stderr = io::stderr().lock();
        drop(stderr.write_all(text.as_bytes()));
        drop(stderr.flush());
    }
}

/// What a stream of data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// The text of [`Styled`].
    Safe,
    /// Text that a terminal gets made safe, like [`Printer::exact`].
    Exact,
    /// JSON, like [`Printer::json`].
    Json,
}

/// Data that is printed in pieces. The last one needs a [`flush`](Write::flush).
#[derive(Debug)]
pub(crate) struct Stream {
    printer: Printer,
    form: Form,
    pending: Vec<u8>,
}

/// Size of the pieces that a stream prints, in bytes.
const PIECE: usize = 64 << 10;

impl Stream {
    fn print(&mut self, is_end: bool) -> io::Result<()> {
        let mut piece = std::mem::take(&mut self.pending);
        if !self.printer.is_terminal || self.form == Form::Safe {
            return write_bytes(&piece);
        }
        // a character may be cut
        let cut = match std::str::from_utf8(&piece) {
            Err(error) if !is_end && error.error_len().is_none() => error.valid_up_to(),
            _ => piece.len(),
        };
        self.pending = piece.split_off(cut);
        let text = String::from_utf8_lossy(&piece);
        let safe = match self.form {
            Form::Json => sanitized_json(&text),
            Form::Safe | Form::Exact => sanitized_text(&text),
        };
        write_bytes(safe.as_bytes())
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= PIECE {
            self.print(false)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.print(true)
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the place where stdout is written")]
fn write_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

/// Writes a frame of a chat, which is safe text and commands.
#[expect(clippy::disallowed_methods, reason = "this is the place where stdout is written")]
pub(crate) fn paint(paint: &Paint) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(paint.as_str().as_bytes())?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}\u{200b}\u{e0041}\r\nb";

    #[test]
    fn terminal_gets_exact_data_made_safe_and_a_pipe_gets_it_as_it_is() {
        let at = |is_terminal| Printer { is_terminal };
        assert_eq!(at(false).exact_text(HOSTILE), HOSTILE);
        let safe = "a\\u{1b}]0;owned\\u{7}\\u{9b}2J\\u{202e}\\u{200b}\\u{e0041}\nb";
        assert_eq!(at(true).exact_text(HOSTILE), safe);
    }

    #[test]
    fn terminal_gets_json_of_the_same_meaning_and_a_pipe_gets_it_as_it_is() {
        let at = |is_terminal| Printer { is_terminal };
        let value = serde_json::json!({ "text": HOSTILE });
        let json = value.to_string();
        assert_eq!(at(false).json_text(&json), json);
        let safe = at(true).json_text(&json);
        assert!(safe.is_ascii() && !safe.contains(|it: char| it.is_control()), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}
