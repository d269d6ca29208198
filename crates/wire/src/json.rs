//! Untyped JSON values, kept as the text they were received in.
//!
//! [`Json`] is one value, [`Extra`] the unknown fields of an object. Both hold the sender's own text, so that numbers
//! of any size and keys in any order survive, and no tree is built unless it is requested.

use std::fmt;

use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::object::Key;

/// One JSON value of any shape, as text.
///
/// ```
/// use musher_wire::Json;
///
/// let input = Json::new(&serde_json::json!({"command": "ls"}))?;
/// assert_eq!(input.text(), r#"{"command":"ls"}"#);
/// assert_eq!(input.to_value()?["command"], "ls");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Json(Box<str>);

impl Json {
    /// Serializes `value` to JSON text.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// Returns the value `null`.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// Returns the value `{}`.
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// Copies `text`, which the caller has checked to be a JSON value without surrounding space.
    pub(crate) fn known(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the text of the value, without surrounding space.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// Reads the value as a `T`.
    pub fn to<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.text())
    }

    /// Reads the value as a tree of [`Value`]s.
    pub fn to_value(&self) -> serde_json::Result<Value> {
        self.to()
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        // printing cannot fail, because a tree has string keys only
        Self::new(value).unwrap_or_else(|_| Self::null())
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::from(&value)
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.into())
    }
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }
}

/// Two values are equal if their texts are equal, or if they represent the same JSON value.
impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text() || matches!((self.to_value(), other.to_value()), (Ok(a), Ok(b)) if a == b)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // serde_json prints only a `RawValue` verbatim, so the text is parsed once more to get one
        serde_json::from_str::<&RawValue>(&self.0).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

/// The fields of an object that its type does not declare, in the order of the input.
///
/// ```
/// use musher_wire::{AssistantTextDelta, Json};
///
/// let text = r#"{"messageId":"m","blockIndex":0,"textDelta":"Hi","new":1}"#;
/// let delta: AssistantTextDelta = serde_json::from_str(text)?;
/// assert_eq!(delta.extra.get("new").map(Json::text), Some("1"));
/// assert_eq!(serde_json::to_string(&delta)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Extra(Vec<(Box<str>, Json)>);

impl Extra {
    /// Returns the value of `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        // the last of several fields of one name wins, as in other JSON parsers
        self.0.iter().rfind(|(k, _)| **k == *key).map(|(_, value)| value)
    }

    /// Sets `key`, in place if it exists.
    pub fn insert(&mut self, key: &str, value: impl Into<Json>) {
        let value = value.into();
        match self.0.iter_mut().find(|(k, _)| **k == *key) {
            Some(entry) => entry.1 = value,
            None => self.0.push((key.into(), value)),
        }
    }

    /// Appends a field without looking for a duplicate, so that reading stays linear for any input.
    pub(crate) fn push(&mut self, key: &str, value: Json) {
        self.0.push((key.into(), value));
    }

    /// Removes `key` and returns its value.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().rposition(|(k, _)| **k == *key)?;
        Some(self.0.remove(at).1)
    }

    /// Iterates over all keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// The order of the fields is ignored, as in a JSON object.
impl PartialEq for Extra {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Extra {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Extra;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Extra, A::Error> {
                let mut extra = Extra::default();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    extra.push(key.as_str(), map.next_value()?);
                }
                Ok(extra)
            }
        }

        deserializer.deserialize_map(Fields)
    }
}
