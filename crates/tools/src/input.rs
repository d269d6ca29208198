//! Parses the arguments of a call; errors name the argument.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Input, ToolOutput};

/// Parses the arguments as a type; the error output names the invalid argument.
pub(crate) fn parse<T: DeserializeOwned>(input: Input) -> Result<T, ToolOutput> {
    T::deserialize(Value::Object(input)).map_err(|error| {
        let reason = format!("Invalid tool arguments: {error}. Correct them and call the tool again.");
        ToolOutput::error(&reason, &reason)
    })
}

/// Returns a text argument. `None` if it is absent or not a text.
pub(crate) fn text<'a>(input: &'a Input, key: &str) -> Option<&'a str> {
    input.get(key).and_then(Value::as_str)
}

/// Returns a required text argument.
pub(crate) fn required<'a>(input: &'a Input, key: &str) -> Result<&'a str, String> {
    text(input, key)
        .ok_or_else(|| format!("Invalid tool arguments: `{key}` is required. Call the tool again with it."))
}

/// Returns a path argument; the workspace if it is absent or empty.
pub(crate) fn path_or_workspace<'a>(input: &'a Input, key: &str) -> &'a str {
    text(input, key).filter(|path| !path.is_empty()).unwrap_or(".")
}

/// One text or a list of texts; models send either.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    /// Absent.
    #[default]
    None,
    /// One text.
    One(String),
    /// A list.
    Many(Vec<String>),
}

impl OneOrMany {
    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

/// Reads a count. Models send `5`, `5.0` and `"5"`.
pub(crate) fn count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    let number = match &value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.trim().parse::<f64>().ok(),
        Some(value) => value.as_f64(),
    };
    let number = number
        .filter(|number| number.is_finite())
        .ok_or_else(|| serde::de::Error::custom("expected a number"))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range first")]
    Ok(Some(number.clamp(0.0, 9e15) as u64))
}
