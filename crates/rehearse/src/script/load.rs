//! Parses scripts from YAML or JSON text; errors name line and column.
//!
//! One parser serves both, since YAML 1.2 contains JSON. Rules between fields are checked here, after the shape.

use std::path::Path;

use serde_saphyr::{UserMessageFormatter, options};

use super::Script;
use crate::Error;

impl Script {
    /// Parses a script from YAML or JSON text; `name` stands for the file in error messages.
    ///
    /// ```
    /// use musher_rehearse::Script;
    /// let error = Script::parse("my.yaml", "replies:\n  - stpes: []\n").unwrap_err();
    /// assert!(error.to_string().starts_with("my.yaml:2:5: unknown field `stpes`"), "{error}");
    /// ```
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        // Only `true` and `false` are booleans: an answer may well be the word `no`.
        let options = options! { with_snippet: false, strict_booleans: true };
        let script: Self =
            serde_saphyr::from_str_with_options(text, options).map_err(|error| located(name, &error))?;
        if script.replies.is_empty() && script.otherwise.is_none() {
            let message = "the script is empty: it needs `replies`, `otherwise` or both".to_owned();
            return Err(Error::Script { name: name.to_owned(), line: 1, column: 1, message });
        }
        Ok(script)
    }

    /// Reads a script file, YAML or JSON.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs_err::read_to_string(path).map_err(Error::ReadScript)?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Returns the JSON schema of script files, for editors and checkers.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}

fn located(name: &str, error: &serde_saphyr::Error) -> Error {
    let (line, column) = error.location().map_or((1, 1), |location| (location.line(), location.column()));
    let message = error.render_with_formatter(&UserMessageFormatter);
    // The message starts with the position already.
    let message = message.strip_suffix(&format!(" at line {line}, column {column}")).unwrap_or(&message);
    Error::Script { name: name.to_owned(), line, column, message: plain_message(message).to_owned() }
}

/// Replaces a parser message that does not fit: the parser cannot know that a mapping with one key is a step.
fn plain_message(message: &str) -> &str {
    if message == "expected end of mapping after enum variant value" {
        return "a step has exactly one key; start the next step with `-`";
    }
    message
}
