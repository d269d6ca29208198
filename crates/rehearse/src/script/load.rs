//! Reads scripts from YAML or JSON text and says where they are wrong.
//!
//! One parser serves both, since YAML 1.2 contains JSON. Rules between fields are checked here, after the shape.

use std::path::Path;

use serde_saphyr::{Options, options};

use super::Script;
use crate::Error;

impl Script {
    /// Reads a script from YAML or JSON text; `name` stands for the file in error messages.
    ///
    /// ```
    /// use musher_rehearse::Script;
    /// let error = Script::parse("my.yaml", "replies:\n  - stpes: []\n").unwrap_err();
    /// assert!(error.to_string().starts_with("my.yaml:2:5: unknown field `stpes`"), "{error}");
    /// ```
    pub fn parse(name: &str, text: &str) -> Result<Self, Error> {
        serde_saphyr::from_str_with_options(text, parser_options()).map_err(|error| located(name, &error))
    }

    /// Reads a script file, YAML or JSON.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs_err::read_to_string(path).map_err(Error::ReadScript)?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// The JSON schema of script files, for editors and checkers.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}

fn parser_options() -> Options {
    options! { with_snippet: false }
}

fn located(name: &str, error: &serde_saphyr::Error) -> Error {
    let (line, column) = error.location().map_or((1, 1), |location| (location.line(), location.column()));
    Error::Script { name: name.to_owned(), line, column, message: error.to_string() }
}
