//! A mistake in a settings file: its position, its severity, and a hint how to fix it.

use std::fmt;
use std::path::PathBuf;

/// A mistake in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file, or `environment`.
    pub file: PathBuf,
    /// Line and column of a syntax error, both counted from 1; the column counts bytes.
    pub position: Option<(usize, usize)>,
    /// The field, such as `sessionDefaultSettings.autonomyLevel`.
    pub field: Option<String>,
    /// The message.
    pub message: String,
    /// Its effect.
    pub severity: Severity,
    /// Whether the file belongs to a repository that is not trusted.
    pub is_untrusted: bool,
}

/// The effect of a [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// No session starts: the mistake may hide a restriction.
    Fatal,
    /// The field or file is ignored, everything else applies.
    Error,
    /// No effect; most likely a typo.
    Warning,
}

impl Problem {
    /// Creates an error in a file, without a position.
    pub fn new(file: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            position: None,
            field: None,
            message: message.into(),
            severity: Severity::Error,
            is_untrusted: false,
        }
    }

    /// Returns whether it prevents sessions from starting.
    pub fn is_fatal(&self) -> bool {
        self.severity == Severity::Fatal
    }

    /// Returns a hint how to fix it.
    pub fn advice(&self) -> &'static str {
        match (self.severity, self.is_untrusted) {
            (Severity::Fatal, false) => {
                "fix it or remove it; no session starts until then, because it may hide a restriction"
            }
            (Severity::Fatal, true) => {
                "fix it, remove it, or work in another directory; no session starts here until then, because restrictions of a \
                 repository apply even if it is not trusted"
            }
            (Severity::Error, _) => "fix it; everything else in the file still applies",
            (Severity::Warning, _) => "fix or remove it; it has no effect",
        }
    }

    /// Makes the problem fatal.
    pub(super) fn fatal(self) -> Self {
        Self { severity: Severity::Fatal, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some((line, column)) = self.position {
            write!(f, ":{line}:{column}")?;
        }
        if let Some(field) = &self.field {
            write!(f, ": {field}")?;
        }
        write!(f, ": {}", self.message)
    }
}
