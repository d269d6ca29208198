//! The only place that writes to stdout and stderr: data to the one, everything else to the other.
//!
//! Text from outside goes through `sanitize.rs` first, so that nobody can send commands to the user's terminal.

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

    /// A piece of the data, wherever its line stands.
    #[expect(clippy::disallowed_methods, reason = "this is the place where stdout is written")]
    #[expect(clippy::unused_self, reason = "whoever prints has been given a printer")]
    pub(crate) fn said(self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()
    }

    /// A piece of a line about what happens.
    #[expect(clippy::unused_self, reason = "whoever prints has been given a printer")]
    pub(crate) fn draw(self, text: &str) {
        let mut stderr = io::stderr().lock();
        drop(stderr.write_all(text.as_bytes()));
        drop(stderr.flush());
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
