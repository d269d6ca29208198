//! Writes the log: one line per event, one write per line, so that lines of several processes never mix.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use super::secrets::Secrets;
use crate::printer::Printer;
use crate::sanitize::sanitized_text;

/// The longest line, in bytes. Pipes accept writes of up to 4096 bytes as one.
const MAX_LINE: usize = 4096;

/// The destination of lines, and the secrets to remove from them.
#[derive(Debug, Clone)]
pub(super) struct LineWriter {
    destination: Destination,
    secrets: Secrets,
}

#[derive(Debug, Clone)]
enum Destination {
    File(Arc<File>),
    Stderr(Printer),
}

impl LineWriter {
    pub(super) fn file(file: File, secrets: Secrets) -> Self {
        Self { destination: Destination::File(Arc::new(file)), secrets }
    }

    pub(super) fn stderr(printer: Printer, secrets: Secrets) -> Self {
        Self { destination: Destination::Stderr(printer), secrets }
    }
}

impl Write for LineWriter {
    /// Takes a whole event.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let line = line(&String::from_utf8_lossy(event), &self.secrets);
        match &self.destination {
            Destination::File(file) => (&**file).write_all(line.as_bytes())?,
            Destination::Stderr(printer) => printer.log_line(&line),
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the event as one line: without secrets, and with nothing a terminal would obey.
fn line(event: &str, secrets: &Secrets) -> String {
    let text = secrets.masked(event.trim_end_matches('\n'));
    let mut line = sanitized_text(&text).replace('\n', "\\n");
    if line.len() >= MAX_LINE {
        let end = (0..MAX_LINE - '…'.len_utf8()).rev().find(|end| line.is_char_boundary(*end));
        line.truncate(end.unwrap_or_default());
        line.push('…');
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_becomes_one_line_without_control_characters() {
        assert_eq!(line("a\nb\u{1b}[2J\n", &Secrets::default()), "a\\nb\\u{1b}[2J\n");
    }

    #[test]
    fn long_event_is_cut_at_a_character() {
        let long = line(&"é".repeat(5000), &Secrets::default());
        assert!(long.len() <= MAX_LINE && long.ends_with("…\n"), "{}", long.len());
    }
}
