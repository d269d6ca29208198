//! The only place that writes to stdout and stderr: data to the one, everything else to the other.
//!
//! Text from outside goes through [`sanitized`] first, so that nobody can send commands to the user's terminal.

use std::io::{self, Write as _};

use crate::exit::{Exit, Failure};

/// Writes for the user.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer;

impl Printer {
    pub(crate) fn new() -> Self {
        Self
    }

    /// A line of the data that was asked for.
    #[expect(clippy::disallowed_methods, reason = "this is the place where stdout is written")]
    #[expect(clippy::unused_self, reason = "whoever prints has been given a printer")]
    pub(crate) fn data(self, line: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{line}")?;
        stdout.flush()
    }

    /// A line about what happens. Nobody being there to read it is no reason to stop.
    #[expect(clippy::unused_self, reason = "whoever prints has been given a printer")]
    pub(crate) fn note(self, line: &str) {
        drop(writeln!(io::stderr().lock(), "{line}"));
    }

    /// Why the command did not do its work, and what can be done about it.
    pub(crate) fn failure(self, failure: &Failure) {
        self.note(&format!("error: {}", failure.error));
        for cause in failure.error.chain().skip(1) {
            self.note(&format!("  caused by: {cause}"));
        }
        for (index, hint) in failure.hints.iter().enumerate() {
            let blank = if index == 0 { "\n" } else { "" };
            self.note(&format!("{blank}hint: {hint}"));
        }
    }

    /// Help, the version, or what is wrong with the arguments.
    #[expect(clippy::unused_self, reason = "whoever prints has been given a printer")]
    pub(crate) fn usage(self, error: &clap::Error) -> Exit {
        // Printing help into a closed pipe is no failure.
        drop(error.print());
        if error.use_stderr() { Exit::Setup } else { Exit::Done }
    }
}

/// One line without control characters, at most so many characters long.
pub(crate) fn sanitized(text: &str, longest: usize) -> String {
    let clean = |character: char| if character.is_control() { ' ' } else { character };
    let mut line: String = text.chars().map(clean).take(longest).collect();
    if text.chars().nth(longest).is_some() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_speak_to_the_terminal() {
        assert_eq!(sanitized("a\u{1b}[31m\nb\u{9b}c", 80), "a [31m b c");
        assert_eq!(sanitized("abcdef", 3), "abc…");
        assert_eq!(sanitized("abc", 3), "abc");
    }
}
