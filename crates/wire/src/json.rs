//! Values the protocol leaves open, kept as the text they came in.
//!
//! [`Json`] is one value, [`Extra`] the fields of an object which we do not know. Both hold the sender's own text, so
//! that numbers of any size and keys in any order survive, and nothing is built that nobody looks at.

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
    /// Prints `value` as JSON text.
    pub fn new<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        serde_json::to_string(value).map(|text| Self(text.into()))
    }

    /// The value `null`.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// The value `{}`.
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// The value that `text` is. Whoever calls this has seen that it is one, and that nothing surrounds it.
    pub(crate) fn known(text: &str) -> Self {
        Self(text.into())
    }

    /// The text of the value, without surrounding space.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// Reads the value as a `T`.
    pub fn to<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_str(self.text())
    }

    /// Reads the value as a tree.
    pub fn to_value(&self) -> serde_json::Result<Value> {
        self.to()
    }
}

impl From<&Value> for Json {
    fn from(value: &Value) -> Self {
        // A tree has string keys only, so printing it cannot fail.
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

/// Two values are equal when their texts are, or when they mean the same.
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
        // only a raw value is printed as it is; to look at the text once more is the price of having read it without one
        serde_json::from_str::<&RawValue>(&self.0).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

/// The fields of an object that its type does not name, in the order they came.
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
    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Json> {
        // of two fields with one name the later counts, as in every JSON parser
        self.0.iter().rfind(|(k, _)| **k == *key).map(|(_, value)| value)
    }

    /// Sets `key`, in place if it is there.
    pub fn insert(&mut self, key: &str, value: impl Into<Json>) {
        let value = value.into();
        match self.0.iter_mut().find(|(k, _)| **k == *key) {
            Some(entry) => entry.1 = value,
            None => self.0.push((key.into(), value)),
        }
    }

    /// Adds a field without looking for an older one: reading stays linear, whatever a peer sends.
    pub(crate) fn push(&mut self, key: &str, value: Json) {
        self.0.push((key.into(), value));
    }

    /// Takes `key` out.
    pub fn remove(&mut self, key: &str) -> Option<Json> {
        let at = self.0.iter().rposition(|(k, _)| **k == *key)?;
        Some(self.0.remove(at).1)
    }

    /// All keys and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (&**key, value))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

/// Order does not matter: these are the members of a JSON object.
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
