//! Numbers of the protocol: counts, durations, timestamps.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// A number that should be a non-negative integer, preserved as it was sent.
///
/// Peers written in a language without integers may send `12.5` for a duration; the message must still parse.
///
/// ```
/// use musher_wire::Count;
///
/// assert_eq!(Count::from(3).get(), 3);
/// assert_eq!(serde_json::from_str::<Count>("12.5")?.get(), 12);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Count(Number);

impl Count {
    /// Returns the number as an integer: fractions are truncated, negative numbers become 0.
    pub fn get(&self) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast from float saturates, which is intended"
        )]
        let of_float = |float: f64| float as u64;
        self.0.as_u64().or_else(|| self.0.as_f64().map(of_float)).unwrap_or_default()
    }
}

impl Default for Count {
    fn default() -> Self {
        Self::from(0)
    }
}

impl From<u64> for Count {
    fn from(number: u64) -> Self {
        Self(number.into())
    }
}

impl fmt::Debug for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}
