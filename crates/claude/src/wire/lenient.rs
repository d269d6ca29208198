//! Reads optional fields so that one of an unexpected type is absent, not an error.

use musher_wire::Json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// The field as a `T`, or `None` if it is something else.
pub(crate) fn field<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(Json::deserialize(deserializer)?.to().ok())
}

/// The field as a `T`, or its default if it is something else.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    field(deserializer).map(Option::unwrap_or_default)
}
