//! The keys in the environment, which are removed from everything that is logged or exported.

use std::borrow::Cow;
use std::ffi::OsString;
use std::sync::Arc;

/// Values shorter than this are not searched for: they are no keys.
const MIN_SECRET: usize = 8;

/// Suffixes of the names of variables with secret values. The last holds headers, such as `authorization`.
const SECRET_NAMES: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "OTLP_HEADERS"];

/// The values of variables that look like keys. Nothing logs them on purpose; this is for texts of other programs.
#[derive(Debug, Clone, Default)]
pub(super) struct Secrets(Arc<[String]>);

impl Secrets {
    pub(super) fn of_environment() -> Self {
        Self::of(crate::hide::variables().iter().cloned())
    }

    fn of(variables: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let is_secret = |name: &str| SECRET_NAMES.iter().any(|end| name.to_ascii_uppercase().ends_with(end));
        let values = variables
            .filter(|(name, _)| name.to_str().is_some_and(is_secret))
            .filter_map(|(_, value)| value.into_string().ok())
            .filter(|value| value.len() >= MIN_SECRET);
        Self(values.collect())
    }

    /// Returns the text without secrets.
    pub(super) fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in &*self.0 {
            if text.contains(secret) {
                text = Cow::Owned(text.replace(secret, "***"));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_key_variables_are_masked() {
        let variables = [("VENDOR_API_KEY", "sk-canary-1"), ("PIN_KEY", "1234"), ("LANG", "en_US.UTF-8")];
        let secrets = Secrets::of(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        assert_eq!(secrets.masked("sk-canary-1 1234 en_US.UTF-8"), "*** 1234 en_US.UTF-8");
    }
}
