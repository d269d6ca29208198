//! Numbers with a minimum or a maximum, checked while they are parsed so that errors name the line.

use std::fmt;

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer};

/// Parses a number that is at least 1.
pub(super) fn positive<'de, D, N>(deserializer: D) -> Result<N, D::Error>
where
    D: Deserializer<'de>,
    N: Deserialize<'de> + Default + PartialEq,
{
    let number = N::deserialize(deserializer)?;
    if number == N::default() {
        return Err(D::Error::invalid_value(Unexpected::Unsigned(0), &"a number of at least 1"));
    }
    Ok(number)
}

/// Returns the same for an optional number.
pub(super) fn some_positive<'de, D, N>(deserializer: D) -> Result<Option<N>, D::Error>
where
    D: Deserializer<'de>,
    N: Deserialize<'de> + Default + PartialEq,
{
    struct Present<N>(std::marker::PhantomData<N>);
    impl<'de, N: Deserialize<'de> + Default + PartialEq> serde::de::Visitor<'de> for Present<N> {
        type Value = Option<N>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a number of at least 1")
        }

        fn visit_none<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            positive(deserializer).map(Some)
        }
    }
    deserializer.deserialize_option(Present(std::marker::PhantomData))
}

/// Parses an HTTP error status.
pub(super) fn error_status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u16, D::Error> {
    let status = u16::deserialize(deserializer)?;
    if !(400..=599).contains(&status) {
        let found = Unexpected::Unsigned(u64::from(status));
        return Err(D::Error::invalid_value(found, &"an HTTP error status, 400 to 599"));
    }
    Ok(status)
}
