//! Writes the log: one line per event, one write per line, so that lines of several processes never mix.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use crate::printer::Printer;
use crate::sanitize::sanitized_text;

/// The longest line, in bytes. Pipes accept writes of up to 4096 bytes as one.
const MAX_LINE: usize = 4096;

/// Values shorter than this are not searched for: they are no keys.
const MIN_SECRET: usize = 8;

/// Suffixes of the names of variables with secret values.
const SECRET_NAMES: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];

/// The destination of lines, and the secrets to remove from them.
#[derive(Debug, Clone)]
pub(super) struct LineWriter {
    destination: Destination,
    secrets: Arc<[String]>,
}

#[derive(Debug, Clone)]
enum Destination {
    File(Arc<File>),
    Stderr(Printer),
}

impl LineWriter {
    pub(super) fn file(file: File) -> Self {
        Self { destination: Destination::File(Arc::new(file)), secrets: secrets(std::env::vars_os()) }
    }

    pub(super) fn stderr(printer: Printer) -> Self {
        Self { destination: Destination::Stderr(printer), secrets: secrets(std::env::vars_os()) }
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

/// The event as one line: without secrets, and with nothing a terminal would obey.
fn line(event: &str, secrets: &[String]) -> String {
    let mut text = Cow::Borrowed(event.trim_end_matches('\n'));
    for secret in secrets {
        if text.contains(secret) {
            text = Cow::Owned(text.replace(secret, "***"));
        }
    }
    let mut line = sanitized_text(&text).replace('\n', "\\n");
    if line.len() >= MAX_LINE {
        let end = (0..MAX_LINE - '…'.len_utf8()).rev().find(|end| line.is_char_boundary(*end));
        line.truncate(end.unwrap_or_default());
        line.push('…');
    }
    line.push('\n');
    line
}

/// The values of variables that look like keys. Nothing logs them on purpose; this is for texts of other programs.
fn secrets(variables: impl Iterator<Item = (std::ffi::OsString, std::ffi::OsString)>) -> Arc<[String]> {
    let is_secret = |name: &str| SECRET_NAMES.iter().any(|end| name.to_ascii_uppercase().ends_with(end));
    variables
        .filter(|(name, _)| name.to_str().is_some_and(is_secret))
        .filter_map(|(_, value)| value.into_string().ok())
        .filter(|value| value.len() >= MIN_SECRET)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_becomes_one_line_without_control_characters() {
        assert_eq!(line("a\nb\u{1b}[2J\n", &[]), "a\\nb\\u{1b}[2J\n");
    }

    #[test]
    fn long_event_is_cut_at_a_character() {
        let long = line(&"é".repeat(5000), &[]);
        assert!(long.len() <= MAX_LINE && long.ends_with("…\n"), "{}", long.len());
    }

    #[test]
    fn values_of_key_variables_are_masked() {
        let variables = [("VENDOR_API_KEY", "sk-canary-1"), ("PIN_KEY", "1234"), ("LANG", "en_US.UTF-8")];
        let secrets = secrets(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        assert_eq!(line("sk-canary-1 1234 en_US.UTF-8", &secrets), "*** 1234 en_US.UTF-8\n");
    }
}
