//! Deserializes optional fields: a field of an unexpected type is absent instead of an error.

use musher_wire::Json;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

/// Returns the field as a `T`, or `None` if it has another type.
pub(crate) fn field<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(Json::deserialize(deserializer)?.to().ok())
}

/// Returns the field as a `T`, or its default if it has another type.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    field(deserializer).map(Option::unwrap_or_default)
}
